// Arrays decay, indices are long or ulong, address spaces stay with the pointer, null is a zero.
long f(global int *g, const local uint *l, uchar n)
{
    int a[3];
    global int *p = g + n, *q = &p[-1];
    *p++ = a[l[n]];
    q -= 2;
    if (!p || q == 0) p = 0;
    global uchar *bytes = (global uchar *)p;
    return q - g + (bytes ? sizeof(a) : 0);
}
