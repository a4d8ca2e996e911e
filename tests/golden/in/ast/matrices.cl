// The matrix type's attribute before and after the name; a type as the argument of a builtin.
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
typedef float M __attribute__((coop_mat(SUBGROUP, 4, 2 * 4, CLK_COOPERATIVE_MATRIX_A)));
uint f(void)
{
    half __attribute__((coop_mat(SUBGROUP, 2, 2, CLK_COOPERATIVE_MATRIX_B))) m;
    m[1] = 0;
    return coop_mat_length(M) + coop_mat_length(m);
}
