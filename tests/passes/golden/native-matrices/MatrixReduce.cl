// A reduction goes through a tile.
#include "../matrices.h"

float g(float x, float y) { return x + y; }
kernel void k(float y) { C m = coop_mat_init(y); m = coop_mat_reduce(m, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, g); }
