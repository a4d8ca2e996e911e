// The function of the expression stores it.
#include "../matrices.h"

void f(M x, global float *p) { __builtin_matrix_column_major_store(x + x, p, 2); }
