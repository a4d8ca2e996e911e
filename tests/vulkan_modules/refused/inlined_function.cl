float rounded(int x)
{
    const int y = x * 3;
    return convert_float_rtz(y);
}

kernel void first(global float *o)
{
    o[0] = 1.0f;
}

kernel void second(global float *o, global const int *a)
{
    o[0] = rounded(a[0]);
}
