// A print becomes a call of a function with its title and its types; the function of lanes asks for coordinates.
// options: --matrices one
#include "../matrices.h"

kernel void k(void) { C m = coop_mat_init(1); coop_mat_print(m, "100 %"); coop_mat_print_lanes(m); }
