// The operand of a map is the copy in the new unit.
#include "../matrices.h"

float g(uint r, uint c, float x) { return x + r; }
kernel void k(void) { C m = coop_mat_init(1); coop_mat_print(coop_mat_map(m, g)); }
