// kernels/gemm_fp8.cl in plain OpenCL C, which has no such types: they are decoded by way of half.
//
// run: kernel=gemm_fp8 global=(N/4, M/4) local=(16, 16) M=64 N=64 K=96
//      flop=2*M*N*K
//      -DM=64 -DN=64 -DK=96 scale_a=f32:0.25 scale_b=f32:2
//      a=u8[M,K]:integers(0,112) b=u8[K,N]:integers(128,200) c=f32[M,N]:zeros
// check: c ~ ((a.astype(u16) << 7).view(f16).astype(f32) * 256) @ (b.astype(u16) << 8).view(f16).astype(f32) * 0.5
//        rtol=1e-4

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define TILE 64
#define EACH 4

float from_e4m3(uchar x)
{
    const ushort bits = (x & 127) << 7 | (x & 128) << 8;
    return (x & 127) == 127 ? NAN : (float)as_half(bits) * 256;
}

float from_e5m2(uchar x)
{
    return as_half((ushort)(x << 8));
}

kernel void gemm_fp8(const float scale_a, const float scale_b, const global uchar *a, const global uchar *b,
                     global float *c)
{
    local float left[32][TILE], right[32][TILE];
    const uint along = get_local_id(0), down = get_local_id(1), item = down * 16 + along;
    const uint row = get_group_id(1) * TILE, column = get_group_id(0) * TILE;
    float sum[EACH][EACH] = {{0}};
    for (uint k = 0; k < K; k += 32) {
        for (uint i = item; i < 32 * TILE; i += 256) {
            const uint part = i % 32, line = i / 32;
            left[part][line] = from_e4m3(a[(row + line) * K + k + part]);
            right[i / TILE][i % TILE] = from_e5m2(b[(k + i / TILE) * N + column + i % TILE]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint part = 0; part < 32; part++) {
            float l[EACH], r[EACH];
            for (uint i = 0; i < EACH; i++) {
                l[i] = left[part][down + 16 * i];
                r[i] = right[part][along + 16 * i];
            }
            for (uint i = 0; i < EACH; i++)
                for (uint j = 0; j < EACH; j++)
                    sum[i][j] = fma(l[i], r[j], sum[i][j]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = 0; i < EACH; i++)
        for (uint j = 0; j < EACH; j++)
            c[(row + down + 16 * i) * N + column + along + 16 * j] = sum[i][j] * (scale_a * scale_b);
}
