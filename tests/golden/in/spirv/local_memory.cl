// Workgroup storage, a control barrier, a loop.
kernel void reduce(global int *p)
{
    local int part[64];
    size_t i = get_local_id(0);
    part[i] = p[i];
    for (int n = 32; n > 0; n /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < n) part[i] += part[i + n];
    }
    if (i == 0) p[0] = part[0];
}
