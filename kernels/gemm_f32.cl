// C = A B in float. Each subgroup computes TM x TN tiles, so that a loaded tile may be used several times; the first
// group index runs along the rows. LDA, LDB and LDC are the arrays' row lengths; a power of two is best padded.
// M, N and K are any; where M or N is not given, it is a multiple of what the work-groups compute.
//
// run: kernel=gemm_f32 global=(M/(16*TM)*sg, N/(16*TN)) local=(sg, 1) M=128 N=96 K=64 TM=2 TN=1 PAD=16
//      flop=2*M*N*K
//      -DTM=2 -DTN=1 -DM=128 -DN=96 -DK=64 -DLDA=80 -DLDB=112 -DLDC=112
//      a=f32[M,K+PAD]:uniform(-1,1) b=f32[K,N+PAD]:uniform(-1,1) c=f32[M,N+PAD]:zeros
// check: c[:, :N] ~ a[:, :K] @ b[:, :N]   atol=1e-4
// check: c[:, N:] == 0
//
// run: kernel=gemm_f32 global=(ceil(M/(16*TM))*sg, ceil(N/(16*TN))) local=(sg, 1) M=67 N=25 K=41 TM=2 TN=1 PAD=2
//      flop=2*M*N*K
//      -DTM=2 -DTN=1 -DM=67 -DN=25 -DK=41 -DLDA=43 -DLDB=27 -DLDC=27
//      a=f32[M,K+PAD]:uniform(-1,1) b=f32[K,N+PAD]:uniform(-1,1) c=f32[M,N+PAD]:zeros
// check: c[:, :N] ~ a[:, :K] @ b[:, :N]   atol=1e-4
// check: c[:, N:] == 0

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP

// The size of one tile: what the device likes best.
#ifndef TILE_M
#define TILE_M 16
#define TILE_N 16
#define TILE_K 16
#endif

typedef float A __attribute__((coop_mat(SUBGROUP, TILE_M, TILE_K, CLK_COOPERATIVE_MATRIX_A)));
typedef float B __attribute__((coop_mat(SUBGROUP, TILE_K, TILE_N, CLK_COOPERATIVE_MATRIX_B)));
typedef float C __attribute__((coop_mat(SUBGROUP, TILE_M, TILE_N, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

// Tiles that stick out are read and written with checks, which give zeros outside; they cost nothing where all are whole.
#if M % (TILE_M * TM) || N % (TILE_N * TN) || K % TILE_K
#define LOAD(P, STRIDE, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_load_checked(P, ROW_MAJOR, STRIDE, ROW, COLUMN, ROWS, COLUMNS)
#define STORE(P, STRIDE, TILE, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_store_checked(P, TILE, ROW_MAJOR, STRIDE, ROW, COLUMN, ROWS, COLUMNS)
#else
#define LOAD(P, STRIDE, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_load((P) + (ROW) * (STRIDE) + (COLUMN), ROW_MAJOR, STRIDE)
#define STORE(P, STRIDE, TILE, ROW, COLUMN, ROWS, COLUMNS) \
    coop_mat_store((P) + (ROW) * (STRIDE) + (COLUMN), TILE, ROW_MAJOR, STRIDE)
#endif

kernel void gemm_f32(const global float *a, const global float *b, global float *c)
{
    const size_t row = get_group_id(0) * TILE_M * TM, column = get_group_id(1) * TILE_N * TN;
    C sum[TM][TN];

    #pragma unroll
    for (int i = 0; i < TM; i++)
        #pragma unroll
        for (int j = 0; j < TN; j++)
            sum[i][j] = coop_mat_init(0.0f);

    for (size_t k = 0; k < K; k += TILE_K) {
        B tiles[TN];
        #pragma unroll
        for (int j = 0; j < TN; j++)
            tiles[j] = LOAD(b, LDB, k, column + j * TILE_N, K, N);
        #pragma unroll
        for (int i = 0; i < TM; i++) {
            A tile = LOAD(a, LDA, row + i * TILE_M, k, M, K);
            #pragma unroll
            for (int j = 0; j < TN; j++)
                sum[i][j] = coop_mat_mulAdd(tile, tiles[j], sum[i][j]);
        }
    }

    #pragma unroll
    for (int i = 0; i < TM; i++)
        #pragma unroll
        for (int j = 0; j < TN; j++)
            STORE(c, LDC, sum[i][j], row + i * TILE_M, column + j * TILE_N, M, N);
}
