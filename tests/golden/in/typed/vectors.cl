// Scalars are splatted; comparisons give signed integer vectors; swizzles of swizzles are one.
int4 f(float4 v, float s, half2 h)
{
    v = s * v + 1;
    v.xy = v.wz.yx;
    float2 w = (float2)(v.hi.lo, s);
    short2 t = h < (half)0.5;
    w = (t.x ? w : -w) + (float2)(s);
    return v < s ? (int4)(1, 2, t.x, -1) : ~(v == v);
}
