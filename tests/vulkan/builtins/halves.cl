// Loads and stores of halves, with all rounding modes, of floats and doubles.
#define N 16

kernel void test(global uint *o, global const uint *a)
{
    const size_t i = get_global_id(0);
    global half *h = (global half *)(o + N * i);
    const float f = as_float(a[i]), s = (float)(int)a[i + 64] * 0x1p-44f, t = (float)(int)a[i + 128] * 0x1p-15f;
    const float x[3] = {f, s, t};
    for (int n = 0; n < 3; n++) {
        if (isnan(x[n]))
            continue;
        vstore_half(x[n], 5 * n, h);
        vstore_half_rte(x[n], 5 * n + 1, h);
        vstore_half_rtz(x[n], 5 * n + 2, h);
        vstore_half_rtp(x[n], 5 * n + 3, h);
        vstore_half_rtn(x[n], 5 * n + 4, h);
    }
    vstore_half((double)t * 1.0000001, 15, h);
    const global half *in = (const global half *)(a + i);
    const float4 v = vload_half4(0, in), w = vloada_half4(i & 1, (const global half *)a);
    const float one = vload_half(1, in);
    o[N * i + 8] = isnan(one) ? 1u : as_uint(one);
    o[N * i + 9] = as_uint4(select(v, (float4)(2.0f), isnan(v))).x;
    o[N * i + 10] = as_uint4(select(w, (float4)(2.0f), isnan(w))).w;
    vstore_half2(v.lo * 0.125f + 1.0f, 11, (global half *)(o + N * i));
    vstorea_half4_rtz((float4)(t, s, 1.0f / 3.0f, 70000.0f), 3, h);
    o[N * i + 14] = isnan(v.z) ? 0u : as_uint(v.z);
    o[N * i + 15] = 0u;
    if (isnan(v.x) || isnan(v.y))
        o[N * i + 11] = 5u;
}
