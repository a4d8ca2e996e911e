// D = rows * columns * (A B) + bias, 8-bit in and float out: products of quantised numbers, scaled back by a factor for
// each row and one for each column, and a bias for each column. A vector becomes a matrix by stride 0, which repeats it:
// loaded by rows every row is the same, loaded by columns every column. M, N and K are any.
//
// run: kernel=gemm_bias_scale global=(N/16*sg, M/16) local=(sg, 1) M=64 N=48 K=64 -DM=64 -DN=48 -DK=64
//      op=2*M*N*K
//      a=i8[M,K]:integers(-128,127) b=i8[K,N]:integers(-128,127) rows=f32[M]:uniform(0,0.01)
//      columns=f32[N]:uniform(0,0.01) bias=f32[N]:uniform(-1,1) d=f32[M,N]:zeros
// check: d ~ rows.reshape(M, 1) * columns * (a.astype(i32) @ b.astype(i32)) + bias   atol=1e-4
//
// run: kernel=gemm_bias_scale global=(ceil(N/16)*sg, ceil(M/16)) local=(sg, 1) M=21 N=35 K=70 -DM=21 -DN=35 -DK=70
//      op=2*M*N*K
//      a=i8[M,K]:integers(-128,127) b=i8[K,N]:integers(-128,127) rows=f32[M]:uniform(0,0.01)
//      columns=f32[N]:uniform(0,0.01) bias=f32[N]:uniform(-1,1) d=f32[M,N]:zeros
// check: d ~ rows.reshape(M, 1) * columns * (a.astype(i32) @ b.astype(i32)) + bias   atol=1e-4

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP

typedef char A __attribute__((coop_mat(SUBGROUP, 16, 32, CLK_COOPERATIVE_MATRIX_A)));
typedef char B __attribute__((coop_mat(SUBGROUP, 32, 16, CLK_COOPERATIVE_MATRIX_B)));
typedef int I __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef float C __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

// Tiles that stick out are read and written with checks, which give zeros outside; they cost nothing where all are whole.
#if M % 16 || N % 16 || K % 32
#define LOAD(P, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_load_checked(P, ROW_MAJOR, COLUMNS, ROW, COLUMN, ROWS, COLUMNS)
#define STORE(P, TILE, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_store_checked(P, TILE, ROW_MAJOR, COLUMNS, ROW, COLUMN, ROWS, COLUMNS)
// The vector is a matrix of one row, or column, that is as high, or wide, as a tile.
#define IN_EACH_ROW(P, COLUMN) coop_mat_load_checked(P, ROW_MAJOR, 0, 0, COLUMN, 16, N)
#define IN_EACH_COLUMN(P, ROW) coop_mat_load_checked(P, COLUMN_MAJOR, 0, ROW, 0, M, 16)
#else
#define LOAD(P, ROW, COLUMN, ROWS, COLUMNS) coop_mat_load((P) + (ROW) * (COLUMNS) + (COLUMN), ROW_MAJOR, COLUMNS)
#define STORE(P, TILE, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_store((P) + (ROW) * (COLUMNS) + (COLUMN), TILE, ROW_MAJOR, COLUMNS)
#define IN_EACH_ROW(P, COLUMN) coop_mat_load((P) + (COLUMN), ROW_MAJOR, 0)
#define IN_EACH_COLUMN(P, ROW) coop_mat_load((P) + (ROW), COLUMN_MAJOR, 0)
#endif

kernel void gemm_bias_scale(const global char *a, const global char *b, const global float *rows,
                            const global float *columns, const global float *bias, global float *d)
{
    const size_t row = get_group_id(1) * 16, column = get_group_id(0) * 16;
    I sum = coop_mat_init(0);

    for (size_t k = 0; k < K; k += 32) {
        A ta = LOAD(a, row, k, M, K);
        B tb = LOAD(b, k, column, K, N);
        sum = coop_mat_mulAdd(ta, tb, sum);
    }
    C by_row = IN_EACH_COLUMN(rows, row), by_column = IN_EACH_ROW(columns, column), added = IN_EACH_ROW(bias, column);
    STORE(d, (C)sum * by_row * by_column + added, row, column, M, N);
}
