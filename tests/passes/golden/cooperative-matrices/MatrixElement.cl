// A component is an element of the array that holds the components, or memory of another type.
// options: --matrices one
#include "../matrices.h"

float f(C x, uint i) { x[i] = 1; return x[0] + (x + x)[i]; }
