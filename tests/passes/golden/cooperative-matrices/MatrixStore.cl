// A store is a call with the address of the components.
// options: --matrices one
#include "../matrices.h"

void f(global float *p, C m) { coop_mat_store(p, m, ROW_MAJOR, 4); }
