// What matrices do not do.
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
typedef float C __attribute__((coop_mat(SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef float D __attribute__((coop_mat(SUBGROUP, 4, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
void f(C c, D d, float x)
{
    c = x & c;
    c = c & c;
    c = c + d;
    c += x;
    if (c == c) x = 1;
    while (c) x = 2;
    c[x] = 1;
    float *p = &c[0];
    c = d;
    c = (C)d;
    x = c;
}
