kernel void k(global int *o)
{
    local uchar bytes[4];
    bytes[o[0] & 3] = 1;
    atomic_add((local int *)bytes, 3);
    o[1] = bytes[1];
}
