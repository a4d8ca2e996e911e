kernel void k(global int *o, local int *t)
{
    local int own[4];
    const size_t i = get_local_id(0);
    t[i] = own[i & 3] = o[i];
    local int *p = o[i + 9] ? t : own;
    *(local short *)p = 1;
    o[i] = *p;
}
