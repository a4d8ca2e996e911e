// Of a prefetch, only the evaluation of the operands remains.
// options: --matrices one
#include "../matrices.h"

void f(global float *p, int n) { coop_mat_prefetch(C, p++, ROW_MAJOR, n++); }
