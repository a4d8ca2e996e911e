// Load, multiply-add and store; signed operands of integers; strides are 64 bits wide.
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef char A __attribute__((coop_mat(SUBGROUP, 8, 32, CLK_COOPERATIVE_MATRIX_A)));
typedef uchar B __attribute__((coop_mat(SUBGROUP, 32, 8, CLK_COOPERATIVE_MATRIX_B)));
typedef int C __attribute__((coop_mat(SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void k(global const char *a, global const uchar *b, global int *c, uint stride)
{
    C sum = coop_mat_init(0);
    A ta = coop_mat_load(a, ROW_MAJOR, stride);
    B tb = coop_mat_load(b, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 32);
    coop_mat_store(c, coop_mat_mulAdd(ta, tb, sum), ROW_MAJOR, 8);
}
