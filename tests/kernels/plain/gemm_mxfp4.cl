// kernels/gemm_mxfp4.cl in plain OpenCL C: tiles of 64 x 64 in local memory, 4 x 4 sums for each work-item.
//
// run: kernel=gemm_mxfp4 global=(N/4, M/4) local=(16, 16) M=64 N=64 K=128
//      flop=2*M*N*K
//      -DM=64 -DN=64 -DK=128
//      w=u8[N,K/32,17]:blocks(0, 1, 1) x=f16[M,K]:uniform(-1,1) y=f32[M,N]:zeros
// check: y ~ x.astype(f32) @ (
//             array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], dtype=f32)
//             [concatenate([w[:, :, 1:] & 15, w[:, :, 1:] >> 4], 2)] * 2.0 ** (w[:, :, :1].astype(f32) - 127)
//        ).reshape(N, K).T   atol=0.02

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define TILE 64
#define EACH 4

typedef struct {
    uchar scale, pairs[16];
} Block;

constant float numbers[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

float weight(const global Block *blocks, uint row, uint column)
{
    const global Block *block = blocks + (row * K + column) / 32;
    const uchar pair = block->pairs[column % 16];
    const uint bits = column % 32 < 16 ? pair & 15 : pair >> 4;
    const float number = bits & 8 ? -numbers[bits & 7] : numbers[bits & 7];
    return block->scale == 255 ? NAN : ldexp(number, block->scale - 127);
}

kernel void gemm_mxfp4(const global Block *w, const global half *x, global float *y)
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
