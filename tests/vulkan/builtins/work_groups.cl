// Functions of work-groups.
#define N 18

kernel void test(global uint *o, global const uint *a)
{
    const size_t i = get_global_id(0);
    global uint *r = o + N * i;
    const uint u = a[i];
    const int s = (int)u;
    const long l = (long)s * 12345l;
    const float f = (float)(s >> 20);
    const double d = (double)(s >> 8);
    r[0] = work_group_reduce_add(u);
    r[1] = (uint)work_group_reduce_min(s);
    r[2] = (uint)work_group_reduce_max(s);
    r[3] = (uint)(work_group_reduce_add(l) >> 13);
    r[4] = as_uint(work_group_reduce_add(f));
    r[5] = (uint)(int)work_group_reduce_max(d);
    r[6] = work_group_scan_inclusive_add(u);
    r[7] = work_group_scan_exclusive_add(u);
    r[8] = (uint)work_group_scan_inclusive_min(s);
    r[9] = (uint)work_group_scan_exclusive_max(s);
    r[10] = as_uint(work_group_scan_exclusive_add(f));
    r[11] = as_uint(work_group_scan_inclusive_max(f));
    r[12] = (uint)(work_group_scan_exclusive_min(l) >> 3);
    r[13] = work_group_broadcast(u, 5);
    r[14] = as_uint(work_group_broadcast(f, a[i / 16] & 15));
    r[15] = work_group_any(s > 1000000000) | work_group_all(s > -2000000000) << 1;
    r[16] = work_group_reduce_min(u) ^ work_group_reduce_max(u);
    r[17] = as_uint(work_group_scan_exclusive_min(f)) + (uint)work_group_scan_inclusive_add((ulong)u);
}
