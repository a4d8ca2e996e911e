// The library calls a function of the program, with further arguments, or its vectorized version.
// options: --matrices one
#include "../matrices.h"

float g(uint r, uint c, float x, float y) { return x + y * r; }
C f(C x, float y) { return coop_mat_map(x, g, y); }
