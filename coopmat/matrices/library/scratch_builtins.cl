// The subgroup builtins for subgroups of CM_SG consecutive work-items, on values of CM_T; see scratch.cl.
//
//   CM_MORE                     parameters after the values: a lane or a distance `n`, the size of a `cluster`
//   CM_SIZE                     lanes of this subgroup: the last subgroup of a work-group may have fewer than CM_SG
//
// If a builtin reads the value of a lane that does not exist, the result is the calling lane's value.

#ifdef CM_OP_SIZE
CM_FUNCTION uint CM_NAME(void)
{
    return CM_SIZE;
}
#endif // CM_OP_SIZE

#ifdef CM_OP_MAX_SIZE
CM_FUNCTION uint CM_NAME(void)
{
    return CM_SG;
}
#endif // CM_OP_MAX_SIZE

#ifdef CM_OP_LOCAL_ID
CM_FUNCTION uint CM_NAME(void)
{
    return CM_LANE;
}
#endif // CM_OP_LOCAL_ID

#ifdef CM_OP_ID
CM_FUNCTION uint CM_NAME(void)
{
    return CM_LINEAR_ID / CM_SG;
}
#endif // CM_OP_ID

#ifdef CM_OP_COUNT
CM_FUNCTION uint CM_NAME(void)
{
    return (CM_WORK_ITEMS + CM_SG - 1) / CM_SG;
}
#endif // CM_OP_COUNT

#ifdef CM_OP_ENQUEUED_COUNT
CM_FUNCTION uint CM_NAME(void)
{
#if __OPENCL_C_VERSION__ >= 200
    const size_t items = get_enqueued_local_size(0) * get_enqueued_local_size(1) * get_enqueued_local_size(2);
#else
    const size_t items = CM_WORK_ITEMS;
#endif
    return (uint)((items + CM_SG - 1) / CM_SG);
}
#endif // CM_OP_ENQUEUED_COUNT

#ifdef CM_OP_BARRIER
CM_FUNCTION void CM_NAME(uint flags)
{
    barrier(flags);
}
#endif // CM_OP_BARRIER

#ifdef CM_OP_PICK // the value of lane CM_SOURCE: broadcasts, shuffles, rotations
CM_FUNCTION CM_T CM_NAME(CM_T x CM_MORE, __local ulong *scratch)
{
    __local CM_T *share = CM_SHARE(CM_T, 1);
    const uint lane = CM_LANE, source = CM_SOURCE;
    share[lane] = x;
    CM_EXCHANGE;
    const CM_T y = share[source < CM_SIZE ? source : lane];
    CM_EXCHANGE;
    return y;
}
#endif // CM_OP_PICK

#ifdef CM_OP_NEIGHBOUR // a value of two adjacent subgroups
CM_FUNCTION CM_T CM_NAME(CM_T low, CM_T high, uint n, __local ulong *scratch)
{
    __local CM_T *share = CM_SHARE(CM_T, 2);
    const uint lane = CM_LANE, source = CM_SOURCE;
    share[lane] = low;
    share[CM_SG + lane] = high;
    CM_EXCHANGE;
    const CM_T y = share[source < 2 * CM_SG ? source : lane];
    CM_EXCHANGE;
    return y;
}
#endif // CM_OP_NEIGHBOUR

#ifdef CM_OP_FOLD // combine the values of the lanes from CM_FIRST to before CM_END: reductions, scans, any, all
CM_FUNCTION CM_T CM_NAME(CM_T x CM_MORE, __local ulong *scratch)
{
    __local CM_T *share = CM_SHARE(CM_T, 1);
    const uint lane = CM_LANE, size = CM_SIZE;
    share[lane] = CM_VALUE(x);
    CM_EXCHANGE;
    CM_T total = CM_IDENTITY;
    CM_ROLL for (uint i = CM_FIRST; i < CM_END; ++i)
        total = CM_COMBINE(total, share[i]);
    CM_EXCHANGE;
    return total;
}
#endif // CM_OP_FOLD

#ifdef CM_OP_ALL_EQUAL
CM_FUNCTION int CM_NAME(CM_T x, __local ulong *scratch)
{
    __local CM_T *share = CM_SHARE(CM_T, 1);
    const uint lane = CM_LANE, size = CM_SIZE;
    share[lane] = x;
    CM_EXCHANGE;
    int equal = 1;
    CM_ROLL for (uint i = 0; i < size; ++i)
        equal &= share[i] == share[0];
    CM_EXCHANGE;
    return equal;
}
#endif // CM_OP_ALL_EQUAL

#ifdef CM_OP_ELECT
CM_FUNCTION int CM_NAME(void)
{
    return CM_LANE == 0;
}
#endif // CM_OP_ELECT

#ifdef CM_OP_BALLOT
CM_FUNCTION uint4 CM_NAME(int x, __local ulong *scratch)
{
    __local int *share = CM_SHARE(int, 1);
    const uint lane = CM_LANE, size = CM_SIZE;
    share[lane] = x != 0;
    CM_EXCHANGE;
    uint4 mask = (uint4)(0, 0, 0, 0);
    CM_ROLL for (uint i = 0; i < size; ++i)
        if (share[i])
            mask |= CM_BIT(i);
    CM_EXCHANGE;
    return mask;
}
#endif // CM_OP_BALLOT

#ifdef CM_OP_MASK // the mask of the lanes i for which CM_TAKES is true
CM_FUNCTION uint4 CM_NAME(void)
{
    const uint lane = CM_LANE;
    uint4 mask = (uint4)(0, 0, 0, 0);
    CM_ROLL for (uint i = 0; i < CM_SG; ++i)
        if (CM_TAKES)
            mask |= CM_BIT(i);
    return mask;
}
#endif // CM_OP_MASK

#ifdef CM_OP_LOOK // the bit of lane CM_SOURCE in a mask
CM_FUNCTION int CM_NAME(uint4 mask CM_MORE)
{
    const uint lane = CM_LANE;
    return any((mask & CM_BIT(CM_SOURCE)) != 0);
}
#endif // CM_OP_LOOK

// count the bits that are set among the lanes i for which CM_TAKES is true, or find the first or the last
#ifdef CM_OP_COUNT_BITS
CM_FUNCTION uint CM_NAME(uint4 mask)
{
    const uint lane = CM_LANE;
    uint count = 0;
    CM_ROLL for (uint i = 0; i < CM_SG; ++i)
        if (CM_TAKES && any((mask & CM_BIT(i)) != 0))
            CM_FOUND;
    return count;
}
#endif // CM_OP_COUNT_BITS

#ifdef CM_OP_BLOCK_READ
CM_FUNCTION CM_V CM_NAME(__global const CM_T *p)
{
    const uint lane = CM_LANE;
    return (CM_V)(CM_PARTS);
}
#endif // CM_OP_BLOCK_READ

#ifdef CM_OP_BLOCK_WRITE
CM_FUNCTION void CM_NAME(__global CM_T *p, CM_V x)
{
    const uint lane = CM_LANE;
    CM_PARTS;
}
#endif // CM_OP_BLOCK_WRITE
