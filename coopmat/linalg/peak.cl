// Multiplies two tiles that stay in registers (IN_REGISTERS), or else in a cache, again and again. One subgroup adds up
// `times` products; gemm.cl explains the other macros.

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(TYPE, ROWS, COLUMNS, USE) \
    TYPE __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)))

typedef MATRIX(A_TYPE, TILE_M, TILE_K, A) A;
typedef MATRIX(B_TYPE, TILE_K, TILE_N, B) B;
typedef MATRIX(SUM_TYPE, TILE_M, TILE_N, ACCUMULATOR) Sum;

#if PACK > 1
#define LAYOUT_B CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED
#else
#define LAYOUT_B ROW_MAJOR
#endif

// a and b have two tiles each. With one, a compiler could move the product out of the loop.
kernel void peak(const global A_TYPE *a, const global B_TYPE *b, global SUM_TYPE *sums, uint times)
{
    Sum sum = coop_mat_init(0);
#if IN_REGISTERS
    A x = coop_mat_load(a, ROW_MAJOR, TILE_K);
    B y = coop_mat_load(b, LAYOUT_B, TILE_N * PACK);
    for (uint i = 0; i < times; ++i)
        sum = coop_mat_mulAdd(x, y, sum);
#else
    for (uint i = 0; i < times; ++i) {
        A x = coop_mat_load(a + (i & 1) * TILE_M * TILE_K, ROW_MAJOR, TILE_K);
        B y = coop_mat_load(b + (i & 1) * TILE_K * TILE_N, LAYOUT_B, TILE_N * PACK);
        sum = coop_mat_mulAdd(x, y, sum);
    }
#endif
    const size_t place = get_group_id(0) * get_num_sub_groups() + get_sub_group_id();
    coop_mat_store(sums + place * TILE_M * TILE_N, sum, ROW_MAJOR, TILE_N);
}
