// Loads, stores and conversions of vectors for storage become those of bytes.
void f(global floate2m1_t *p, float4 x, floate2m1_t2 v)
{
    vstore4(convert_floate2m1_t4_rtz(x), 1, p);
    vstore2(v, 3, p);
}
