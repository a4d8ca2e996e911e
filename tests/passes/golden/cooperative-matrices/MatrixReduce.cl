// The library calls the function of a reduction.
// options: --matrices one
#include "../matrices.h"

float g(float x, float y) { return x + y; }
C f(C x) { return coop_mat_reduce(x, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, g); }
