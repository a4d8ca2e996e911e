// Sorts pairs of keys and values whose number is a power of two: blocks in local memory, then merges through global memory.

#ifndef LOCAL_SIZE_LIMIT
#define LOCAL_SIZE_LIMIT 128U
#endif

inline void ComparatorPrivate(uint *keyA, uint *valA, uint *keyB, uint *valB, uint arrowDir)
{
    if( (*keyA > *keyB) == arrowDir ){
        uint t;
        t = *keyA; *keyA = *keyB; *keyB = t;
        t = *valA; *valA = *valB; *valB = t;
    }
}

inline void ComparatorLocal(__local uint *keyA, __local uint *valA, __local uint *keyB, __local uint *valB, uint arrowDir)
{
    if( (*keyA > *keyB) == arrowDir ){
        uint t;
        t = *keyA; *keyA = *keyB; *keyB = t;
        t = *valA; *valA = *valB; *valB = t;
    }
}

// Each work-group of LOCAL_SIZE_LIMIT / 2 sorts LOCAL_SIZE_LIMIT pairs, odd groups downwards.
__kernel __attribute__((reqd_work_group_size(LOCAL_SIZE_LIMIT / 2, 1, 1)))
void bitonicSortLocal(__global uint *d_Key, __global uint *d_Val)
{
    __local uint l_key[LOCAL_SIZE_LIMIT], l_val[LOCAL_SIZE_LIMIT];

    d_Key += get_group_id(0) * LOCAL_SIZE_LIMIT + get_local_id(0);
    d_Val += get_group_id(0) * LOCAL_SIZE_LIMIT + get_local_id(0);
    l_key[get_local_id(0) +                      0] = d_Key[                     0];
    l_val[get_local_id(0) +                      0] = d_Val[                     0];
    l_key[get_local_id(0) + (LOCAL_SIZE_LIMIT / 2)] = d_Key[(LOCAL_SIZE_LIMIT / 2)];
    l_val[get_local_id(0) + (LOCAL_SIZE_LIMIT / 2)] = d_Val[(LOCAL_SIZE_LIMIT / 2)];

    const uint comparatorI = get_global_id(0) & ((LOCAL_SIZE_LIMIT / 2) - 1);
    for(uint size = 2; size < LOCAL_SIZE_LIMIT; size <<= 1){
        uint dir = (comparatorI & (size / 2)) != 0;
        for(uint stride = size / 2; stride > 0; stride >>= 1){
            barrier(CLK_LOCAL_MEM_FENCE);
            uint pos = 2 * get_local_id(0) - (get_local_id(0) & (stride - 1));
            ComparatorLocal(&l_key[pos +      0], &l_val[pos +      0],
                            &l_key[pos + stride], &l_val[pos + stride], dir);
        }
    }
    {
        uint dir = (get_group_id(0) & 1);
        for(uint stride = LOCAL_SIZE_LIMIT / 2; stride > 0; stride >>= 1){
            barrier(CLK_LOCAL_MEM_FENCE);
            uint pos = 2 * get_local_id(0) - (get_local_id(0) & (stride - 1));
            ComparatorLocal(l_key + pos, l_val + pos, l_key + pos + stride, l_val + pos + stride, !dir);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    d_Key[                     0] = l_key[get_local_id(0) +                      0];
    d_Val[                     0] = l_val[get_local_id(0) +                      0];
    d_Key[(LOCAL_SIZE_LIMIT / 2)] = l_key[get_local_id(0) + (LOCAL_SIZE_LIMIT / 2)];
    d_Val[(LOCAL_SIZE_LIMIT / 2)] = l_val[get_local_id(0) + (LOCAL_SIZE_LIMIT / 2)];
}

// One step of a merge of `size` pairs, `stride` apart.
__kernel void bitonicMergeGlobal(__global uint *d_Key, __global uint *d_Val, uint size, uint stride)
{
    const uint global_comparatorI = get_global_id(0);
    const uint dir = !(global_comparatorI & (size / 2));
    const uint pos = 2 * global_comparatorI - (global_comparatorI & (stride - 1));

    uint keyA = d_Key[pos +      0], valA = d_Val[pos +      0];
    uint keyB = d_Key[pos + stride], valB = d_Val[pos + stride];
    ComparatorPrivate(&keyA, &valA, &keyB, &valB, dir);
    d_Key[pos +      0] = keyA;
    d_Val[pos +      0] = valA;
    d_Key[pos + stride] = keyB;
    d_Val[pos + stride] = valB;
}
