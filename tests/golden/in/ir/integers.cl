// Signed and unsigned operations differ where they must; shift counts are masked; bool is 0 or 1.
kernel void k(global int *i, global uint *u, global long *l, global uchar *c)
{
    i[0] = i[1] / i[2] >> i[3];
    u[0] = u[1] % u[2] >> u[3];
    l[0] = i[4] < 0;
    l[1] = u[4] < u[5];
    c[0] = c[1] + c[2];
    bool b = l[2];
    i[5] = b + !i[6];
}
