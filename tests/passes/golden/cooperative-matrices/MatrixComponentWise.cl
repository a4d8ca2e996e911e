// A builtin on matrices is a call; the scalar remains a scalar.
// options: --matrices one
#include "../matrices.h"

C f(C x, float y) { return fmax(x, y); }
