// The coordinates are a call with the index.
// options: --matrices one
#include "../matrices.h"

uint2 f(C m, uint i) { return coop_mat_coord(m, i); }
