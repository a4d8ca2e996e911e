// Vectors of 2 to 16 components: arithmetic, swizzles, conversions, shuffles, selections, loads and stores.
#pragma OPENCL FP_CONTRACT OFF
#define N 24

uint sum16(uint16 v)
{
    const uint8 a = v.lo * 3u + v.hi;
    const uint4 b = a.even * 5u + a.odd;
    return b.x + b.y * 7u + b.z * 11u + b.w * 13u;
}

kernel void test(global uint *o, global const uint *a)
{
    const size_t i = get_global_id(0);
    global uint *r = o + N * i;
    const uint16 x = vload16(i & 31, a), y = vload16((i + 5) & 31, a);
    const uint8 p = vload8(i & 63, a), q = vload8((i + 9) & 63, a);
    const uint3 t = vload3(i, a);
    const int16 sx = as_int16(x), sy = as_int16(y);
    const float16 f = convert_float16(sx >> 12), g = convert_float16(sy >> 20);
    r[0] = sum16(x * y + (x ^ y));
    r[1] = sum16(x % (y | 1u)) + sum16(x / (y >> 16 | 1u));
    r[2] = sum16(as_uint16(f * g + f - g));
    r[3] = sum16(as_uint16(sx < sy)) + sum16(as_uint16(f >= g));
    r[4] = sum16(as_uint16(select(f, g, x)));
    r[5] = sum16(select(x, y, sx > sy));
    r[6] = sum16(shuffle(x, y & 15u));
    r[7] = sum16(shuffle2(x, y, x >> 3 & 31u));
    r[8] = sum16(shuffle2(p, q, (uint16)(0, 15, 3, 9, 8, 7, 1, 2, 4, 5, 6, 10, 11, 12, 13, 14)));
    r[9] = sum16((uint16)(shuffle(x, (uint8)(15, 0, 14, 1, 13, 2, 12, 3)), p));
    r[10] = as_uint(convert_char4_sat(sx.s0123)) + as_uint(convert_uchar4_sat(sy.s89ab));
    r[11] = as_uint(convert_uchar4_sat_rte(f.s4567 * 0.01f)) + as_uint(convert_short2_sat(sx.hi.s01));
    r[12] = any(sx > sy) + 2 * all(sx > sy) + 4 * any(sx.s3 > 0) + 8 * all(f.s012 > g.s012);
    r[13] = t.x + t.y * 3u + t.z * 5u + dot(convert_float3(t >> 24), (float3)(1, 2, 3));
    uint16 z = x;
    z.s3 = z[i & 15];
    z[(i + 3) & 15] = 77u;
    z.hi = z.lo.s76543210;
    z.odd += 3u;
    r[14] = sum16(z);
    const ulong8 w = convert_ulong8(p) * convert_ulong8(q) + 3ul;
    r[15] = sum16((uint16)(convert_uint8(w >> 32), convert_uint8(w)));
    const uchar16 c = as_uchar16(x.s0123) + as_uchar16(y.s4567);
    r[16] = as_uint4(c).x ^ as_uint4(c).w ^ sum16(convert_uint16(c));
    const short8 h = as_short8(p.lo) >> (short8)3;
    vstore8(as_ushort8(h), 0, (global ushort *)(r + 17));
    const int2 e = convert_int2_rtz(f.s37 * 0.3f) + convert_int2_rtp(g.sab * 0.7f) + convert_int2_rtn(f.sef * 0.9f);
    r[21] = as_uint(e.x) + 9u * as_uint(e.y);
    const double4 d = convert_double4(sx.s4567) * 0.5;
    r[22] = convert_uint4_sat(fabs(d)).z + (uint)(d.x > d.y);
    r[23] = as_uint(length(f.s012) > 3.0f ? cross(floor(f.s012 * 0.1f), floor(g.s345 * 0.1f)).y : 1.0f);
}
