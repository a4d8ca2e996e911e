// D = relu(alpha A B + beta C): scaling by the operators, the activation component by component. M, N and K are any.
//
// run: kernel=gemm_epilogue global=(N/16*sg, M/16) local=(sg, 1) M=64 N=80 K=48 -DM=64 -DN=80 -DK=48
//      flop=2*M*N*K
//      alpha=f32:0.75 beta=f32:-1.25
//      a=f16[M,K]:uniform(-1,1) b=f16[K,N]:uniform(-1,1) c=f32[M,N]:uniform(-1,1) d=f32[M,N]:zeros
// check: d ~ maximum(alpha * (a.astype(f32) @ b.astype(f32)) + beta * c, 0)   atol=1e-4
//
// run: kernel=gemm_epilogue global=(ceil(N/16)*sg, ceil(M/16)) local=(sg, 1) M=19 N=35 K=50 -DM=19 -DN=35 -DK=50
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
        A ta = LOAD(a, row, k, M, K);
        B tb = LOAD(b, k, column, K, N);
        sum = coop_mat_mulAdd(ta, tb, sum);
    }
    C bias = LOAD(c, row, column, M, N);
    sum *= alpha;
    sum += bias * beta;
    STORE(d, relu(sum), row, column, M, N);
}
