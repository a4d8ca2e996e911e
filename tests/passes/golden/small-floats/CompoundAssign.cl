// The target is evaluated once.
#include "../matrices.h"

void f(bfloat16 *p) { *p++ += 1.0f; }
