kernel void k(global float *o, global const int *a)
{
    const size_t i = get_global_id(0);
    o[i] = 1.0f +
           convert_float_rtz(a[i]);
}
