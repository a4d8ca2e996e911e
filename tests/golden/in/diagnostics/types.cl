// Types that do not fit: the operator and both types are named, both sides underlined.
struct pair { int a; };
void f(struct pair s, float4 v, float3 w, global int *g, local int *l, int n, const global int *c)
{
    v = v + w;
    n = s;
    g = l;
    v.xx = w.xy;
    g = c;
    if (v < 1.0f) n = (int4)v;
    f(s, v);
    int a[n];
    (n + 1)++;
}
