// Matrices in arrays and records, as parameters and results; none is chosen by OpSelect.
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef float C __attribute__((coop_mat(SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
struct pair { C first; int n; };
C twice(C c) { return c + c; }
kernel void k(global float *p, int n)
{
    C tiles[2] = { coop_mat_init(1), coop_mat_load(p, ROW_MAJOR, 4) };
    struct pair pair = { n ? tiles[0] : tiles[1], 3 };
    coop_mat_store(p, twice(pair.first), ROW_MAJOR, 4);
}
