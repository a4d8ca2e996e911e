// A map goes through a tile; the library calls the function of the program.
#include "../matrices.h"

float g(uint r, uint c, float x, float y) { return x + y * r; }
kernel void k(float y) { C m = coop_mat_init(1); m = coop_mat_map(m, g, y); }
