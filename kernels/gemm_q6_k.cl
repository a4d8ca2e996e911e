// Y = X W^T for weights in llama.cpp's blocks Q6_K: 256 weights of a row have 6 bits each, which stand for -32 to 31; the
// lower 4 bits are apart from the upper 2. A run of 16 has a scale, a signed byte, and the block a factor. The weights
// are decoded as they are needed. W is N x K, X is M x K; N is a multiple of ROWS, M of COLUMNS, K of DEPTH.
//
// run: kernel=gemm_q6_k global=(N/ROWS*sg, M/COLUMNS) local=(sg, 1) M=32 N=64 K=256 ROWS=16 COLUMNS=16 DEPTH=32
//      flop=2*M*N*K
//      -DM=32 -DN=64 -DK=256 -DT=half -DROWS=16 -DCOLUMNS=16 -DDEPTH=32
//      w=u8[N,K/256,210]:blocks(208, 1, 2) x=f16[M,K]:uniform(-1,1) y=f32[M,N]:zeros
// check: y ~ x.astype(f32) @ (
//             ((w[:, :, :128].reshape(N, K/128, 1, 64) >> array([[0], [4]]) & 15).reshape(N, K/16, 16)
//              + (w[:, :, 128:192].reshape(N, K/128, 1, 32) >> array([[0], [2], [4], [6]]) & 3).reshape(N, K/16, 16)
//                * 16.0 - 32)
//             * (w[:, :, 192:208].copy().view(i8) * w[:, :, 208:].copy().view(f16).astype(f32)).reshape(N, K/16, 1)
//        ).reshape(N, K).T   atol=0.5

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
    uchar low[128], high[64];
    char scales[16];
    half factor;
} Block;

JOIN(T, 16) weights_of(uint row, uint column, const global Block *w, size_t k)
{
    const uint place = (k + column) % 256, half_of_run = place % 32 / 16, run = place % 128 / 32;
    w += (row * K + k + column) / 256;
    const uchar16 low = vload16(place / 128 * 4 + run % 2 * 2 + half_of_run, w->low) >> (uchar)(run / 2 * 4);
    const uchar16 high = vload16(place / 128 * 2 + half_of_run, w->high) >> (uchar)(run * 2);
    const float scale = (float)w->factor * w->scales[place / 16];
    return TO_T16((convert_float16((low & (uchar)15) | (high & (uchar)3) << 4) - 32) * scale);
}

kernel void gemm_q6_k(const global Block *w, const global half *x, global float *y)
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
