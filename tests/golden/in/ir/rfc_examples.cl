// The examples of the OpenCL RFC, in the dialect of its text.
// options: --dialect rfc -Wno-coop-mat-stride -Wno-coop-mat-operands-sign -Wno-coop-mat-string-enumerator
void load(global float *A) {
    typedef float matA __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 4, CLK_COOPERATIVE_MATRIX_A)));
    matA m;
    m = coop_mat_load(A, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 3);
}

void store(global half *A) {
    typedef half matA __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 2, 4, CLK_COOPERATIVE_MATRIX_A)));
    matA m = coop_mat_init(1.0f);
    coop_mat_store(A, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 3);
}

void multiply(void) {
    typedef float matA __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 8, CLK_COOPERATIVE_MATRIX_A)));
    typedef float matB __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 2, CLK_COOPERATIVE_MATRIX_B)));
    typedef float matC
        __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 2, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
    matA a = coop_mat_init(1);
    matB b = coop_mat_init(2);
    matC c = coop_mat_init(3), d;
    d = coop_matmul_add(a, b, c, CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_RESULT_SIGNED);
}

void operators(void) {
    typedef float matA
        __attribute__((coop_mat("CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP", 4, 8, "CLK_COOPERATIVE_MATRIX_A")));
    matA a = coop_mat_init(1);
    matA c = a * 4;
    c = -c;
    c = c + c;
}

typedef half chmat44 __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_B)));
void variables(void) {
    float vmat1 __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_A)));
    chmat44 vmat2;
}
