// Conversions by functions on vectors of bytes, and casts of their bits.
int4 f(floate4m3_t4 v, uint w, floate2m1_t x) { v = as_floate4m3_t4(w); floate2m1_t4 u = (floate2m1_t4)(x); return convert_int4(v); }
