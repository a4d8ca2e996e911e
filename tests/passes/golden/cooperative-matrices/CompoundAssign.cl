// The target is operand and result of the call; an lvalue with side effects is evaluated once.
// options: --matrices one
#include "../matrices.h"

void f(C x, C *p) { x += x; *p++ *= 2.0f; }
