// Matrix types that cannot be, and matrices where none may live.
#define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define A CLK_COOPERATIVE_MATRIX_A
typedef float M __attribute__((coop_mat(SUBGROUP, 4, 4, A)));
typedef float4 wrong_component __attribute__((coop_mat(SUBGROUP, 4, 4, A)));
typedef float wrong_scope __attribute__((coop_mat(memory_scope_device, 4, 4, A)));
typedef float wrong_rows __attribute__((coop_mat(SUBGROUP, 0, 4, A)));
typedef float wrong_use __attribute__((coop_mat(SUBGROUP, 4, 4, 3)));
typedef float string __attribute__((coop_mat("CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP", 4, 4, A)));
M outside;
kernel void f(M parameter, local M *far) { }
kernel void g(M *parameter) { local M shared; int n = sizeof(M); }
