// An assignment to components of a packed vector stores the whole vector.
void f(floate2m1_t4 *v, floate2m1_t x, floate4m3_t2 w) { v->y = x; floate4m3_t2 u = w; u.yx = w; }
