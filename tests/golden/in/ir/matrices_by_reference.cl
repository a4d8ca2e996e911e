// options: --matrices one
// The same operations against the library: a matrix is private storage that is passed by its address.
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef int C __attribute__((coop_mat(SUBGROUP, 2, 2, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void k(global int *c)
{
    C m = coop_mat_load(c, ROW_MAJOR, 2);
    coop_mat_store(c, m, ROW_MAJOR, 2);
}
