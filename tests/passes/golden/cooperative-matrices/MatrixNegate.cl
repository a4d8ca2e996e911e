// A negation is a call.
// options: --matrices one
#include "../matrices.h"

C f(C x) { return -x; }
