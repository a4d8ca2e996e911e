// Y = X W^T for weights in MXFP4: 32 weights of a row share an E8M0 scale, and are e2m1 numbers of 4 bits each. As in
// llama.cpp, a block is the scale, then 16 bytes, whose lower bits are the first half of the block. The numbers are
// decoded as they are needed. The scale, which half cannot hold, multiplies the sum of a block. W is N x K, X is M x K;
// N is a multiple of ROWS, M of COLUMNS, K of 32.
//
// run: kernel=gemm_mxfp4 global=(N/ROWS*sg, M/COLUMNS) local=(sg, 1) M=32 N=64 K=128 ROWS=16 COLUMNS=16
//      flop=2*M*N*K
//      -DM=32 -DN=64 -DK=128 -DT=half -DROWS=16 -DCOLUMNS=16
//      w=u8[N,K/32,17]:blocks(0, 1, 1) x=f16[M,K]:uniform(-1,1) y=f32[M,N]:zeros
// check: y ~ x.astype(f32) @ (
//             array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], dtype=f32)
//             [concatenate([w[:, :, 1:] & 15, w[:, :, 1:] >> 4], 2)] * 2.0 ** (w[:, :, :1].astype(f32) - 127)
//        ).reshape(N, K).T   atol=0.02

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

typedef T Weights MATRIX(ROWS, 32, A);
typedef half Inputs MATRIX(32, COLUMNS, B);
typedef float Sums MATRIX(ROWS, COLUMNS, ACCUMULATOR);

typedef struct {
    floate8m0_t scale;
    uchar pairs[16];
} Block;

JOIN(T, 16) numbers_of(uint row, uint column, const global Block *w)
{
    const uchar16 pairs = vload16(0, w[row * (K / 32)].pairs);
    const int16 codes = convert_int16(column < 16 ? pairs : pairs >> 4), size = codes & 7;
    // Twice the number is an integer: 0 to 4, 6, 8 or 12.
    const int16 twice = select((size & 1 | 2) << (size / 2 - 1), size, size < 4);
    return TO_T16(convert_float16((codes & 8) != 0 ? -twice : twice) * 0.5f);
}

float scaled(uint row, uint column, float sum, float part, const global Block *w)
{
    return fma(part, (float)w[row * (K / 32)].scale, sum);
}

kernel void gemm_mxfp4(const global Block *w, const global half *x, global float *y)
{
    const size_t row = get_group_id(0) * ROWS, column = get_group_id(1) * COLUMNS;
    const Sums zeros = coop_mat_init(0);
    Sums sum = zeros;

    for (size_t k = 0; k < K; k += 32) {
        const global Block *blocks = w + (row * K + k) / 32;
        const Weights numbers = coop_mat_build(numbers_of, blocks);
        const Inputs inputs = coop_mat_load(x + column * K + k, COLUMN_MAJOR, K);
        sum = coop_mat_map(sum, coop_mat_mulAdd(numbers, inputs, zeros), scaled, blocks);
    }
    coop_mat_store(y + column * N + row, sum, COLUMN_MAJOR, N);
}
