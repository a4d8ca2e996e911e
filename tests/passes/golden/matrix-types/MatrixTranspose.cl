// A transposition is a call.
#include "../matrices.h"

N f(M x) { return __builtin_matrix_transpose(x); }
