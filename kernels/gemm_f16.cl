// C = A B, half in and float out: one 16 x 16 tile of C per subgroup. M, N and K are any.
//
// run: kernel=gemm_f16 global=(N/16*sg, M/16) local=(sg, 1) M=128 N=96 K=64 -DM=128 -DN=96 -DK=64
//      flop=2*M*N*K
//      a=f16[M,K]:uniform(-1,1) b=f16[K,N]:uniform(-1,1) c=f32[M,N]:zeros
// check: c ~ a.astype(f32) @ b.astype(f32)   atol=1e-4
//
// run: kernel=gemm_f16 global=(ceil(N/16)*sg, ceil(M/16)) local=(sg, 1) M=37 N=21 K=45 -DM=37 -DN=21 -DK=45
//      flop=2*M*N*K
//      a=f16[M,K]:uniform(-1,1) b=f16[K,N]:uniform(-1,1) c=f32[M,N]:zeros
// check: c ~ a.astype(f32) @ b.astype(f32)   atol=1e-4

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP

typedef half A __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_A)));
typedef half B __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_B)));
typedef float C __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

// Tiles that stick out are read and written with checks, which give zeros outside; they cost nothing where all are whole.
#if M % 16 || N % 16 || K % 16
#define LOAD(P, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_load_checked(P, ROW_MAJOR, COLUMNS, ROW, COLUMN, ROWS, COLUMNS)
#define STORE(P, TILE, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_store_checked(P, TILE, ROW_MAJOR, COLUMNS, ROW, COLUMN, ROWS, COLUMNS)
#else
#define LOAD(P, ROW, COLUMN, ROWS, COLUMNS) coop_mat_load((P) + (ROW) * (COLUMNS) + (COLUMN), ROW_MAJOR, COLUMNS)
#define STORE(P, TILE, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_store((P) + (ROW) * (COLUMNS) + (COLUMN), TILE, ROW_MAJOR, COLUMNS)
#endif

kernel void gemm_f16(const global half *a, const global half *b, global float *c)
{
    const size_t row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    C sum = coop_mat_init(0.0f);

    for (size_t k = 0; k < K; k += 16) {
        A ta = LOAD(a, row, k, M, K);
        B tb = LOAD(b, k, column, K, N);
        sum = coop_mat_mulAdd(ta, tb, sum);
    }
    STORE(c, sum, row, column, M, N);
}
