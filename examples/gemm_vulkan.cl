// C = A B on Vulkan, half in and float out: one tile of C per subgroup. gemm_vulkan.c launches it.
#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#ifndef TILE
#define TILE 16
#endif
#define MATRIX(TYPE, USE) \
    TYPE __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, TILE, TILE, CLK_COOPERATIVE_MATRIX_##USE)))
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR

kernel void gemm(global const half *a, global const half *b, global float *c, uint n, uint k)
{
    const uint row = get_group_id(1) * TILE, column = get_group_id(0) * TILE;
    MATRIX(float, ACCUMULATOR) sum = coop_mat_init(0.0f);
    for (uint i = 0; i < k; i += TILE) {
        MATRIX(half, A) x = coop_mat_load(a + row * k + i, ROW_MAJOR, k);
        MATRIX(half, B) y = coop_mat_load(b + i * n + column, ROW_MAJOR, n);
        sum = coop_mat_mulAdd(x, y, sum);
    }
    coop_mat_store(c + row * n + column, sum, ROW_MAJOR, n);
}
