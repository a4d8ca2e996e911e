// Atomics of 32 and 64 bits of both generations, in global and local memory. Counters are sums over all work-items.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define N 8

kernel void test(global uint *o, global const uint *a)
{
    const size_t i = get_global_id(0), l = get_local_id(0);
    local int counts[8];
    local ulong wide;
    local atomic_uint modern;
    local atomic_flag flag;
    const uint u = a[i];
    if (l < 8)
        counts[l] = l == 2 ? 0x7fffffff : l == 4 ? -1 : 0;
    if (l == 0) {
        wide = 5ul;
        atomic_init(&modern, 9u);
        atomic_flag_clear(&flag);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int old = atomic_add(&counts[0], (int)(u & 0xffu));
    atomic_sub(&counts[1], (int)(u & 0xfu));
    atomic_min(&counts[2], (int)u);
    atomic_max(&counts[3], (int)u);
    atomic_and(&counts[4], (int)(u | 0xffff0000u));
    atomic_or(&counts[5], (int)(u & 0x10101u));
    atomic_xor(&counts[6], (int)u);
    atomic_inc(&counts[7]);
    atom_add(&wide, (ulong)u << 20);
    atom_max(&wide, 3ul);
    atomic_fetch_add_explicit(&modern, u & 7u, memory_order_relaxed, memory_scope_work_group);
    if (!atomic_flag_test_and_set_explicit(&flag, memory_order_acq_rel, memory_scope_work_group))
        atomic_fetch_xor(&modern, 0x1000u);
    barrier(CLK_LOCAL_MEM_FENCE);
    global uint *r = o + N * (i - l);
    if (l < 8)
        r[l] = (uint)counts[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        r[8] = (uint)(wide >> 10);
        r[9] = atomic_load(&modern);
        uint expected = r[9];
        r[10] = atomic_compare_exchange_strong(&modern, &expected, 77u) + 2 * !atomic_compare_exchange_strong(&modern, &expected, 5u) + 4 * expected;
        r[11] = atomic_exchange(&modern, 3u) + atomic_load_explicit(&modern, memory_order_acquire);
        atomic_store(&modern, 8u);
        r[12] = atomic_fetch_sub(&modern, 1u) * 16u + atomic_fetch_max(&modern, 12u);
        r[13] = atomic_cmpxchg(&counts[7], 16, 100) + counts[7] + (old < 0);
        r[14] = (uint)atomic_dec(&counts[7]) + atomic_xchg((local uint *)&counts[0], 4u) + counts[0];
        r[15] = 0u;
    }
    global uint *shared = o + N * get_global_size(0);
    atomic_add(&shared[0], u);
    atomic_fetch_max_explicit((global atomic_int *)&shared[1], (int)u, memory_order_relaxed, memory_scope_device);
    atom_add((global ulong *)&shared[2], (ulong)u * u);
    atomic_fetch_or((global atomic_ulong *)&shared[4], (ulong)u << 7);
    atomic_xor(&shared[6], u);
    atomic_fetch_and((global atomic_uint *)&shared[7], u | 0xffu);
}
