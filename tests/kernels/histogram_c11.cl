// The same histogram with the atomics of OpenCL C 2.0 and 3.0.
#define BINS 256

kernel void histogram256(global const uchar *data, uint count, global atomic_uint *histogram)
{
    local atomic_uint counts[BINS];
    for (uint b = get_local_id(0); b < BINS; b += get_local_size(0))
        atomic_store_explicit(&counts[b], 0u, memory_order_relaxed, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        atomic_fetch_add_explicit(&counts[data[i]], 1u, memory_order_relaxed, memory_scope_work_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = get_local_id(0); b < BINS; b += get_local_size(0)) {
        uint mine = atomic_load_explicit(&counts[b], memory_order_relaxed, memory_scope_work_group);
        atomic_fetch_add_explicit(histogram + b, mine, memory_order_relaxed, memory_scope_device);
    }
}
