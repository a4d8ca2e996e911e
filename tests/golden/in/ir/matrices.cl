// A matrix is a value of a target extension type; its operations are __spirv_ calls.
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef half A __attribute__((coop_mat(SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_A)));
typedef half B __attribute__((coop_mat(SUBGROUP, 16, 8, CLK_COOPERATIVE_MATRIX_B)));
typedef float C __attribute__((coop_mat(SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void k(global const half *a, local half *b, global float *c, uint stride)
{
    A ta = coop_mat_load(a, ROW_MAJOR, stride);
    B tb = coop_mat_load(b, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 16);
    C sum = coop_mat_mulAdd(ta, tb, coop_mat_init(0));
    sum = (sum + sum) * 0.5f;
    sum[0] = -sum[1];
    coop_mat_store(c, sum, ROW_MAJOR, 8);
}
