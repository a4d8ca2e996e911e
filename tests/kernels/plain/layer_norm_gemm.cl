// kernels/layer_norm_gemm.cl in plain OpenCL C: tiles of 64 x 64 in local memory, 4 x 4 sums for each work-item.
//
// run: kernel=layer_norm_gemm global=(N/4, M/4) local=(16, 16) M=64 N=64 K=96
//      flop=2*M*N*K
//      -DM=64 -DN=64 -DK=96
//      x=f16[M,K]:uniform(-1,3) w=f16[K,N]:uniform(-1,1) y=f32[M,N]:zeros
// check: y ~ ((x.astype(f32) - x.astype(f32).mean(1, keepdims=True))
//             / sqrt(((x.astype(f32) - x.astype(f32).mean(1, keepdims=True)) ** 2).mean(1, keepdims=True) + 1e-5))
//            @ w.astype(f32)   atol=0.03

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define TILE 64
#define EACH 4

kernel void layer_norm_gemm(const global half *x, const global half *w, global float *y)
{
    local float left[32][TILE], right[32][TILE];
    const uint along = get_local_id(0), down = get_local_id(1), item = down * 16 + along;
    const uint row = get_group_id(1) * TILE, column = get_group_id(0) * TILE;
    float sum[EACH][EACH] = {{0}};
    local float mean[TILE], scale[TILE];

    if (item < TILE) {
        const global half *line = x + (row + item) * K;
        float total = 0, squares = 0;
        for (uint k = 0; k < K; k++)
            total += line[k];
        mean[item] = total / K;
        for (uint k = 0; k < K; k++) {
            const float apart = line[k] - mean[item];
            squares = fma(apart, apart, squares);
        }
        scale[item] = rsqrt(squares / K + 1e-5f);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < K; k += 32) {
        for (uint i = item; i < 32 * TILE; i += 256) {
            const uint part = i % 32, line = i / 32;
            left[part][line] = (x[(row + line) * K + k + part] - mean[line]) * scale[line];
            right[i / TILE][i % TILE] = w[(k + i / TILE) * N + column + i % TILE];
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
