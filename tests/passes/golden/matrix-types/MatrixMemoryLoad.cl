// A load is part of the function of the whole expression.
#include "../matrices.h"

M f(global float *p) { return __builtin_matrix_column_major_load(p, 2, 3, 2); }
