// The operand of a reduction is the copy in the new unit.
#include "../matrices.h"

float g(float x, float y) { return x + y; }
kernel void k(void) { C m = coop_mat_init(1); m = coop_mat_reduce(m, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, g); coop_mat_print(m); }
