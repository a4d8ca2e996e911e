// A row is a vector of its elements.
#include "../matrices.h"

float3 f(Row x) { return (float3)x; }
