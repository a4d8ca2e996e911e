// What the builtins refuse: each argument has its own message.
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef half A __attribute__((coop_mat(SUBGROUP, 16, 8, CLK_COOPERATIVE_MATRIX_A)));
typedef half B __attribute__((coop_mat(SUBGROUP, 8, 16, CLK_COOPERATIVE_MATRIX_B)));
typedef float C __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef float D __attribute__((coop_mat(SUBGROUP, 16, 32, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef int I __attribute__((coop_mat(SUBGROUP, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
void f(global float *p, const global float *c, A a, B b, C acc, D d, I i, int n)
{
    coop_mat_load(p, ROW, 16);
    float x = coop_mat_load(p, ROW, 16);
    acc = coop_mat_load(p, n, 16);
    acc = coop_mat_load(p, ROW, 1.5f);
    a = coop_mat_load(p, ROW, 16);
    coop_mat_store(c, acc, ROW, 16);
    coop_mat_store(p, acc, ROW, 0);
    coop_mat_store(p, n, ROW, 16);
    acc = coop_mat_mulAdd(b, a, acc);
    d = coop_mat_mulAdd(a, b, d);
    i = coop_mat_mulAdd(a, b, i);
    acc = coop_mat_mulAdd(a, b, acc, n);
    acc = coop_mat_init(p);
    acc = coop_mat_load(p, ROW);
}
