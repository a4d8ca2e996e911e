// The least that a module is made of.
kernel void k(void) { }
