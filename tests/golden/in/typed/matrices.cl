// Matrix operations are nodes of their own; the target type comes from the context.
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef char A __attribute__((coop_mat(SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_A)));
typedef uchar B __attribute__((coop_mat(SUBGROUP, 16, 8, CLK_COOPERATIVE_MATRIX_B)));
typedef int C __attribute__((coop_mat(SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef float F __attribute__((coop_mat(SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
C multiply(A a, B b, C c) { return coop_mat_mulAdd(a, b, c); }
kernel void k(global char *a, global uchar4 *b, global int *c, float x)
{
    C sum = multiply(coop_mat_load(a, ROW_MAJOR, 16), coop_mat_load(b, 1, 4), coop_mat_init(0));
    sum = -sum * x + sum;
    sum *= 2;
    for (uint i = 0; i < coop_mat_length(sum); i++) sum[i] += 1;
    F f = (F)sum;
    coop_mat_store(c, (C)f, ROW_MAJOR, 8);
}
