// Component-wise arithmetic; a scalar multiply is a fill and a component-wise multiply.
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef float C __attribute__((coop_mat(SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef half H __attribute__((coop_mat(SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void k(global float *p, float s)
{
    C m = coop_mat_load(p, ROW_MAJOR, 4);
    m = (m + m) * s - m / m;
    H narrow = (H)-m;
    coop_mat_store(p, (C)narrow, ROW_MAJOR, 4);
}
