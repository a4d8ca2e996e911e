#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#define C(T) T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)))

kernel void k(global const double *in, global float *out)
{
    C(double) m = coop_mat_load(in, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    C(float) n =
        coop_mat_convert_rtz(m);
    coop_mat_store(out, n, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}
