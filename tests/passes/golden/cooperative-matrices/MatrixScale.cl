// A product with a scalar is a call with the scalar as it is.
// options: --matrices one
#include "../matrices.h"

C f(C x, float y) { return x * y; }
