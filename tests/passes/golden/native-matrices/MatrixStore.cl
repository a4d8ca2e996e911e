// Only a checked store is a call.
#include "../matrices.h"

kernel void k(global float *p, uint n) { C m = coop_mat_init(1); coop_mat_store(p, m, ROW_MAJOR, 4); coop_mat_store_checked(p, m, ROW_MAJOR, n, 0, 1, n, 4); }
