// C = A B, signed 8-bit in and 32-bit out; B is stored by columns, as quantised weights often are.
// M, N and K are any.
//
// run: kernel=gemm_s8 global=(N/16*sg, M/16) local=(sg, 1) M=64 N=48 K=128 -DM=64 -DN=48 -DK=128
//      op=2*M*N*K
//      a=i8[M,K]:integers(-128,127) b=i8[N,K]:integers(-128,127) c=i32[M,N]:zeros
// check: c == a.astype(i32) @ b.astype(i32).T
//
// run: kernel=gemm_s8 global=(ceil(N/16)*sg, ceil(M/16)) local=(sg, 1) M=21 N=35 K=70 -DM=21 -DN=35 -DK=70
//      op=2*M*N*K
//      a=i8[M,K]:integers(-128,127) b=i8[N,K]:integers(-128,127) c=i32[M,N]:zeros
// check: c == a.astype(i32) @ b.astype(i32).T

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP

typedef char A __attribute__((coop_mat(SUBGROUP, 16, 32, CLK_COOPERATIVE_MATRIX_A)));
typedef char B __attribute__((coop_mat(SUBGROUP, 32, 16, CLK_COOPERATIVE_MATRIX_B)));
typedef int C __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

// Tiles that stick out are read and written with checks, which give zeros outside; they cost nothing where all are whole.
#if M % 16 || N % 16 || K % 32
#define LOAD_A(ROW, COLUMN) coop_mat_load_checked(a, ROW_MAJOR, K, ROW, COLUMN, M, K)
#define LOAD_B(ROW, COLUMN) coop_mat_load_checked(b, COLUMN_MAJOR, K, ROW, COLUMN, K, N)
#define STORE_C(TILE, ROW, COLUMN) coop_mat_store_checked(c, TILE, ROW_MAJOR, N, ROW, COLUMN, M, N)
#else
#define LOAD_A(ROW, COLUMN) coop_mat_load(a + (ROW) * K + (COLUMN), ROW_MAJOR, K)
#define LOAD_B(ROW, COLUMN) coop_mat_load(b + (COLUMN) * K + (ROW), COLUMN_MAJOR, K)
#define STORE_C(TILE, ROW, COLUMN) coop_mat_store(c + (ROW) * N + (COLUMN), TILE, ROW_MAJOR, N)
#endif

kernel void gemm_s8(const global char *a, const global char *b, global int *c)
{
    const size_t row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    C sum = coop_mat_init(0);

    for (size_t k = 0; k < K; k += 32) {
        A ta = LOAD_A(row, k);
        B tb = LOAD_B(k, column);
        sum = coop_mat_mulAdd(ta, tb, sum);
    }
    STORE_C(sum, row, column);
}
