// Y = LayerNorm(X) W: each row of X is shifted and scaled to mean 0 and variance 1 before it is multiplied, and never
// stored so. The rows' sums are reductions of what the product will load again. M and N are multiples of 16, K of 32.
//
// run: kernel=layer_norm_gemm global=(N/16*sg, M/16) local=(sg, 1) M=32 N=64 K=96
//      flop=2*M*N*K
//      -DM=32 -DN=64 -DK=96
//      x=f16[M,K]:uniform(-1,3) w=f16[K,N]:uniform(-1,1) y=f32[M,N]:zeros
// check: y ~ ((x.astype(f32) - x.astype(f32).mean(1, keepdims=True))
//             / sqrt(((x.astype(f32) - x.astype(f32).mean(1, keepdims=True)) ** 2).mean(1, keepdims=True) + 1e-5))
//            @ w.astype(f32)   atol=0.03

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define ROW CLK_COOPERATIVE_MATRIX_REDUCE_ROW
#define MATRIX(ROWS, COLUMNS, USE) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)))

typedef half Left MATRIX(16, 32, A);
typedef half Right MATRIX(32, 16, B);
typedef float Rows MATRIX(16, 32, ACCUMULATOR);
typedef float Sums MATRIX(16, 16, ACCUMULATOR);

float sum(float x, float y)
{
    return x + y;
}

Rows load(const global half *x, size_t row, size_t k)
{
    const Left tile = coop_mat_load(x + row * K + k, ROW_MAJOR, K);
    return (Rows)tile;
}

kernel void layer_norm_gemm(const global half *x, const global half *w, global float *y)
{
    const size_t row = get_group_id(1) * 16, column = get_group_id(0) * 16;

    Rows total = coop_mat_init(0), squares = coop_mat_init(0);
    for (size_t k = 0; k < K; k += 32)
        total += load(x, row, k);
    const Rows mean = (Rows)coop_mat_reduce(total, ROW, sum) / (float)K;
    for (size_t k = 0; k < K; k += 32) {
        const Rows apart = load(x, row, k) - mean;
        squares = fma(apart, apart, squares);
    }
    const Rows scale = rsqrt((Rows)coop_mat_reduce(squares, ROW, sum) / (float)K + 1e-5f);

    Sums result = coop_mat_init(0);
    for (size_t k = 0; k < K; k += 32) {
        const Right right = coop_mat_load(w + k * N + column, ROW_MAJOR, N);
        result = coop_mat_mulAdd((Left)((load(x, row, k) - mean) * scale), right, result);
    }
    coop_mat_store(y + row * N + column, result, ROW_MAJOR, N);
}
