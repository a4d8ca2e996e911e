// Blocks of 32 are multiplied as the device can, then scaled and added. Of this device, that is bfloat16.
// options: --matrices dpas --sub-group-size 16
#define MATRIX(use, rows, columns) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, use)))
typedef floate4m3_t A MATRIX(CLK_COOPERATIVE_MATRIX_A, 8, 64);
typedef floate5m2_t B MATRIX(CLK_COOPERATIVE_MATRIX_B, 64, 16);
typedef float C MATRIX(CLK_COOPERATIVE_MATRIX_ACCUMULATOR, 8, 16);
kernel void k(const global floate4m3_t *p, const global floate5m2_t *q, constant floate8m0_t *s, global float *out)
{
    A a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 64);
    B b = coop_mat_load(q, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
    C c = coop_mat_init(0);
    coop_mat_store(out, coop_mat_mulAdd_scaled(a, s, 2, b, s + 16, 2, c), CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
}
