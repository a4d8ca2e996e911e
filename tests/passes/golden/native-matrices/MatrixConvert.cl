// Only a saturated conversion to the other signedness, and one to another use, is a call.
#include "../matrices.h"

kernel void k(global float *p) { I i = coop_mat_init(1); U u = coop_mat_convert_sat(i); C c = (C)i; A a = (A)c; }
