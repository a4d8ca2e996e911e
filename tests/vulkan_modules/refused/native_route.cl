#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#define C(T) T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)))

kernel void k(global float *c, global const int *a)
{
    C(float) m = coop_mat_load(c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    m = m * convert_float_rtz(a[0]);
    coop_mat_store(c, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}
