// A scaled multiply-add becomes a call of a function that multiplies, scales and adds each block.
// options: --matrices one
#include "../matrices.h"

typedef floate4m3_t Left __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 2, 40, CLK_COOPERATIVE_MATRIX_A)));
typedef floate5m2_t Right __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 40, 2, CLK_COOPERATIVE_MATRIX_B)));
typedef half Sum __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 2, 2, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));

void f(Left a, const global floate8m0_t *sa, Right b, constant uchar *sb, Sum *c)
{
    *c = coop_mat_mulAdd_scaled(a, sa, 4, b, sb, 8, *c);
}
