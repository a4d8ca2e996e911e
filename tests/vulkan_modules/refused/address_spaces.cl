kernel void k(global int *o, global const int *a)
{
    const size_t i = get_global_id(0);
    int t[2] = {a[i], a[i + 1]};
    int *p = a[i] ? t : (int *)o;
    o[i] = *p;
}
