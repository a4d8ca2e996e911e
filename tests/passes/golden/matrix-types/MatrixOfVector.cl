// A vector is stored by elements.
#include "../matrices.h"

Row f(float3 x) { return (Row)x; }
