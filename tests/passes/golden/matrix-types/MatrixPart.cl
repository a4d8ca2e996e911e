// A row is a call with its index.
#include "../matrices.h"

Row f(M x, int i) { return __builtin_matrix_row(x, i); }
