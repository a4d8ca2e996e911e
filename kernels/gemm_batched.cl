// C[i] = A[i] B[i] for a batch of small matrices: one subgroup per tile, the batch in the third dimension.
// M, N and K are any.
//
// run: kernel=gemm_batched global=(N/8*sg, M/8, BATCH) local=(sg, 1, 1) M=24 N=16 K=32 BATCH=5 -DM=24 -DN=16 -DK=32
//      flop=2*BATCH*M*N*K
//      a=f32[BATCH,M,K]:uniform(-1,1) b=f32[BATCH,K,N]:uniform(-1,1) c=f32[BATCH,M,N]:zeros
// check: c ~ a @ b   atol=1e-4
//
// run: kernel=gemm_batched global=(ceil(N/8)*sg, ceil(M/8), BATCH) local=(sg, 1, 1) M=13 N=19 K=21 BATCH=3 -DM=13 -DN=19 -DK=21
//      flop=2*BATCH*M*N*K
//      a=f32[BATCH,M,K]:uniform(-1,1) b=f32[BATCH,K,N]:uniform(-1,1) c=f32[BATCH,M,N]:zeros
// check: c ~ a @ b   atol=1e-4

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP

typedef float A __attribute__((coop_mat(SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_A)));
typedef float B __attribute__((coop_mat(SUBGROUP, 16, 8, CLK_COOPERATIVE_MATRIX_B)));
typedef float C __attribute__((coop_mat(SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

// Tiles that stick out are read and written with checks, which give zeros outside; they cost nothing where all are whole.
#if M % 8 || N % 8 || K % 16
#define LOAD(P, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_load_checked(P, ROW_MAJOR, COLUMNS, ROW, COLUMN, ROWS, COLUMNS)
#define STORE(P, TILE, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_store_checked(P, TILE, ROW_MAJOR, COLUMNS, ROW, COLUMN, ROWS, COLUMNS)
#else
#define LOAD(P, ROW, COLUMN, ROWS, COLUMNS) coop_mat_load((P) + (ROW) * (COLUMNS) + (COLUMN), ROW_MAJOR, COLUMNS)
#define STORE(P, TILE, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_store((P) + (ROW) * (COLUMNS) + (COLUMN), TILE, ROW_MAJOR, COLUMNS)
#endif

C tile_product(const global float *a, const global float *b, size_t row, size_t column)
{
    C sum = coop_mat_init(0.0f);

    for (size_t k = 0; k < K; k += 16) {
        A ta = LOAD(a, row, k, M, K);
        B tb = LOAD(b, k, column, K, N);
        sum = coop_mat_mulAdd(ta, tb, sum);
    }
    return sum;
}

kernel void gemm_batched(const global float *a, const global float *b, global float *c)
{
    const size_t item = get_group_id(2);
    const size_t row = get_group_id(1) * 8, column = get_group_id(0) * 8;

    C sum = tile_product(a + item * M * K, b + item * K * N, row, column);
    STORE(c + item * M * N, sum, row, column, M, N);
}
