// D = relu(alpha A B + beta C): scaling by the operators, the activation component by component.
//
// run: kernel=gemm_epilogue global=(N/16*sg, M/16) local=(sg, 1) M=64 N=80 K=48 -DN=80 -DK=48
//      flop=2*M*N*K
//      alpha=f32:0.75 beta=f32:-1.25
//      a=f16[M,K]:uniform(-1,1) b=f16[K,N]:uniform(-1,1) c=f32[M,N]:uniform(-1,1) d=f32[M,N]:zeros
// check: d ~ maximum(alpha * (a.astype(f32) @ b.astype(f32)) + beta * c, 0)   atol=1e-4

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP

typedef half A __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_A)));
typedef half B __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_B)));
typedef float C __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

C relu(C m)
{
    for (uint i = 0; i < coop_mat_length(C); i++)
        m[i] = fmax(m[i], 0.0f);
    return m;
}

kernel void gemm_epilogue(const float alpha, const float beta, const global half *a, const global half *b,
                          const global float *c, global float *d)
{
    const size_t row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    C sum = coop_mat_init(0.0f);

    for (size_t k = 0; k < K; k += 16) {
        A ta = coop_mat_load(a + row * K + k, ROW_MAJOR, K);
        B tb = coop_mat_load(b + k * N + column, ROW_MAJOR, N);
        sum = coop_mat_mulAdd(ta, tb, sum);
    }
    C bias = coop_mat_load(c + row * N + column, ROW_MAJOR, N);
    sum *= alpha;
    sum += bias * beta;
    coop_mat_store(d + row * N + column, relu(sum), ROW_MAJOR, N);
}
