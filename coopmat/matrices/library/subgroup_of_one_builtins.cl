// The subgroup builtins for subgroups of a single work-item, on values of CM_T.

#ifdef CM_OP_SUB_GROUP_SIZE // the size and the maximum size
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

#ifdef CM_OP_SUB_GROUP_COUNT
CM_FUNCTION uint CM_NAME(void)
{
    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}
#endif // CM_OP_SUB_GROUP_COUNT

#ifdef CM_OP_SUB_GROUP_ENQUEUED_COUNT
CM_FUNCTION uint CM_NAME(void)
{
#if __OPENCL_C_VERSION__ >= 200
    return (uint)(get_enqueued_local_size(0) * get_enqueued_local_size(1) * get_enqueued_local_size(2));
#else
    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
#endif
}
#endif // CM_OP_SUB_GROUP_ENQUEUED_COUNT

#ifdef CM_OP_SUB_GROUP_BARRIER // no other work-item needs to be waited for
CM_FUNCTION void CM_NAME(uint flags)
{
    mem_fence(flags);
}
#endif // CM_OP_SUB_GROUP_BARRIER

// broadcasts, shuffles, rotations, reductions, inclusive scans: the value of the only work-item
#ifdef CM_OP_SUB_GROUP_VALUE
CM_FUNCTION CM_T CM_NAME(CM_T x)
{
    return x;
}
#endif // CM_OP_SUB_GROUP_VALUE

#ifdef CM_OP_SUB_GROUP_IDENTITY // exclusive scans
CM_FUNCTION CM_T CM_NAME(CM_T x)
{
    return CM_IDENTITY;
}
#endif // CM_OP_SUB_GROUP_IDENTITY

#ifdef CM_OP_SUB_GROUP_NEIGHBOUR_BELOW // shuffles upwards: `other` is the value of the subgroup below
CM_FUNCTION CM_T CM_NAME(CM_T other, CM_T x, uint delta)
{
    return delta == 0 ? x : other;
}
#endif // CM_OP_SUB_GROUP_NEIGHBOUR_BELOW

#ifdef CM_OP_SUB_GROUP_NEIGHBOUR_ABOVE
CM_FUNCTION CM_T CM_NAME(CM_T x, CM_T other, uint delta)
{
    return delta == 0 ? x : other;
}
#endif // CM_OP_SUB_GROUP_NEIGHBOUR_ABOVE

#ifdef CM_OP_SUB_GROUP_ALL_EQUAL
CM_FUNCTION int CM_NAME(CM_T x)
{
    return 1;
}
#endif // CM_OP_SUB_GROUP_ALL_EQUAL

#ifdef CM_OP_SUB_GROUP_ELECT
CM_FUNCTION int CM_NAME(void)
{
    return 1;
}
#endif // CM_OP_SUB_GROUP_ELECT

#ifdef CM_OP_SUB_GROUP_TRUTH // any, all, logical reductions and inclusive scans
CM_FUNCTION int CM_NAME(int predicate)
{
    return predicate != 0;
}
#endif // CM_OP_SUB_GROUP_TRUTH

#ifdef CM_OP_SUB_GROUP_TRUE // the initial value of an exclusive scan with `and`
CM_FUNCTION int CM_NAME(int predicate)
{
    return 1;
}
#endif // CM_OP_SUB_GROUP_TRUE

#ifdef CM_OP_SUB_GROUP_FALSE
CM_FUNCTION int CM_NAME(int predicate)
{
    return 0;
}
#endif // CM_OP_SUB_GROUP_FALSE

#ifdef CM_OP_SUB_GROUP_BALLOT
CM_FUNCTION uint4 CM_NAME(int predicate)
{
    return (uint4)(predicate != 0, 0, 0, 0);
}
#endif // CM_OP_SUB_GROUP_BALLOT

#ifdef CM_OP_SUB_GROUP_MASK_OF_IT // lanes equal, not below, or not above this lane
CM_FUNCTION uint4 CM_NAME(void)
{
    return (uint4)(1, 0, 0, 0);
}
#endif // CM_OP_SUB_GROUP_MASK_OF_IT

#ifdef CM_OP_SUB_GROUP_MASK_OF_OTHERS
CM_FUNCTION uint4 CM_NAME(void)
{
    return (uint4)(0, 0, 0, 0);
}
#endif // CM_OP_SUB_GROUP_MASK_OF_OTHERS

#ifdef CM_OP_SUB_GROUP_INVERSE_BALLOT // the bits of other lanes are ignored
CM_FUNCTION int CM_NAME(uint4 mask)
{
    return (int)(mask.x & 1);
}
#endif // CM_OP_SUB_GROUP_INVERSE_BALLOT

#ifdef CM_OP_SUB_GROUP_BIT_COUNT
CM_FUNCTION uint CM_NAME(uint4 mask)
{
    return mask.x & 1;
}
#endif // CM_OP_SUB_GROUP_BIT_COUNT

#ifdef CM_OP_SUB_GROUP_BITS_BELOW // also the index of the first and of the last set bit
CM_FUNCTION uint CM_NAME(uint4 mask)
{
    return 0;
}
#endif // CM_OP_SUB_GROUP_BITS_BELOW

#ifdef CM_OP_SUB_GROUP_BLOCK_READ
CM_FUNCTION CM_V CM_NAME(__global const CM_T *p)
{
    return CM_VLOAD(p);
}
#endif // CM_OP_SUB_GROUP_BLOCK_READ

#ifdef CM_OP_SUB_GROUP_BLOCK_WRITE
CM_FUNCTION void CM_NAME(__global CM_T *p, CM_V x)
{
    CM_VSTORE(x, p);
}
#endif // CM_OP_SUB_GROUP_BLOCK_WRITE
