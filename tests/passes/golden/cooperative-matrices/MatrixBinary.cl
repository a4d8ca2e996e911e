// An operator is a call with the addresses of both operands.
// options: --matrices one
#include "../matrices.h"

C f(C x, C y) { return x - y; }
