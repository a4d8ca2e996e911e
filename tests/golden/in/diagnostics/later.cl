// What is still to come says so.
kernel void f(read_only pipe int p) { }
typedef float M __attribute__((matrix_type(4, 4)));
void g(void) { enqueue_kernel(0); }
