kernel void k(global int *o, local int *t)
{
    int *p = o + 1;
    local int *q = to_local(p);
    o[0] = q ? *q : 0;
}
