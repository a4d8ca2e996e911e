// diagnostics: sarif
// options: -Wall
// A fix-it becomes a fix, and a warning's rule has its meaning.
kernel void k(global int *p) { int unused; p[get_globl_id(0)] = 1; }
