// With subgroups of one work-item, subgroup builtins are calls of the library.
// options: --matrices one
#include "../matrices.h"

kernel void k(global float *p) { C m = coop_mat_init(sub_group_reduce_add(p[0])); p[1] = sqrt(p[2]); }
