// Matrix operations in clang's words; what clang has no word for keeps the canonical instruction.
// options: --dialect clang
#define COOP(T, R, C, U) \
    T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##U)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
kernel void k(global float *p, local int *l, float s) {
    COOP(float, 16, 16, A) a = coop_mat_load(p, ROW, 16);
    COOP(float, 16, 16, B) b = coop_mat_load(p, ROW, 16);
    COOP(float, 16, 16, ACCUMULATOR) c = coop_mat_init(0.5f);
    c = coop_mat_mulAdd(a, b, c);
    c = -(c + c * s) / c;
    coop_mat_store(p, c, ROW, coop_mat_length(c));
    COOP(int, 4, 8, B) i = coop_mat_load(l, ROW, 8);
    i = i * i - i;
    coop_mat_store(l, i, ROW, 8);
}
