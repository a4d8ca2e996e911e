// Sums of each work-group's part, by a tree in local memory.
//
// run: kernel=reduce_sum global=(N) local=(G) N=8192 G=128 -DG=128
//      x=i32[N]:integers(-100,100) sums=i32[N/G]:zeros
// check: sums == x.reshape(N/G, G).sum(1)

kernel void reduce_sum(const global int *x, global int *sums)
{
    local int part[G];
    const uint l = get_local_id(0);

    part[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = G / 2; step > 0; step /= 2) {
        if (l < step)
            part[l] += part[l + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        sums[get_group_id(0)] = part[0];
}
