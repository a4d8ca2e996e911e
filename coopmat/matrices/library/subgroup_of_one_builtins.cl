// The subgroup builtins where the subgroup is a single work-item, for values of CM_T.

#ifdef CM_OP_SUB_GROUP_SIZE // the size, the greatest size
CM_FUNCTION uint CM_NAME(void)
{
    return 1;
}
#endif // CM_OP_SUB_GROUP_SIZE

#ifdef CM_OP_SUB_GROUP_LOCAL_ID
CM_FUNCTION uint CM_NAME(void)
{
    return 0;
}
#endif // CM_OP_SUB_GROUP_LOCAL_ID

#ifdef CM_OP_SUB_GROUP_ID // the linear local id
CM_FUNCTION uint CM_NAME(void)
{
    return (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0));
}
#endif // CM_OP_SUB_GROUP_ID

#ifdef CM_OP_NUM_SUB_GROUPS
CM_FUNCTION uint CM_NAME(void)
{
    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}
#endif // CM_OP_NUM_SUB_GROUPS

#ifdef CM_OP_ENQUEUED_NUM_SUB_GROUPS
CM_FUNCTION uint CM_NAME(void)
{
#if __OPENCL_C_VERSION__ >= 200
    return (uint)(get_enqueued_local_size(0) * get_enqueued_local_size(1) * get_enqueued_local_size(2));
#else
    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
#endif
}
#endif // CM_OP_ENQUEUED_NUM_SUB_GROUPS

#ifdef CM_OP_SUB_GROUP_BARRIER // there is no other work-item to wait for, or to order memory accesses against
CM_FUNCTION void CM_NAME(uint flags)
{
    mem_fence(flags);
}
#endif // CM_OP_SUB_GROUP_BARRIER

#ifdef CM_OP_SUB_GROUP_VALUE // any, all, reductions and inclusive scans give the only value there is
CM_FUNCTION CM_T CM_NAME(CM_T x)
{
    return x;
}
#endif // CM_OP_SUB_GROUP_VALUE

#ifdef CM_OP_SUB_GROUP_VALUE_OF // broadcasts and shuffles from a lane: it can only be this one
CM_FUNCTION CM_T CM_NAME(CM_T x, uint lane)
{
    return x;
}
#endif // CM_OP_SUB_GROUP_VALUE_OF

#ifdef CM_OP_SUB_GROUP_IDENTITY // exclusive scans
CM_FUNCTION CM_T CM_NAME(CM_T x)
{
    return CM_IDENTITY;
}
#endif // CM_OP_SUB_GROUP_IDENTITY
