// Gravity between all pairs, tiles of bodies in local memory; w is the mass.

#ifndef TILE
# define TILE 64
#endif
#ifdef FAST
# define RSQRT(x) native_rsqrt(x)
#else
# define RSQRT(x) rsqrt(x)
#endif

float4 body_body_interaction(float4 bi, float4 bj, float4 ai, float eps2)
{
    float4 r;
    r.xyz = bj.xyz - bi.xyz;
    r.w = 0.0f;
    float dist_sqr = dot(r.xyz, r.xyz) + eps2;
    float inv = RSQRT(dist_sqr), s = bj.w * inv * inv * inv;
    ai.xyz += r.xyz * s;
    ai.w -= bj.w * inv;
    return ai;
}

__kernel void nbody_step(__global const float4* restrict pos, __global float4* new_pos, __global float4* vel,
                         __global float* potential, const int n, float dt, float eps2, __local float4* shared_pos)
{
    const int gid = get_global_id(0), lid = get_local_id(0);
    float4 me = gid < n ? pos[gid] : (float4)(0.0f), acc = 0.f;

    for (int tile = 0; tile * TILE < n; ++tile) {
        int j = mad24(tile, TILE, lid);
        shared_pos[lid] = j < n ? pos[j] : (float4)(0, 0, 0, 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll 8
        for (int i = 0; i < TILE; i++)
            acc = body_body_interaction(me, shared_pos[i], acc, eps2);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (gid >= n) return;
    float4 v = vel[gid];
    v.xyz += acc.xyz * dt;
    me.xyz += v.xyz * dt;
    new_pos[gid] = me;
    vel[gid] = v;
    // Its own share is in the sum: no test in the inner loop.
    potential[gid] = 0.5f * me.w * (acc.w + me.w * rsqrt(eps2));
}
