// What is still to come says so.
kernel void f(read_only pipe int p) { }
void g(void) { enqueue_kernel(0); }
