// Where half is only stored, an operator is one of floats; a comparison stays one.
// options: --code c --matrices one -cl-ext=-cl_khr_fp16
#include "../matrices.h"

int f(half x, half y) { half z = x * y; return z < x; }
