// A builtin on matrices is a call.
#include "../matrices.h"

kernel void k(global float *p) { C m = coop_mat_init(1); m = fmax(m, 2.0f); }
