// Relational functions of scalars and vectors, and selections by bits.
#define N 20

kernel void test(global uint *o, global const uint *a)
{
    const size_t i = get_global_id(0);
    const float table[8] = {0.0f, -0.0f, 1.5f, -2.0f, INFINITY, -INFINITY, NAN, 0x1p-120f};
    const float x = table[i & 7], y = table[i >> 3 & 7];
    const float4 v = (float4)(x, y, 1.0f, table[(i + 3) & 7]), w = (float4)(y, x, table[(i + 5) & 7], -1.0f);
    const double d = x, e = y;
    const double2 g = (double2)(d, e);
    global uint *r = o + N * i;
    r[0] = isequal(x, y) | isnotequal(x, y) << 1 | isgreater(x, y) << 2 | isgreaterequal(x, y) << 3;
    r[1] = isless(x, y) | islessequal(x, y) << 1 | islessgreater(x, y) << 2 | isordered(x, y) << 3;
    r[2] = isunordered(x, y) | isfinite(x) << 1 | isinf(x) << 2 | isnan(x) << 3 | isnormal(x) << 4 | signbit(x) << 5;
    r[3] = isequal(d, e) | islessgreater(d, e) << 1 | isordered(d, e) << 2 | isnormal(d) << 3 | signbit(d) << 4;
    r[4] = isunordered(d, e) | isfinite(d) << 1 | isinf(d) << 2 | isnan(d) << 3 | isnotequal(d, e) << 4;
    const int4 q[6] = {isequal(v, w), islessgreater(v, w), isunordered(v, w), isnormal(v), signbit(v), isfinite(w)};
    for (int n = 0; n < 6; n++)
        r[5 + n] = (uint)(q[n].x * 3 + q[n].y * 5 + q[n].z * 7 + q[n].w * 11);
    const long2 l = isgreater(g, g.yx) + isnan(g) * 3l + signbit(g) * 5l;
    r[11] = (uint)l.x * 7u + (uint)l.y;
    r[12] = bitselect(a[i], a[i + 1], a[i + 2]);
    r[13] = as_uint(bitselect(as_float(0x3f800000u | a[i] >> 12), 2.0f, as_float(0x007fff0fu)));
    r[14] = bitselect((uint4)(a[i]), as_uint4((float4)(x == x ? x : 1.0f)), (uint4)(0xffu)).y;
    r[15] = (uint)(bitselect((long)a[i], (long)a[i + 1] << 20, 0xffff0000ffffl) >> 7);
    r[16] = as_uint(select(1.5f, 2.5f, (uint)(a[i] & 1)));
    r[17] = (uint)select((char4)(1), as_char4(a[i]), as_char4(a[i + 1])).y;
    r[18] = any(q[0]) | all(q[0]) << 1 | any(isnan(v)) << 2 | all(isfinite(w)) << 3;
    r[19] = (x < y) | (x >= y) << 1 | (x != x) << 2 | !(x > y) << 3 | (x != 0.0f ? 16 : 0) | (!y ? 32 : 0) | (x && y) << 6;
}
