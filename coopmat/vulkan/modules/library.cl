// Builtin functions of float that GLSL.std.450 lacks, or computes only for a part of the arguments.
//
// `library.py` calls __vk_NAME in the place of NAME. For a function that stores a second result, __vk_NAME_2 returns it.
// Nothing here needs double, which many Vulkan devices lack. The functions of powers follow fdlibm:
// Copyright (C) 1993 by Sun Microsystems, Inc. Permission to use, copy, modify, and distribute this software is freely
// granted, provided that this notice is preserved.

#pragma OPENCL FP_CONTRACT OFF

typedef float real;
typedef float2 real2;
typedef uint bits;
typedef uint2 bits2;
#define as_real as_float
#define PI_HI 3.14159274f
#define PI_LO -8.74227766e-08f
#define INVERSE_PI 0.318309886f
#define LN_2 0.693147182f

float __vk_sinpi(float);
float __vk_signed_power(float, float, int);
float __vk_powr(float, float);

int __vk_is_zero(float x)
{
    return as_uint(x) << 1 == 0u;
}

float __vk_upper(float x)
{
    return as_float(as_uint(x) & 0xfffff000u);
}

// x * 2^n for any n. Only the last product may be subnormal, so that it is rounded once.
float __vk_ldexp(float x, int n)
{
    for (int k = 0; k < 2 && n > 127; k++) {
        x *= 0x1p127f;
        n -= 127;
    }
    for (int k = 0; k < 2 && n < -126; k++) {
        x *= 0x1p-102f;
        n += 102;
    }
    return x * as_float((uint)(clamp(n, -126, 127) + 127) << 23);
}

int __vk_frexp_2(float x)
{
    const uint bits = as_uint(x) & 0x7fffffffu;
    if (bits == 0 || bits >= 0x7f800000u)
        return 0;
    return bits < 0x00800000u ? -117 - (int)clz(bits) : (int)(bits >> 23) - 126;
}

float __vk_frexp(float x)
{
    uint bits = as_uint(x);
    const uint sign = bits & 0x80000000u;
    bits ^= sign;
    if (bits == 0 || bits >= 0x7f800000u)
        return x;
    if (bits < 0x00800000u)
        bits <<= clz(bits) - 8;
    return as_float(sign | (bits & 0x007fffffu) | 0x3f000000u);
}

// The remainder of x / y, of x's sign, and the lowest bits of the quotient, by long division of the significands.
uint2 __vk_divide(float x, float y)
{
    uint a = as_uint(x) & 0x7fffffffu, b = as_uint(y) & 0x7fffffffu, quotient = 0;
    const int ea = max((int)(a >> 23), 1), eb = max((int)(b >> 23), 1);
    if (a < b)
        return (uint2)(a, 0u);
    a = (a & 0x007fffffu) | (a >= 0x00800000u ? 0x00800000u : 0u);
    b = (b & 0x007fffffu) | (b >= 0x00800000u ? 0x00800000u : 0u);
    for (int n = ea - eb; n >= 0; n--) {
        quotient <<= 1;
        if (a >= b) {
            a -= b;
            quotient |= 1u;
        }
        if (n > 0)
            a <<= 1;
    }
    if (a == 0)
        return (uint2)(0u, quotient);
    const int shift = min((int)clz(a) - 8, eb - 1);
    a <<= shift;
    return (uint2)(a >= 0x00800000u ? (a & 0x007fffffu) | (uint)(eb - shift) << 23 : a, quotient);
}

// log2(x) in two parts for positive finite x, and 2^(hi + lo).
float2 __vk_log2_parts(float x)
{
    int n = 0;
    if (as_uint(x) < 0x00800000u) {
        x *= 16777216.0f;
        n = -24;
    }
    uint bits = as_uint(x);
    n += (int)(bits >> 23) - 127;
    const uint j = bits & 0x007fffffu;
    bits = j | 0x3f800000u;
    int k = 0;
    if (j > 0x1cc471u && j < 0x5db3d7u)
        k = 1;
    else if (j >= 0x5db3d7u) {
        n += 1;
        bits -= 0x00800000u;
    }
    const float ax = as_float(bits), bp = k ? 1.5f : 1.0f;
    float u = ax - bp, v = 1.0f / (ax + bp);
    const float s = u * v, sh = __vk_upper(s);
    float th = as_float(((bits >> 1) & 0xfffff000u | 0x20000000u) + 0x00400000u + ((uint)k << 21));
    float tl = ax - (th - bp);
    const float sl = v * ((u - sh * th) - sh * tl);
    float s2 = s * s;
    float r = s2 * s2 * (6.0000002384e-01f + s2 * (4.2857143283e-01f + s2 * (3.3333334327e-01f +
              s2 * (2.7272811532e-01f + s2 * (2.3066075146e-01f + s2 * 2.0697501302e-01f)))));
    r += sl * (sh + s);
    s2 = sh * sh;
    th = __vk_upper(3.0f + s2 + r);
    tl = r - ((th - 3.0f) - s2);
    u = sh * th;
    v = sl * th + tl * s;
    const float ph = __vk_upper(u + v), pl = v - (ph - u);
    const float zh = 9.6191406250e-01f * ph;
    const float zl = -1.1736857402e-04f * ph + pl * 9.6179670095e-01f + (k ? 1.56322085e-06f : 0.0f);
    const float dp = k ? 5.84960938e-01f : 0.0f, t = (float)n;
    const float hi = __vk_upper(((zh + zl) + dp) + t);
    return (float2)(hi, zl - (((hi - t) - dp) - zh));
}

float __vk_exp2_parts(float hi, float lo)
{
    float z = hi + lo;
    if (z >= 128.5f)
        return INFINITY;
    if (z < -151.0f)
        return 0.0f;
    const float n = rint(z);
    hi -= n;
    const float t = __vk_upper(lo + hi);
    const float u = t * 6.93145752e-01f, v = (lo - (t - hi)) * 6.9314718246e-01f + t * 1.42860654e-06f;
    z = u + v;
    const float w = v - (z - u), s = z * z;
    const float q = z - s * (1.6666667163e-01f + s * (-2.7777778450e-03f + s * (6.6137559770e-05f +
                    s * (-1.6533901999e-06f + s * 4.1381369442e-08f))));
    const float r = (z * q) / (q - 2.0f) - (w + z * w);
    return __vk_ldexp(1.0f - (r - z), (int)n);
}

// |x|^y for finite x that is not 0, and any finite y.
float __vk_magnitude(float x, float y)
{
    x = fabs(x);
    if (fabs(y) > 1.0e10f)
        return x == 1.0f ? 1.0f : (x > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f;
    const float2 t = __vk_log2_parts(x);
    const float yh = __vk_upper(y);
    const float lo = (y - yh) * t.x + y * t.y, hi = yh * t.x;
    return __vk_exp2_parts(hi, lo);
}

int __vk_parity(float y)
{
    // 0: no integer; 1: odd; 2: even.
    if (fabs(y) >= 16777216.0f)
        return 2;
    const int n = (int)y;
    return (float)n != y ? 0 : n & 1 ? 1 : 2;
}

float __vk_pown(float x, int n)
{
    // Two steps: the float of n has 24 bits.
    const float high = (float)(n / 4096 * 4096), low = (float)(n % 4096);
    if (n == 0)
        return 1.0f;
    if (high == 0.0f || low == 0.0f || isnan(x) || isinf(x) || x == 0.0f)
        return __vk_signed_power(x, high + low, n & 1 ? 1 : 2);
    const float2 t = __vk_log2_parts(fabs(x));
    const float th = __vk_upper(t.x), tl = t.y + (t.x - th);
    const float hi = th * high, lo = tl * high + t.x * low + t.y * low;
    const float r = fabs(hi) > 1.0e6f ? (hi > 0.0f ? INFINITY : 0.0f) : __vk_exp2_parts(hi, lo);
    return (n & 1) && x < 0.0f ? -r : r;
}

float __vk_root(float x, int n)
{
    const float2 t = __vk_log2_parts(x);
    const float d = (float)n, q = t.x / d;
    const float qh = __vk_upper(q), dh = __vk_upper(d);
    const float rest = ((t.x - qh * dh) - qh * (d - dh)) + t.y;
    return __vk_exp2_parts(qh, rest / d);
}

// e^(hi + lo), for |hi + lo| below 200: the product with log2(e) in two parts.
float __vk_exp_parts(float hi, float lo)
{
    const float h = __vk_upper(hi), l = (hi - h) + lo;
    return __vk_exp2_parts(h * 1.44238281f, h * 3.12229636e-04f + l * 1.44269504f);
}

float __vk_half_exp_of(float x)
{
    return __vk_exp_parts(fmin(x, 190.0f), -LN_2);
}

float __vk_exp(float x)
{
    return isnan(x) ? x : __vk_exp_parts(clamp(x, -200.0f, 200.0f), 0.0f);
}

float __vk_exp2(float x)
{
    return isnan(x) ? x : __vk_exp2_parts(x, 0.0f);
}

float __vk_exp10(float x)
{
    if (isnan(x))
        return x;
    x = clamp(x, -60.0f, 60.0f);
    const float h = __vk_upper(x), l = x - h;
    return __vk_exp2_parts(h * 3.3203125f, h * 1.61559489e-03f + l * 3.32192809f);
}

float __vk_expm1(float x)
{
    if (x == 0.0f)
        return x;
    if (fabs(x) < 0.35f)
        return x + x * x * (0.5f + x * (1.6666667e-1f + x * (4.1666668e-2f + x * (8.3333338e-3f +
               x * (1.3888889e-3f + x * (1.984127e-4f + x * 2.4801588e-5f))))));
    return __vk_exp(x) - 1.0f;
}

float __vk_log_scaled(float x, float upper, float lower, float whole)
{
    if (isnan(x) || x < 0.0f)
        return NAN;
    if (x == 0.0f || isinf(x))
        return x == 0.0f ? -INFINITY : x;
    const float2 t = __vk_log2_parts(x);
    return t.x * upper + (t.x * lower + t.y * whole);
}

float __vk_log(float x)
{
    return __vk_log_scaled(x, 6.93145752e-01f, 1.42860654e-06f, 6.9314718246e-01f);
}

float __vk_log2(float x)
{
    return __vk_log_scaled(x, 1.0f, 0.0f, 1.0f);
}

float __vk_log10(float x)
{
    return __vk_log_scaled(x, 3.01025391e-01f, 4.60503e-06f, 3.0102999566e-01f);
}

float __vk_log1p(float x)
{
    if (fabs(x) < 1.0e-5f || isnan(x) || x <= -1.0f || isinf(x))
        return fabs(x) < 1.0e-5f ? x - 0.5f * x * x : x == -1.0f ? -INFINITY : x < -1.0f ? NAN : x;
    const float u = 1.0f + x, rest = x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
    return __vk_log(u) + rest / u;
}

// x * 2 / pi reduced to the range of -1/2 to 1/2 with a quadrant, for any finite x: the bits of 2 / pi are multiplied.
float2 __vk_reduced(float x, int *quadrant)
{
    const uint bits = as_uint(x) & 0x7fffffffu;
    const float ax = as_float(bits);
    if (ax < 0.7853981f) {
        *quadrant = 0;
        return (float2)(ax, 0.0f);
    }
    const int e = (int)(bits >> 23) - 150;
    const uint m = (bits & 0x007fffffu) | 0x00800000u;
    // 2 / pi from the bit on that counts half circles, as three words: those before it count whole circles.
    const int start = e + 30, word = start >> 5, bit = start & 31;
    uint w[4];
    for (int n = 0; n < 4; n++) {
        const int k = word + n;
        w[n] = k == 0 ? 0u : k == 1 ? 0xa2f9836eu : k == 2 ? 0x4e441529u : k == 3 ? 0xfc2757d1u : k == 4 ? 0xf534ddc0u
             : k == 5 ? 0xdb629599u : k == 6 ? 0x3c439041u : k == 7 ? 0xfe5163abu : 0xdebbc561u;
    }
    uint p[3];
    for (int n = 0; n < 3; n++)
        p[n] = bit ? w[n] << bit | w[n + 1] >> (32 - bit) : w[n];
    // m * p, of which the highest bits are whole multiples of four quadrants.
    const uint low = m * p[2], mid = m * p[1], carry0 = mul_hi(m, p[2]);
    const uint second = mid + carry0, carry1 = mul_hi(m, p[1]) + (second < mid ? 1u : 0u);
    uint hi = m * p[0] + carry1, lo = second;
    int q = (int)(hi >> 30);
    hi <<= 2;
    hi |= lo >> 30;
    lo = lo << 2 | low >> 30;
    const int is_negative = hi >> 31;
    if (is_negative) {
        q += 1;
        lo = ~lo;
        hi = ~hi;
    }
    *quadrant = q & 3;
    const int zeros = hi ? (int)clz(hi) : 32 + (int)clz(lo | 1u);
    const uint top = zeros < 32 ? (zeros ? hi << zeros | lo >> (32 - zeros) : hi) : lo << (zeros - 32);
    const float f = __vk_ldexp((float)(top >> 8), -24 - zeros), g = __vk_ldexp((float)(top & 0xffu), -32 - zeros);
    // times pi / 2
    const float fh = __vk_upper(f), fl = (f - fh) + g;
    const float a = fh * 1.5703125f, b = fh * 4.83826795e-04f + fl * 1.57079633f;
    const float r = a + b, s = b - (r - a);
    return is_negative ? (float2)(-r, -s) : (float2)(r, s);
}

float __vk_sin_small(float2 r)
{
    const float s = r.x * r.x;
    return r.x + (r.y + r.x * s * (-1.6666667e-1f + s * (8.3333310e-3f + s * (-1.9839335e-4f + s * 2.7183114e-6f))));
}

float __vk_cos_small(float2 r)
{
    const float s = r.x * r.x;
    return 1.0f - (0.5f * s - (s * s * (4.1666646e-2f + s * (-1.3887316e-3f + s * 2.4433157e-5f)) - r.x * r.y));
}

// pi x in two parts.
float2 __vk_times_pi(float x)
{
    const float h = __vk_upper(x), a = h * 3.140625f, b = h * 9.67653590e-04f + (x - h) * 3.14159265f;
    return (float2)(a + b, b - ((a + b) - a));
}

float __vk_asin_small(float x)
{
    const float s = x * x;
    return x + x * s * (1.6666752e-1f + s * (7.4953003e-2f + s * (4.5470025e-2f + s * (2.4181312e-2f + s * 4.2163199e-2f))));
}

// The arc tangent of t in [-tan(pi/8), tan(pi/8)].
float __vk_atan_small(float t)
{
    const float s = t * t;
    return t + t * s * (-3.33329491539e-1f + s * (1.99777106478e-1f + s * (-1.38776856032e-1f + s * 8.05374449538e-2f)));
}

// erfc(x) = e^(-x^2) times a rational function, after Numerical Recipes' Chebyshev fit; erf near 0 by its series.
float __vk_erfc_positive(float x)
{
    const float t = 2.0f / (2.0f + x), y = 4.0f * t - 2.0f;
    const float c[18] = {
        -1.3026537197817094f, 6.4196979235649026e-1f, 1.9476473204185836e-2f, -9.561514786808631e-3f,
        -9.46595344482036e-4f, 3.66839497852761e-4f, 4.2523324806907e-5f, -2.0278578112534e-5f,
        -1.624290004647e-6f, 1.303655835580e-6f, 1.5626441722e-8f, -8.5238095915e-8f,
        6.529054439e-9f, 5.059343495e-9f, -9.91364156e-10f, -2.27365122e-10f, 9.6467911e-11f, 2.394038e-12f,
    };
    float d = 0.0f, dd = 0.0f;
    for (int n = 15; n > 0; n--) {
        const float old = d;
        d = y * d - dd + c[n];
        dd = old;
    }
    const float h = __vk_upper(x), l = x - h;
    const float tail = 0.5f * (c[0] + y * d) - dd;
    return t * __vk_exp_parts(-h * h, tail - l * (x + h));
}

float __vk_erf(float x)
{
    const float a = fabs(x);
    if (isnan(x))
        return x;
    if (a < 0.9f) {
        const float s = x * x;
        return x * (1.1283791671f + s * (-0.37612638903f + s * (0.1128379167f + s * (-2.6866170645e-2f +
               s * (5.2239776254e-3f + s * (-8.5483270234e-4f + s * (1.2055332982e-4f + s * (-1.4925650358e-5f + s * 1.6462114366e-6f))))))));
    }
    return copysign(a > 4.5f ? 1.0f : 1.0f - __vk_erfc_positive(a), x);
}

float __vk_erfc(float x)
{
    if (isnan(x))
        return x;
    if (x < 0.5f)
        return x < -4.5f ? 2.0f : 1.0f - __vk_erf(x);
    return x > 10.5f ? 0.0f : __vk_erfc_positive(x);
}

// The logarithm of gamma(x) for x >= 5, by Stirling's series, in two parts.
float2 __vk_stirling(float x)
{
    const float2 t = __vk_log2_parts(x);
    const float s = 1.0f / x, s2 = s * s, y = x - 0.5f;
    // y * ln(x) in two parts.
    const float product = t.x * 0.693359375f, lh = __vk_upper(product);
    const float ll = (product - lh) + (t.x * -2.12194440e-04f + t.y * 6.9314718246e-01f);
    const float yh = __vk_upper(y), yl = y - yh;
    const float hi = yh * lh, lo = yl * lh + y * ll;
    const float h = __vk_upper(hi - x), rest = (hi - h) - x;
    return (float2)(h, lo + rest + 0.918938533f + s * (8.3333333e-2f + s2 * (-2.7777778e-3f + s2 * (7.9365079e-4f +
                    s2 * (-5.9523810e-4f + s2 * 8.4175084e-4f)))));
}

// gamma(x) for x >= 0.5: gamma(x + n) by Stirling's series, divided by x (x + 1) ... (x + n - 1).
float __vk_tgamma_positive(float x)
{
    float p = 1.0f;
    for (int n = 0; n < 5 && x < 5.0f; n++) {
        p *= x;
        x += 1.0f;
    }
    const float2 t = __vk_stirling(x);
    return __vk_exp_parts(t.x, t.y) / p;
}

float __vk_tgamma(float x)
{
    if (isnan(x) || x == -INFINITY || (x < 0.0f && floor(x) == x))
        return NAN;
    if (x == 0.0f || x == INFINITY || x > 36.0f)
        return x == 0.0f ? copysign(INFINITY, x) : INFINITY;
    if (x < -43.0f)
        return ((int)floor(x) & 1) ? -0.0f : 0.0f;
    if (x < 0.5f) {
        if (fabs(x) < 1.0e-7f)
            return 1.0f / x;
        const float s = __vk_sinpi(x);
        // gamma(1 - x) = gamma(-x) * -x, without rounding 1 - x.
        return x > -0.5f ? 3.14159265f / s / __vk_tgamma_positive(1.0f - x)
                         : 3.14159265f / s / __vk_tgamma_positive(-x) / -x;
    }
    return __vk_tgamma_positive(x);
}

float __vk_lgamma_positive(float x)
{
    if (x < 8.0f)
        return __vk_log(__vk_tgamma_positive(x + 1.0f) / x);
    if (x > 1.0e9f)
        return x * (__vk_log(x) - 1.0f);
    const float2 t = __vk_stirling(x);
    return t.x + t.y;
}

float __vk_lgamma(float x)
{
    if (isnan(x) || isinf(x))
        return fabs(x);
    if (x > 0.0f)
        return x == 1.0f || x == 2.0f ? 0.0f : x < 1.0e-6f ? -__vk_log(x) : __vk_lgamma_positive(x);
    if (floor(x) == x)
        return INFINITY;
    if (x > -1.0e-6f)
        return -__vk_log(-x);
    return __vk_log(3.14159265f / fabs(x * __vk_sinpi(x))) - __vk_lgamma_positive(-x);
}

// Of the functions that need less accuracy, those that GLSL computes wrongly for some arguments.

float __vk_half_powr(float x, float y)
{
    return __vk_powr(x, y);
}

float __vk_half_log(float x)
{
    return __vk_log(x);
}

float __vk_half_log2(float x)
{
    return __vk_log2(x);
}

float __vk_half_log10(float x)
{
    return __vk_log10(x);
}
