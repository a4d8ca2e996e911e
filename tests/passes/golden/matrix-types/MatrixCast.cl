// A conversion of elements is a call.
#include "../matrices.h"

D f(M m) { return (D)m; }
