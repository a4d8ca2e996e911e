// Where half is only stored, a negation is one of floats.
// options: --code c --matrices one -cl-ext=-cl_khr_fp16
#include "../matrices.h"

half f(half x) { return -x; }
