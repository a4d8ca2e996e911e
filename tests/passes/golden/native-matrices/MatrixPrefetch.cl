// Of a prefetch, only the evaluation of the operands remains.
#include "../matrices.h"

kernel void k(global float *p, int n) { coop_mat_prefetch(C, p++, ROW_MAJOR, n++); }
