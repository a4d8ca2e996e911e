// The addresses of all three operands follow that of the result.
// options: --matrices one
#include "../matrices.h"

C f(A a, B b, C c) { return coop_mat_mulAdd(a, b, c); }
