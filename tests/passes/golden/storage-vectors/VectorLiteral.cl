// The components of a vector are bytes; those of 4 bits are packed.
constant floate2m1_t4 TABLE[2] = {(floate2m1_t4)(1.0f, 2.0f, -3.0f, 6.0f)};
floate2m1_t4 f(floate2m1_t x, floate2m1_t2 y) { return (floate2m1_t4)(x, y, x); }
