// A fill is a call that stores to the variable.
// options: --matrices one
#include "../matrices.h"

void f(float x) { C m = coop_mat_init(x); }
