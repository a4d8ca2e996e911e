// Y = X W^T for weights in llama.cpp's blocks Q4_K: 256 weights of a row have 4 bits each. A run of 32 has a scale and a
// minimum of 6 bits, and the block a factor for each of both. Pairs of runs have their bits in the same 32 bytes. The
// weights are decoded as they are needed. W is N x K, X is M x K; N is a multiple of ROWS, M of COLUMNS, K of DEPTH.
//
// run: kernel=gemm_q4_k global=(N/ROWS*sg, M/COLUMNS) local=(sg, 1) M=32 N=64 K=256 ROWS=16 COLUMNS=16 DEPTH=32
//      flop=2*M*N*K
//      -DM=32 -DN=64 -DK=256 -DT=half -DROWS=16 -DCOLUMNS=16 -DDEPTH=32
//      w=u8[N,K/256,144]:blocks(0, 2, 2) x=f16[M,K]:uniform(-1,1) y=f32[M,N]:zeros
// check: y ~ x.astype(f32) @ (
//             (w[:, :, 16:].reshape(N, K/256, 4, 1, 32) >> array([[0], [4]]) & 15).reshape(N, K/32, 32)
//             * (w[:, :, :2].copy().view(f16).astype(f32)
//                * concatenate([w[:, :, 4:8] & 63, w[:, :, 12:16] & 15 | w[:, :, 4:8] >> 6 << 4], 2)).reshape(N, K/32, 1)
//             - (w[:, :, 2:4].copy().view(f16).astype(f32)
//                * concatenate([w[:, :, 8:12] & 63, w[:, :, 12:16] >> 4 | w[:, :, 8:12] >> 6 << 4], 2)).reshape(N, K/32, 1)
//        ).reshape(N, K).T   atol=0.2

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define COLUMN_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define MATRIX(ROWS, COLUMNS, USE) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)))
#ifndef cl_khr_fp16 // without vectors of half
#undef T
#define T float
#endif
#define JOIN_(X, Y) X##Y
#define JOIN(X, Y) JOIN_(X, Y)
#define TO_T16 JOIN(JOIN(convert_, T), 16)

typedef T Weights MATRIX(ROWS, DEPTH, A);
typedef half Inputs MATRIX(DEPTH, COLUMNS, B);
typedef float Sums MATRIX(ROWS, COLUMNS, ACCUMULATOR);

typedef struct {
    half factor, factor_of_least;
    uchar scales[12], pairs[128];
} Block;

JOIN(T, 16) weights_of(uint row, uint column, const global Block *w, size_t k)
{
    const uint place = k + column, run = place % 256 / 32;
    w += (row * K + place) / 256;
    const uint x = w->scales[run % 4], y = w->scales[run % 4 + 4], z = w->scales[run % 4 + 8];
    const uint scale = run < 4 ? x & 63 : (z & 15) | x >> 6 << 4, least = run < 4 ? y & 63 : z >> 4 | y >> 6 << 4;
    const uchar16 pairs = vload16(run / 2 * 2 + place % 32 / 16, w->pairs);
    const uchar16 bits = run % 2 ? pairs >> 4 : pairs & (uchar)15;
    return TO_T16(convert_float16(bits) * ((float)w->factor * scale) - (float)w->factor_of_least * least);
}

kernel void gemm_q4_k(const global Block *w, const global half *x, global float *y)
{
    const size_t row = get_group_id(0) * ROWS, column = get_group_id(1) * COLUMNS;
    Sums sum = coop_mat_init(0);

    for (size_t k = 0; k < K; k += DEPTH) {
        const Weights weights = coop_mat_build(weights_of, w + row * (K / 256), k);
        const Inputs inputs = coop_mat_load(x + column * K + k, COLUMN_MAJOR, K);
        sum = coop_mat_mulAdd(weights, inputs, sum);
    }
    coop_mat_store(y + column * N + row, sum, COLUMN_MAJOR, N);
}
