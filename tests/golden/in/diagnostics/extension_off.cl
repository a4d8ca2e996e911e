// options: -cl-ext=-cl_khr_cooperative_matrix
// Without the extension its words are told to need it.
typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 4, 0)));
void f(global float *p, M m) { coop_mat_store(p, m, 0, 4); }
