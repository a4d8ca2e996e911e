// C = A B, half in and float out: one 16 x 16 tile of C per subgroup.
//
// run: kernel=gemm_f16 global=(N/16*sg, M/16) local=(sg, 1) M=128 N=96 K=64 -DN=96 -DK=64
//      flop=2*M*N*K
//      a=f16[M,K]:uniform(-1,1) b=f16[K,N]:uniform(-1,1) c=f32[M,N]:zeros
// check: c ~ a.astype(f32) @ b.astype(f32)   atol=1e-4

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP

typedef half A __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_A)));
typedef half B __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_B)));
typedef float C __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

kernel void gemm_f16(const global half *a, const global half *b, global float *c)
{
    const size_t row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    C sum = coop_mat_init(0.0f);

    for (size_t k = 0; k < K; k += 16) {
        A ta = coop_mat_load(a + row * K + k, ROW_MAJOR, K);
        B tb = coop_mat_load(b + k * N + column, ROW_MAJOR, N);
        sum = coop_mat_mulAdd(ta, tb, sum);
    }
    coop_mat_store(c + row * N + column, sum, ROW_MAJOR, N);
}
