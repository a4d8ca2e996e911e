// The value before the change is kept only if it is the result.
#include "../matrices.h"

float f(bfloat16 *p) { ++*p; return (*p)--; }
