// An inserted row is part of the expression.
#include "../matrices.h"

M f(M m, Row r) { return __builtin_matrix_insert_row(m, 1, r); }
