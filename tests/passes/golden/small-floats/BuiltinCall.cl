// A convert builtin from or to bfloat16 keeps its rounding mode.
#include "../matrices.h"

bfloat16 f(float x, bfloat16 y, int *i) { *i = convert_int_rtp(y); return convert_bfloat16_rtz(x); }
