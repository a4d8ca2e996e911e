// The constant elements of a static matrix initialize the array in its structure.
#include "../matrices.h"

kernel void k(global float *p)
{
    constant M m = (M)2;
    *p = m[1][2];
}
