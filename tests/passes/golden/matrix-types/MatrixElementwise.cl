// An expression of several operators is one call.
#include "../matrices.h"

M f(M x, M y) { return x + y - x; }
