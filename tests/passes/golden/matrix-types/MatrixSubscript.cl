// An element is one of the array in the structure.
#include "../matrices.h"

float f(M x, int r, int c) { x[0][1] = 2; return x[r][c]; }
