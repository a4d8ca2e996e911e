// C = A B for numbers of 8 bits, as inference and training store them: A of e4m3, B of e5m2, and sums in float, scaled
// by a factor of each. M and N are multiples of 16, K of 32.
//
// run: kernel=gemm_fp8 global=(N/16*sg, M/16) local=(sg, 1) M=48 N=64 K=96
//      flop=2*M*N*K
//      -DM=48 -DN=64 -DK=96 scale_a=f32:0.25 scale_b=f32:2
//      a=u8[M,K]:integers(0,112) b=u8[K,N]:integers(128,200) c=f32[M,N]:zeros
// check: c ~ ((a.astype(u16) << 7).view(f16).astype(f32) * 256) @ (b.astype(u16) << 8).view(f16).astype(f32) * 0.5
//        rtol=1e-4

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(ROWS, COLUMNS, USE) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)))

typedef floate4m3_t A MATRIX(16, 32, A);
typedef floate5m2_t B MATRIX(32, 16, B);
typedef float C MATRIX(16, 16, ACCUMULATOR);

kernel void gemm_fp8(const float scale_a, const float scale_b, const global floate4m3_t *a, const global floate5m2_t *b,
                     global float *c)
{
    const size_t row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    C sum = coop_mat_init(0);

    for (size_t k = 0; k < K; k += 32) {
        const A left = coop_mat_load(a + row * K + k, ROW_MAJOR, K);
        const B right = coop_mat_load(b + k * N + column, ROW_MAJOR, N);
        sum = coop_mat_mulAdd(left, right, sum);
    }
    coop_mat_store(c + row * N + column, sum * (scale_a * scale_b), ROW_MAJOR, N);
}
