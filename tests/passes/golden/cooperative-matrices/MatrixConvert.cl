// A conversion is a call; the result is stored to a temporary.
// options: --matrices one
#include "../matrices.h"

I f(C m) { return (I)m; }
