// The value is stored directly to the object.
#include "../matrices.h"

void f(M x, global M *p) { *p = x + *p; x = *p; }
