// Prefix sums: Blelloch's tree in local memory without bank conflicts, sums of groups, and the addition afterwards;
// stable compaction on top of it.

#define LOG_BANKS 4
#define AT(i) ((i) + ((i) >> LOG_BANKS))
#ifndef T
#define T uint
#endif
#define GROUP 64
#define BLOCK (GROUP * 2)

T scan_group(__local T *tmp, int lid)
{
    int offset = 1;
    for (int d = BLOCK >> 1; d > 0; d >>= 1, offset <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < d) {
            int ai = offset * (2 * lid + 1) - 1, bi = offset * (2 * lid + 2) - 1;
            tmp[AT(bi)] += tmp[AT(ai)];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    T total = tmp[AT(BLOCK - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) tmp[AT(BLOCK - 1)] = 0;
    for (int d = 1; d < BLOCK; d *= 2) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid >= d) continue;
        int ai = offset * (2 * lid + 1) - 1, bi = offset * (2 * lid + 2) - 1;
        T t = tmp[AT(ai)];
        tmp[AT(ai)] = tmp[AT(bi)];
        tmp[AT(bi)] += t;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return total;
}

kernel void scan_blocks(global const T *in, global T *out, global T *sums, uint n)
{
    local T tmp[AT(BLOCK - 1) + 1];
    const uint lid = get_local_id(0), base = get_group_id(0) * BLOCK;
    const uint a = base + lid, b = a + GROUP;
    tmp[AT(lid)] = a < n ? in[a] : 0;
    tmp[AT(lid + GROUP)] = b < n ? in[b] : 0;
    const T total = scan_group(tmp, lid);
    if (a < n) out[a] = tmp[AT(lid)];
    if (b < n) out[b] = tmp[AT(lid + GROUP)];
    if (lid == 0 && sums) sums[get_group_id(0)] = total;
}

kernel void add_sums(global T *out, global const T *sums, uint n)
{
    const uint i = get_global_id(0);
    if (i < n) out[i] += sums[i / BLOCK];
}

kernel void scatter(global const T *in, global const T *positions, global T *out, uint n)
{
    const uint i = get_global_id(0);
    if (i >= n) goto done;
    if (in[i]) out[positions[i]] = i;
done:
    return;
}
