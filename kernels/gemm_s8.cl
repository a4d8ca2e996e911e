// C = A B, signed 8-bit in and 32-bit out; B is stored by columns, as quantised weights often are.
//
// run: kernel=gemm_s8 global=(N/16*sg, M/16) local=(sg, 1) M=64 N=48 K=128 -DN=48 -DK=128
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

kernel void gemm_s8(const global char *a, const global char *b, global int *c)
{
    const size_t row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    C sum = coop_mat_init(0);

    for (size_t k = 0; k < K; k += 32) {
        A ta = coop_mat_load(a + row * K + k, ROW_MAJOR, K);
        B tb = coop_mat_load(b + column * K + k, COLUMN_MAJOR, K);
        sum = coop_mat_mulAdd(ta, tb, sum);
    }
    coop_mat_store(c + row * N + column, sum, ROW_MAJOR, N);
}
