// A scalar is an argument of the call.
#include "../matrices.h"

M f(M x, float y) { return x * y; }
