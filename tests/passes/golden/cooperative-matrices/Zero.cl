// A matrix that an initializer leaves out is filled with zero; other zeros remain.
// options: --matrices one
#include "../matrices.h"

struct both { int *p; C m; };
void f(void) { struct both b = {0}; struct both c = {0, coop_mat_init(1)}; C m[2] = {coop_mat_init(1)}; }
