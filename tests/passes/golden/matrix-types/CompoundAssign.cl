// The target is operand and result.
#include "../matrices.h"

void f(M x, global M *p) { *p++ += x; }
