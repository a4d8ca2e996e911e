// Only a checked load is a call: it goes through a tile in local memory.
#include "../matrices.h"

kernel void k(global float *p, uint n) { C m = coop_mat_load(p, ROW_MAJOR, 4); m = coop_mat_load_checked(p, ROW_MAJOR, n, 0, 1, n, 4); }
