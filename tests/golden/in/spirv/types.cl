// Capabilities follow the types: half in memory and in arithmetic, double, the small integers, wide vectors.
kernel void k(global half *h, global double *d, global char *c, global short8 *s)
{
    d[0] = h[0] + d[1];
    c[0] = c[1] * 3;
    s[0] += s[1];
}
