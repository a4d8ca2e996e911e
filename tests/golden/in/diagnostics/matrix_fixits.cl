// Mistakes that one text mends, in the order of the source; what a macro made is not replaced.
#define MATRIX(T, r, c, use) T __attribute__((coop_mat(memory_scope_sub_group, r, c, CLK_COOPERATIVE_MATRIX_##use)))
#define LAYOUT CLK_COOPERATIVE_MATRIX_LAYOUT_COLUM_MAJOR
typedef MATRIX(half, 16, 8, A) A;
typedef MATRIX(half, 8, 32, B) B;
typedef MATRIX(float, 16, 32, ACCUMULATOR) C;
typedef MATRIX(double, 16, 32, ACCUMULATOR) W;
typedef float M __attribute__((coop_mat(memory_scope_device, 4, 4, CLK_COOPERATIVE_MATRIX_ACUMULATOR)));
typedef float N __attribute__((coop_mat("CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP", 4, 4, "CLK_COOPERATIVE_MATRIX_A")));
kernel void k(global float *p, const global float *fixed, global int *q, int n)
{
    A a = coop_mat_init(0);
    B b = coop_mat_init(0);
    W w = coop_mat_init(0);
    C c = coop_mat_mul_add(a, b, w);
    C d = coop_mat_mulAdd(b, a, (C)w);
    c = w;
    c = w + w * 2;
    w = coop_mat_mulAdd(a, b, (C)w);
    c = coop_mat_load(q + n, CLK_COOPERATIVE_MATRIX_LAYOUT_ROWMAJOR, 32);
    c = coop_mat_load(q + n, 0, 32);
    c = coop_mat_load(p, LAYOUT, 32);
    coop_mat_store(&fixed[n], c, 0, 32);
    c = coop_mat_load_checked(p, 0, 32, 1.5f, -1, n, c);
}
