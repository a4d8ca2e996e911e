// What is still to come says so.
kernel void f(generic int *p, image2d_t image) { }
global int counter;
typedef float M __attribute__((matrix_type(4, 4)));
void g(void) { static int n; }
