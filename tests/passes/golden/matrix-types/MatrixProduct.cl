// A product is a call with the addresses of its operands.
#include "../matrices.h"

kernel void k(global M *m, global N *n, global float *p) { Square x = *m * *n; *p = x[1][1]; }
