// The number of components is a call without operands.
// options: --matrices one
#include "../matrices.h"

uint f(C m) { return coop_mat_length(m); }
