// Y = X W^T for weights in llama.cpp's blocks Q8_0: 32 weights of a row, a byte each, share a factor. They are decoded
// as they are needed. W is N x K, X is M x K; N is a multiple of ROWS, M of COLUMNS, K of DEPTH.
//
// run: kernel=gemm_q8_0 global=(N/ROWS*sg, M/COLUMNS) local=(sg, 1) M=32 N=64 K=128 ROWS=16 COLUMNS=16 DEPTH=32
//      flop=2*M*N*K
//      -DM=32 -DN=64 -DK=128 -DT=half -DROWS=16 -DCOLUMNS=16 -DDEPTH=32
//      w=u8[N,K/32,34]:blocks(0, 1, 2) x=f16[M,K]:uniform(-1,1) y=f32[M,N]:zeros
// check: y ~ x.astype(f32) @ (w[:, :, 2:].copy().view(i8) * w[:, :, :2].copy().view(f16).astype(f32)).reshape(N, K).T
//        atol=0.02

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
    half factor;
    char numbers[32];
} Block;

JOIN(T, 16) weights_of(uint row, uint column, const global Block *w, size_t k)
{
    w += (row * K + k + column) / 32;
    return TO_T16(convert_float16(vload16(column % 32 / 16, w->numbers)) * (float)w->factor);
}

kernel void gemm_q8_0(const global Block *w, const global half *x, global float *y)
{
    const size_t row = get_group_id(0) * ROWS, column = get_group_id(1) * COLUMNS;
    Sums sum = coop_mat_init(0);

    for (size_t k = 0; k < K; k += DEPTH) {
        const Weights weights = coop_mat_build(weights_of, w + row * (K / 32), k);
        const Inputs inputs = coop_mat_load(x + column * K + k, COLUMN_MAJOR, K);
        sum = coop_mat_mulAdd(weights, inputs, sum);
    }
    coop_mat_store(y + column * N + row, sum, COLUMN_MAJOR, N);
}
