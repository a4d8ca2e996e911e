// Components through an access chain into the variable; the length is an instruction.
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef float C __attribute__((coop_mat(SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void k(global float *p)
{
    C m = coop_mat_load(p, ROW_MAJOR, 4);
    for (uint i = 0; i < coop_mat_length(m); i++) m[i] = fmax(m[i], 0.0f);
    coop_mat_store(p, m, ROW_MAJOR, 4);
}
