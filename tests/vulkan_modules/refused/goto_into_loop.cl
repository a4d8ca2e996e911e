kernel void k(global int *o, global const int *a)
{
    const size_t i = get_global_id(0);
    if (a[i])
        goto inside;
    while (o[i] < 3) {
        o[i]++;
    inside:
        o[i] += 2;
    }
}
