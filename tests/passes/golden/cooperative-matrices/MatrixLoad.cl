// A load is a call that stores to the variable.
// options: --matrices one
#include "../matrices.h"

kernel void k(global float *p) { C m = coop_mat_load(p, ROW_MAJOR, 4); }
