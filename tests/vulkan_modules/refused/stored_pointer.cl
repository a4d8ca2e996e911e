kernel void k(global int *o, global const int *a)
{
    const size_t i = get_global_id(0);
    int t[4] = {1, 2, 3, 4}, *p[2];
    p[0] = t;
    p[i & 1] = t + 2;
    o[i] = p[a[i] & 1][0];
}
