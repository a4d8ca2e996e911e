// Program-scope constants, local memory with static storage, private arrays, a barrier.
constant float weights[3] = { 0.25f, 0.5f };
kernel void k(global float *p)
{
    local float shared[8];
    float own[2] = { 1 };
    size_t i = get_local_id(0);
    shared[i] = p[i] * weights[i & 3] + own[i & 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    p[i] = shared[7 - i];
}
