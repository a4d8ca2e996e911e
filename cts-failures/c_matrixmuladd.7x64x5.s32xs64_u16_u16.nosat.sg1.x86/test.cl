typedef int test_A0 __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 7, 5, CLK_COOPERATIVE_MATRIX_A)));
typedef long test_B1 __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 5, 64, CLK_COOPERATIVE_MATRIX_B)));
typedef ushort test_C2 __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 7, 64, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void test(global const int *a, global const long *b, global const ushort *c, global ushort *out)
{
    test_A0 m1 = coop_mat_load(a + 17, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    test_B1 m2 = coop_mat_load(b + 19, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 5);
    test_C2 m3 = coop_mat_load(c + 17, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 9);
    test_C2 m4 = coop_mat_mulAdd(m1, m2, m3, CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_A_SIGNED | CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_B_SIGNED);
    coop_mat_store(out + 17, m4, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, 8);
}
