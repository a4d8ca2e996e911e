// The result of a call goes directly to the variable, but by a temporary to what is not one.
// options: --matrices one
#include "../matrices.h"

void f(C x, C *p) { x = x + x; *p = x + x; }
