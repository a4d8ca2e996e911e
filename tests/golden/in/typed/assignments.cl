// Compound assignment computes in the common type and converts back; the target stands once.
void f(char c, int i, uint u, float x, float4 v, global short *p)
{
    c += x;
    *p++ <<= u;
    u >>= 3 - i;
    v *= 2;
    v.x -= i;
    i = --c + p[1]++;
    x = i, u = i;
}
