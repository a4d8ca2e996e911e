// Conversions from and to bfloat16 go by float, and round once.
#include "../matrices.h"

bfloat16 f(double x, bfloat16 y, int i) { if (y) return (bfloat16)x; return i ? (bfloat16)i : (bfloat16)(float)y; }
