// Functions of subgroups of 8, and shuffles.
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle_relative : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_non_uniform_vote : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_non_uniform_arithmetic : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_clustered_reduce : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_extended_types : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_rotate : enable
#define N 26

__attribute__((intel_reqd_sub_group_size(8)))
kernel void test(global uint *o, global const uint *a)
{
    const size_t i = get_global_id(0);
    global uint *r = o + N * i;
    const uint u = a[i], lane = get_sub_group_local_id();
    const int s = (int)u;
    const float f = (float)(s >> 20);
    r[0] = get_sub_group_size() + 100u * get_num_sub_groups() + 10000u * get_max_sub_group_size();
    r[1] = get_sub_group_id() + 100u * lane;
    r[2] = sub_group_reduce_add(u);
    r[3] = (uint)sub_group_reduce_min(s) ^ (uint)sub_group_reduce_max(s);
    r[4] = as_uint(sub_group_reduce_add(f));
    r[5] = sub_group_scan_inclusive_add(u);
    r[6] = (uint)sub_group_scan_exclusive_max(s);
    r[7] = as_uint(sub_group_scan_exclusive_add(f));
    r[8] = (uint)(sub_group_reduce_add((long)s * 99l) >> 5);
    r[9] = sub_group_broadcast(u, 3);
    r[10] = sub_group_any(s > 1000000000) | sub_group_all(s > -2000000000) << 1;
    r[11] = sub_group_shuffle(u, (lane * 3u + 1u) & 7u);
    r[12] = sub_group_shuffle_xor(u, 5u);
    const uint above = sub_group_shuffle_up(u, 2u), below = sub_group_shuffle_down(u, 1u);
    r[13] = (lane >= 2 ? above : 0u) + (lane < 7 ? below : 1u);
    r[14] = as_uint(sub_group_shuffle(f, 7u - lane));
    r[15] = sub_group_ballot(s > 0).x;
    r[16] = sub_group_ballot_bit_count(sub_group_ballot(s & 1)) + sub_group_ballot_find_lsb((uint4)(u | 1u << 7, 0, 0, 0));
    r[17] = sub_group_ballot_inclusive_scan((uint4)(u, 0, 0, 0)) + 16u * sub_group_ballot_exclusive_scan((uint4)(u, 0, 0, 0));
    r[18] = sub_group_elect() | sub_group_non_uniform_all(s > 0) << 1 | sub_group_non_uniform_any(s > 0) << 2;
    r[19] = sub_group_clustered_reduce_add(u, 4u);
    r[20] = (uint)sub_group_clustered_reduce_max(s, 2u);
    r[21] = sub_group_rotate(u, 3);
    r[22] = sub_group_non_uniform_reduce_add(lane < 5 ? u : 0u);
    r[23] = (uint)sub_group_scan_inclusive_add((short)s) + (uint)sub_group_reduce_max((uchar)u);
    r[24] = sub_group_broadcast_first(u) + sub_group_non_uniform_broadcast(u, 2u);
    uint odd = 0u;
    if (lane & 1)
        odd = sub_group_non_uniform_reduce_add(u) + sub_group_non_uniform_scan_exclusive_max(u & 255u);
    r[25] = odd + sub_group_non_uniform_all_equal(u & 0u) + (uint)(int)sub_group_reduce_add((double)(s >> 8));
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
}
