// A call names the lowered version of the function; a kernel that is called, the new kernel.
// options: --matrices one
#include "../matrices.h"

C g(C x) { return x; }
int h(int x) { return x; }
C f(C x) { h(1); return g(x); }
