// A matrix is stored to private memory, and one work-item of the subgroup prints its title and rows.
// options: --matrices lanes --sub-group-size 8
#define MATRIX(use, rows, columns) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, use)))
typedef bfloat16 A MATRIX(CLK_COOPERATIVE_MATRIX_A, 8, 20);
typedef ulong C MATRIX(CLK_COOPERATIVE_MATRIX_ACCUMULATOR, 8, 8);
kernel void k(const global bfloat16 *p)
{
    A a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 20);
    coop_mat_print(a);
    C c = coop_mat_init(7);
    coop_mat_print(c + c, "50 % of \"c\"");
    coop_mat_print_lanes(c);
}
