// Names are mangled as SPIR's consumers expect them; conversions with a rounding mode are calls.
kernel void k(global float4 *p, global half *h, global int *n)
{
    float4 v = fma(p[0], p[1], p[2]);
    v.x = sin(v.x) + dot(v, v);
    p[3] = fmin(v, 1.0f);
    n[0] = convert_int_sat_rte(v.y) + max(n[1], 2) + popcount(n[2]);
    vstore_half(v.z, 0, h);
    n[3] = sub_group_reduce_add(n[4]);
}
