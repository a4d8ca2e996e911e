// A profile that has the coordinates keeps the operation.
// options: --native-profile igc
#include "../matrices.h"

kernel void k(global uint2 *p) { C m = coop_mat_init(1); *p = coop_mat_coord(m, 1); }
