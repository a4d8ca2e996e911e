// Integer functions of all types, scalars and vectors. Each word of the output is of one function.
#define N 20
#define TYPE(T, U, BITS)                                                                                     \
    {                                                                                                        \
        const T x = (T)w, y = (T)(w >> 17), z = (T)(w >> 41);                                                \
        const T s[20] = {mad_sat(x, y, z), mul_hi(x, y), mad_hi(x, y, z), rotate(x, y), popcount(x), clz(x), \
            ctz(x), hadd(x, y), rhadd(x, y), (T)abs_diff(x, y), add_sat(x, y), sub_sat(x, y), (T)abs(x),     \
            min(x, y), max(x, z), clamp(x, min(y, z), max(y, z)), x / (y ? y : (T)1), x % (y ? y : (T)1),    \
            (T)(x >> (z & (T)(BITS - 1))), (T)(x << (y & (T)(BITS - 1)))};                                   \
        for (int n = 0; n < 20; n++)                                                                         \
            h[n] = h[n] * 31u + (uint)s[n] + (uint)((ulong)s[n] >> 32);                                      \
    }
#define VECTOR(T)                                                                             \
    {                                                                                         \
        const T x = as_##T((ulong2)(w, w * 3ul)), y = as_##T((ulong2)(w >> 9, w * 5ul)), z = y + x; \
        const T r = mad_sat(x, y, z) ^ rotate(x, y) ^ hadd(x, y) ^ add_sat(x, z) ^ sub_sat(y, z) ^ clz(x) \
            ^ popcount(y) ^ mul_hi(x, z) ^ as_##T(abs_diff(x, y)) ^ ctz(z) ^ clamp(x, (T)3, (T)90); \
        const uint4 u = as_uint4(r);                                                          \
        h[n++] += u.x * 3u + u.y * 5u + u.z * 7u + u.w;                                       \
    }

kernel void test(global uint *o, global const uint *a)
{
    const size_t i = get_global_id(0);
    uint h[N] = {0};
    for (int k = 0; k < 4; k++) {
        const ulong w = (ulong)a[4 * i + k] << 32 | a[4 * i + k + 300];
        TYPE(char, uchar, 8)
        TYPE(uchar, uchar, 8)
        TYPE(short, ushort, 16)
        TYPE(ushort, ushort, 16)
        TYPE(int, uint, 32)
        TYPE(uint, uint, 32)
        TYPE(long, ulong, 64)
        TYPE(ulong, ulong, 64)
        int n = 0;
        VECTOR(char16)
        VECTOR(uchar16)
        VECTOR(short8)
        VECTOR(ushort8)
        VECTOR(int4)
        VECTOR(uint4)
        VECTOR(long2)
        VECTOR(ulong2)
        h[8] += upsample((char)w, (uchar)(w >> 8)) + upsample((ushort)w, (ushort)(w >> 20));
        h[9] += (uint)(upsample((int)w, (uint)(w >> 30)) >> 16) + mul24((int)w << 8 >> 8, 77) + mad24((uint)w & 0xffffffu, 3u, 9u);
        h[10] += (uint)upsample((uchar4)(w, w >> 8, w >> 16, w >> 24), (uchar4)(7)).z;
    }
    for (int n = 0; n < N; n++)
        o[N * i + n] = h[n];
}
