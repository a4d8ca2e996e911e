// kernels/gemm_q6_k.cl in plain OpenCL C: tiles of 64 x 64 in local memory, 4 x 4 sums for each work-item.
//
// run: kernel=gemm_q6_k global=(N/4, M/4) local=(16, 16) M=64 N=64 K=256
//      flop=2*M*N*K
//      -DM=64 -DN=64 -DK=256
//      w=u8[N,K/256,210]:blocks(208, 1, 2) x=f16[M,K]:uniform(-1,1) y=f32[M,N]:zeros
// check: y ~ x.astype(f32) @ (
//             ((w[:, :, :128].reshape(N, K/128, 1, 64) >> array([[0], [4]]) & 15).reshape(N, K/16, 16)
//              + (w[:, :, 128:192].reshape(N, K/128, 1, 32) >> array([[0], [2], [4], [6]]) & 3).reshape(N, K/16, 16)
//                * 16.0 - 32)
//             * (w[:, :, 192:208].copy().view(i8) * w[:, :, 208:].copy().view(f16).astype(f32)).reshape(N, K/16, 1)
//        ).reshape(N, K).T   atol=0.5

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define TILE 64
#define EACH 4

typedef struct {
    uchar low[128], high[64];
    char scales[16];
    half factor;
} Block;

float weight(const global Block *blocks, uint row, uint column)
{
    const global Block *block = blocks + (row * K + column) / 256;
    const uint place = column % 256, run = place % 128 / 32;
    const uint low = block->low[place / 128 * 64 + place % 64] >> run / 2 * 4 & 15;
    const uint high = block->high[place / 128 * 32 + place % 32] >> run * 2 & 3;
    return (float)block->factor * block->scales[place / 16] * ((int)(low | high << 4) - 32);
}

kernel void gemm_q6_k(const global Block *w, const global half *x, global float *y)
{
    local float left[32][TILE], right[32][TILE];
    const uint along = get_local_id(0), down = get_local_id(1), item = down * 16 + along;
    const uint row = get_group_id(1) * TILE, column = get_group_id(0) * TILE;
    float sum[EACH][EACH] = {{0}};
    for (uint k = 0; k < K; k += 32) {
        for (uint i = item; i < 32 * TILE; i += 256) {
            const uint part = i % 32, line = i / 32;
            left[part][line] = x[(row + line) * K + k + part];
            right[part][line] = weight(w, column + line, k + part);
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
            y[(row + down + 16 * i) * N + column + along + 16 * j] = sum[i][j];
}
