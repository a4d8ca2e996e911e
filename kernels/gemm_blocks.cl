// C = A B of any component types that can be multiplied, a tile of any size for each work-group: -DIN and -DOUT name
// the types of A and B and of C, char and int otherwise. Where PACKED is defined, so many rows of B lie in a pack, those
// of a column together, as matrix instructions take them: 4 of bytes, 2 of 16 bits. LDA, LDB and LDC are the arrays' row
// lengths; a power of two is best padded. M, N and K are any; where M or N is not given, it is a multiple of the tile.
//
// On CPUs, of TILE_M x TILE_N x TILE_K: 96 x 96 x 192 for bytes, 96 x 96 x 96 for bfloat16, 8 x 48 x 4 for half and
// 12 x 32 x 4 for float, or what divides the size and is near (docs/performance.md).
//
// run: kernel=gemm_blocks global=(M/48*sg, N/32) local=(sg, 1) M=96 N=64 K=128 PAD=16
//      flop=2*M*N*K
//      -DIN=char -DOUT=int -DTILE_M=48 -DTILE_N=32 -DTILE_K=64 -DM=96 -DN=64 -DK=128 -DLDA=144 -DLDB=80 -DLDC=80
//      a=i8[M,K+PAD]:integers(-128,127) b=i8[K,N+PAD]:integers(-128,127) c=i32[M,N+PAD]:zeros
// check: c[:, :N] == a[:, :K].astype(i32) @ b[:, :N].astype(i32)
//
// run: kernel=gemm_blocks global=(ceil(M/8)*sg, ceil(N/16)) local=(sg, 1) M=67 N=25 K=41 PAD=2
//      flop=2*M*N*K
//      -DIN=half -DOUT=float -DTILE_M=8 -DTILE_N=16 -DTILE_K=8 -DM=67 -DN=25 -DK=41 -DLDA=43 -DLDB=27 -DLDC=27
//      a=f16[M,K+PAD]:uniform(-1,1) b=f16[K,N+PAD]:uniform(-1,1) c=f32[M,N+PAD]:zeros
// check: c[:, :N] ~ a[:, :K].astype(f32) @ b[:, :N].astype(f32)   atol=1e-4

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP

#ifndef IN
#define IN char
#define OUT int
#endif
#ifndef TILE_M
#define TILE_M 16
#define TILE_N 16
#define TILE_K 32
#endif

typedef IN A __attribute__((coop_mat(SUBGROUP, TILE_M, TILE_K, CLK_COOPERATIVE_MATRIX_A)));
typedef IN B __attribute__((coop_mat(SUBGROUP, TILE_K, TILE_N, CLK_COOPERATIVE_MATRIX_B)));
typedef OUT C __attribute__((coop_mat(SUBGROUP, TILE_M, TILE_N, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

#ifdef PACKED
#define LAYOUT_B CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED
#else
#define LAYOUT_B ROW_MAJOR
#define PACKED 1
#endif

// Tiles that stick out are read and written with checks, which give zeros outside; they cost nothing where all are whole.
#if M % TILE_M || N % TILE_N || K % TILE_K
#define LOAD_A(ROW, COLUMN) coop_mat_load_checked(a, ROW_MAJOR, LDA, ROW, COLUMN, M, K)
#define LOAD_B(ROW, COLUMN) coop_mat_load_checked(b, LAYOUT_B, LDB * PACKED, ROW, COLUMN, K, N)
#define STORE_C(TILE, ROW, COLUMN) coop_mat_store_checked(c, TILE, ROW_MAJOR, LDC, ROW, COLUMN, M, N)
#else
#define LOAD_A(ROW, COLUMN) coop_mat_load(a + (ROW) * LDA + (COLUMN), ROW_MAJOR, LDA)
#define LOAD_B(ROW, COLUMN) coop_mat_load(b + (ROW) * LDB + (COLUMN) * PACKED, LAYOUT_B, LDB * PACKED)
#define STORE_C(TILE, ROW, COLUMN) coop_mat_store(c + (ROW) * LDC + (COLUMN), TILE, ROW_MAJOR, LDC)
#endif

kernel void gemm_blocks(const global IN *a, const global IN *b, global OUT *c)
{
    const size_t row = get_group_id(0) * TILE_M, column = get_group_id(1) * TILE_N;
    C sum = coop_mat_init(0);

    for (size_t k = 0; k < K; k += TILE_K) {
        A ta = LOAD_A(row, k);
        B tb = LOAD_B(k, column);
        sum = coop_mat_mulAdd(ta, tb, sum);
    }
    STORE_C(sum, row, column);
}
