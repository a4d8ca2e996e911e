// Builtin functions of double, which GLSL.std.450 lacks: `library.py` calls __vk_NAME in the place of NAME.
//
// A double2 (hi, lo) is a number in two parts, hi + lo. No step needs fma, which a Vulkan driver may round twice. The
// polynomials are Chebyshev interpolants of the functions, computed with 60 digits.

#pragma OPENCL FP_CONTRACT OFF

typedef double real;
typedef double2 real2;
typedef ulong bits;
typedef ulong2 bits2;
#define as_real as_double
#define PI_HI 0x1.921fb54442d18p+1
#define PI_LO 0x1.1a62633145c07p-53
#define INVERSE_PI 0x1.45f306dc9c883p-2
#define LN_2 0x1.62e42fefa39efp-1
#define LN_2_LO 0x1.abc9e3b39803fp-56
#define ONE ((double2)(1.0, 0.0))

double __vk_sinpi(double);
double __vk_signed_power(double, double, int);

double2 __vk_fast_sum(double a, double b) {
    const double s = a + b;
    return (double2)(s, b - (s - a));
}
double2 __vk_sum(double a, double b) {
    const double s = a + b, t = s - a;
    return (double2)(s, (a - (s - t)) + (b - t));
}
double2 __vk_product(double a, double b) {
    const double ah = as_double(as_ulong(a) & 0xfffffffff8000000ul), al = a - ah, p = a * b;
    const double bh = as_double(as_ulong(b) & 0xfffffffff8000000ul), bl = b - bh;
    return (double2)(p, ((ah * bh - p) + ah * bl + al * bh) + al * bl);
}
double2 __vk_add(double2 a, double2 b) {
    const double2 s = __vk_sum(a.x, b.x);
    return __vk_fast_sum(s.x, s.y + (a.y + b.y));
}
double2 __vk_mul(double2 a, double2 b) {
    const double2 p = __vk_product(a.x, b.x);
    return __vk_fast_sum(p.x, p.y + (a.x * b.y + a.y * b.x));
}
double2 __vk_div(double2 a, double2 b) {
    const double q = a.x / b.x;
    const double2 p = __vk_product(q, b.x);
    return __vk_fast_sum(q, ((((a.x - p.x) - p.y) + a.y) - q * b.y) / b.x);
}

// --- the parts of a number

int __vk_is_zero(double x) { return as_ulong(x) << 1 == 0ul; }
double __vk_scale(int n) { return as_double((ulong)(n + 1023) << 52); }

// x * 2^n for any n. Only the last product may be subnormal, so that it is rounded once.
double __vk_ldexp(double x, int n) {
    for (int k = 0; k < 2 && n > 1023; k++) {
        x *= 0x1p1023;
        n -= 1023;
    }
    for (int k = 0; k < 2 && n < -1022; k++) {
        x *= 0x1p-969;
        n += 969;
    }
    return x * __vk_scale(clamp(n, -1022, 1023));
}
int __vk_frexp_2(double x) {
    const ulong bits = as_ulong(x) << 1 >> 1;
    if (bits == 0 || bits >= 0x7ff0000000000000ul) return 0;
    return bits >> 52 ? (int)(bits >> 52) - 1022 : -1010 - (int)clz(bits);
}
double __vk_frexp(double x) {
    const ulong bits = as_ulong(x) << 1 >> 1, sign = as_ulong(x) ^ bits;
    if (bits == 0 || bits >= 0x7ff0000000000000ul) return x;
    const ulong normal = bits >> 52 ? bits : bits << (clz(bits) - 11ul);
    return as_double(sign | normal & 0x000ffffffffffffful | 0x3fe0000000000000ul);
}

// The remainder of x / y, of x's sign, and the lowest bits of the quotient: a long division by digits of 11 bits.
ulong2 __vk_divide(double x, double y) {
    ulong a = as_ulong(x) << 1 >> 1, b = as_ulong(y) << 1 >> 1, quotient = 0;
    const int ea = max((int)(a >> 52), 1), eb = max((int)(b >> 52), 1);
    if (a < b) return (ulong2)(a, 0ul);
    a = a & 0x000ffffffffffffful | (ulong)(a >> 52 != 0) << 52;
    b = b & 0x000ffffffffffffful | (ulong)(b >> 52 != 0) << 52;
    for (int n = ea - eb, step = 0; n >= 0; n -= step) {
        a <<= step;
        quotient = quotient << step | a / b;
        a %= b;
        if (n == 0) break;
        step = min(n, 11);
    }
    if (a == 0) return (ulong2)(0ul, quotient);
    const int shift = min((int)clz(a) - 11, eb - 1);
    a <<= shift;
    return (ulong2)(a >> 52 ? a & 0x000ffffffffffffful | (ulong)(eb - shift) << 52 : a, quotient);
}

// --- powers and logarithms

// e^(hi + lo) is (1 + result) * 2^n.
double __vk_exp_parts(double2 x, int *n) {
    const double k = rint(x.x * 0x1.71547652b82fep+0);
    const double2 r = __vk_sum(x.x - k * 0x1.62e42fefa3800p-1, x.y - k * 0x1.ef35793c76730p-45);
    const double z = r.x;
    *n = (int)k;
    return z + (r.y + r.y * z + z * z * (0.5 + z * (0.1666666666666667 + z * (0.04166666666666667 +
           z * (0.008333333333326084 + z * (0.0013888888888883711 + z * (0.0001984126987500228 +
           z * (2.480158732567746e-05 + z * (2.755725517000089e-06 + z * (2.755727347871858e-07 +
           z * (2.5105312729622103e-08 + z * 2.09147553258932e-09)))))))))));
}
double __vk_exp_of(double2 x) {
    if (isnan(x.x) || x.x > 710.0 || x.x < -746.0) return isnan(x.x) ? x.x : x.x > 0.0 ? INFINITY : 0.0;
    int n;
    const double r = __vk_exp_parts(x, &n);
    return __vk_ldexp(1.0 + r, n);
}
double __vk_exp(double x) { return __vk_exp_of((double2)(x, 0.0)); }
double __vk_limited(double x) { return fabs(x) > 2000.0 ? copysign(2000.0, x) : x; }
double __vk_exp2(double x) { return __vk_exp_of(__vk_mul((double2)(__vk_limited(x), 0.0), (double2)(LN_2, LN_2_LO))); }
double __vk_exp10(double x) {
    const double2 ln10 = (double2)(0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53);
    return __vk_exp_of(__vk_mul((double2)(__vk_limited(x), 0.0), ln10));
}
double __vk_expm1(double x) {
    if (isnan(x) || fabs(x) < 0x1p-54) return x;
    if (x > 700.0 || x < -45.0) return x > 0.0 ? __vk_exp(x) : -1.0;
    int n;
    const double r = __vk_exp_parts((double2)(x, 0.0), &n), t = __vk_scale(n);
    return n > 60 ? t + t * r : (t - 1.0) + t * r;
}

// The logarithm of hi + lo, positive and finite: with s = (m - 1) / (m + 1), ln(m) = 2 s (1 + s^2 / 3 + ...).
double2 __vk_log_of(double2 x) {
    int n = 0;
    if (x.x < 0x1p-1022) {
        x *= 0x1p54;
        n = -54;
    }
    const int k = (int)((long)(as_ulong(x.x) - 0x3fe6a09e667f3bcdul) >> 52);
    const double m = as_double(as_ulong(x.x) - ((ulong)(long)k << 52)), low = __vk_ldexp(x.y, -k);
    const double2 above = __vk_sum(m, 1.0);
    const double2 s = __vk_div(__vk_sum(m - 1.0, low), (double2)(above.x, above.y + low));
    const double2 w = __vk_mul(s, s), third = (double2)(0x1.5555555555555p-2, 0x1.5555555555555p-56);
    const double z = w.x;
    double2 t = __vk_mul(w, third);
    t = __vk_add(ONE, (double2)(t.x, t.y + z * z * (0.2 + z * (0.14285714285714285 + z * (0.11111111111111079 +
           z * (0.09090909090923434 + z * (0.07692307689153612 + z * (0.06666667064638648 +
           z * (0.05882322420348329 + z * (0.05264602657471524 + z * (0.04720794255737978 +
           z * 0.049869812552945716)))))))))));
    t = __vk_mul(2.0 * s, t);
    const double e = (double)(n + k);
    return __vk_add(__vk_fast_sum(e * 0x1.62e42fefa3800p-1, e * 0x1.ef35793c76730p-45), t);
}
double __vk_scaled_log(double2 x, double2 factor) {
    if (isnan(x.x) || x.x < 0.0) return NAN;
    if (x.x == 0.0 || isinf(x.x)) return x.x == 0.0 ? -INFINITY : x.x;
    return __vk_mul(__vk_log_of(x), factor).x;
}
double __vk_log(double x) { return __vk_scaled_log((double2)(x, 0.0), ONE); }
double __vk_log2(double x) {
    return __vk_scaled_log((double2)(x, 0.0), (double2)(0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56));
}
double __vk_log10(double x) {
    return __vk_scaled_log((double2)(x, 0.0), (double2)(0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57));
}
double __vk_log1p(double x) {
    return fabs(x) < 0x1p-54 || isinf(x) && x > 0.0 ? x : __vk_scaled_log(__vk_sum(1.0, x), ONE);
}
int __vk_parity(double y) {
    // 0: no integer; 1: odd; 2: even.
    return floor(y) != y ? 0 : fabs(y) < 0x1p53 && ((long)y & 1l) ? 1 : 2;
}
double __vk_pown(double x, int n) { return __vk_signed_power(x, (double)n, n & 1 ? 1 : 2); }

// |x|^y for positive finite x that is not 1, and any finite y.
double __vk_magnitude(double x, double y) {
    const double2 log_x = __vk_log_of((double2)(x, 0.0));
    return __vk_exp_of(__vk_mul((double2)(clamp(y, -0x1p70, 0x1p70), 0.0), log_x));
}
double __vk_root(double x, int n) {
    return __vk_exp_of(__vk_div(__vk_log_of((double2)(x, 0.0)), (double2)((double)n, 0.0)));
}
double __vk_half_exp_of(double x) { return __vk_exp_of(__vk_sum(x, -LN_2)); }

// --- trigonometric functions

// The bits of 2 / pi, 64 in a word, behind a word of zeros.
constant ulong __vk_two_over_pi[21] = {
    0x0000000000000000ul, 0xa2f9836e4e441529ul, 0xfc2757d1f534ddc0ul, 0xdb6295993c439041ul, 0xfe5163abdebbc561ul,
    0xb7246e3a424dd2e0ul, 0x06492eea09d1921cul, 0xfe1deb1cb129a73eul, 0xe88235f52ebb4484ul, 0xe99c7026b45f7e41ul,
    0x3991d639835339f4ul, 0x9c845f8bbdf9283bul, 0x1ff897ffde05980ful, 0xef2f118b5a0a6d1ful, 0x6d367ecf27cb09b7ul,
    0x4f463f669e5fea2dul, 0x7527bac7ebe5f17bul, 0x3d0739f78a5292eaul, 0x6bfb5fb11f8d5d08ul, 0x56033046fc7b6babul,
    0xf0cfbc209af4361dul,
};

// |x| modulo pi / 2, in two parts between -pi/4 and pi/4, and the quadrant.
double2 __vk_reduced(double x, int *quadrant) {
    const ulong bits = as_ulong(x) << 1 >> 1;
    *quadrant = 0;
    if (as_double(bits) < 0.78539816) return (double2)(as_double(bits), 0.0);
    // Those bits of 2 / pi whose products count whole circles are left out.
    const int start = (int)(bits >> 52) - 1013, word = start >> 6, bit = start & 63;
    const ulong m = bits & 0x000ffffffffffffful | 0x0010000000000000ul;
    ulong p[3];
    for (int n = 0; n < 3; n++) {
        const ulong w = __vk_two_over_pi[word + n];
        p[n] = bit ? w << bit | __vk_two_over_pi[word + n + 1] >> (64 - bit) : w;
    }
    const ulong mid = m * p[1];
    ulong low = m * p[2], lo = mid + mul_hi(m, p[2]);
    ulong hi = m * p[0] + mul_hi(m, p[1]) + (ulong)(lo < mid);
    const int q = (int)(hi >> 62) + (int)(hi >> 61 & 1ul), is_negative = (int)(hi >> 61 & 1ul);
    *quadrant = q & 3;
    hi = hi << 2 | lo >> 62;
    lo = lo << 2 | low >> 62;
    low <<= 2;
    if (is_negative) {
        hi = ~hi;
        lo = ~lo;
        low = ~low;
    }
    int zeros = 0;
    if (hi == 0) {
        hi = lo;
        lo = low;
        zeros = 64;
    }
    const int z = (int)clz(hi);
    hi = z ? hi << z | lo >> (64 - z) : hi;
    lo = z ? lo << z | low >> (64 - z) : lo;
    zeros += z;
    const double f = (double)(hi >> 11) * __vk_scale(-53 - zeros);
    const double g = (double)((hi & 0x7fful) << 42 | lo >> 22) * __vk_scale(-106 - zeros);
    const double2 r = __vk_mul((double2)(f, g), (double2)(0.5 * PI_HI, 0.5 * PI_LO));
    return is_negative ? -r : r;
}
double __vk_sin_small(double2 r) {
    const double s = r.x * r.x;
    return r.x + (r.y * (1.0 - 0.5 * s) + r.x * s * (-0.16666666666666666 + s * (0.008333333333333331 +
           s * (-0.00019841269841265017 + s * (2.755731921930192e-06 + s * (-2.5052106219521895e-08 +
           s * (1.6058529572267877e-10 + s * -7.586576588171073e-13)))))));
}
double __vk_cos_small(double2 r) {
    const double s = r.x * r.x;
    return 1.0 - (0.5 * s - (s * s * (0.041666666666666664 + s * (-0.0013888888888888887 +
           s * (2.4801587301584618e-05 + s * (-2.7557319221382114e-07 + s * (2.087675578389404e-09 +
           s * (-1.1470459749675607e-11 + s * 4.745804889760674e-14)))))) - r.x * r.y));
}
double2 __vk_times_pi(double x) { return __vk_mul((double2)(x, 0.0), (double2)(PI_HI, PI_LO)); }
double __vk_atan_small(double t) {
    const double s = t * t;
    return t + t * s * (-0.3333333333333333 + s * (0.1999999999999999 + s * (-0.14285714285711462 +
           s * (0.11111111110748204 + s * (-0.09090909066620619 + s * (0.07692306722341972 +
           s * (-0.0666664171730274 + s * (0.05881920848081943 + s * (-0.05257998906332238 +
           s * (0.04719122942432905 + s * (-0.04103337746741777 + s * (0.030610274694365922 +
           s * -0.013892520207010399))))))))))));
}

// asin(x) for |x| <= 1/2.
double __vk_asin_small(double x) {
    const double s = x * x;
    return x + x * s * (0.16666666666666669 + s * (0.07499999999998433 + s * (0.04464285714635543 +
           s * (0.030381944138531247 + s * (0.02237217294214989 + s * (0.017352392720869973 +
           s * (0.013971212973552933 + s * (0.011479177415184906 + s * (0.01032281435018578 +
           s * (0.005457506718640358 + s * (0.01740087944269402 + s * (-0.014851887071247204 +
           s * 0.028757851367421566))))))))))));
}

// --- the error function and gamma

// erfc(x) for x >= 1: e^(-x^2) / (1 + 2 x) times a polynomial in (x - 4) / (x + 4).
double __vk_large_erfc(double x) {
    const double t = (x - 4.0) / (x + 4.0);
    return __vk_exp_of(-__vk_product(x, x)) * (1.2329951186255526 + t * (-0.1396211168405625 +
           t * (0.015379652102620047 + t * (0.06809705425469148 + t * (-0.10103906603632565 +
           t * (0.09373283499840035 + t * (-0.06633036581162595 + t * (0.03716751553652095 +
           t * (-0.01619773406635194 + t * (0.005031969987801236 + t * (-0.0007577732155551305 +
           t * (-0.00019925675422499271 + t * (0.00015062128361876382 + t * (-2.4398983591409e-05 +
           t * (-1.1220667649645475e-05 + t * (5.70912776046001e-06 + t * (2.9074119438248933e-07 +
           t * (-8.243027649952213e-07 + t * (7.899517782302222e-08 + t * (1.0857618495266024e-07 +
           t * (-2.150014799842398e-08 + t * (-1.2841683673634664e-08 + t * (3.14200947436974e-09 +
           t * 7.472710600073621e-10))))))))))))))))))))))) / (1.0 + 2.0 * x);
}
double __vk_erf(double x) {
    const double a = fabs(x), s = x * x;
    if (a < 1.0)
        return x * (1.1283791670955126 + s * (-0.37612638903183754 + s * (0.1128379167095512 +
               s * (-0.02686617064512984 + s * (0.0052239776254232985 + s * (-0.000854832702193483 +
               s * (0.00012055332902888736 + s * (-1.4925647567519332e-05 + s * (1.6462045441468418e-06 +
               s * (-1.6364642158167616e-07 + s * (1.4792401209404813e-08 + s * (-1.216456005728345e-09 +
               s * (8.709045129053106e-11 + s * -4.230945824295338e-12)))))))))))));
    return isnan(x) ? x : copysign(a > 6.0 ? 1.0 : 1.0 - __vk_large_erfc(a), x);
}
double __vk_erfc(double x) {
    if (isnan(x) || x > 27.5 || x < -6.5) return isnan(x) ? x : x > 0.0 ? 0.0 : 2.0;
    return x >= 1.0 ? __vk_large_erfc(x) : x > -1.0 ? 1.0 - __vk_erf(x) : 2.0 - __vk_large_erfc(-x);
}

// ln(gamma(hi + lo)) for positive numbers, by Stirling's series at 12 or above, plus ln(*divisor).
double2 __vk_stirling(double2 x, double *divisor) {
    *divisor = 1.0;
    const double first = x.x;
    double n = 0.0;
    for (; first + n < 12.0; n += 1.0) *divisor *= first + n + x.y;
    x = __vk_add(x, (double2)(n, 0.0));
    const double s = 1.0 / x.x, z = s * s;
    const double2 rest = __vk_sum(0x1.d67f1c864beb5p-1, s * (0.08333333333333333 + z * (-0.002777777777777778 +
           z * (0.0007936507936507937 + z * (-0.0005952380952380953 + z * (0.0008417508417508417 +
           z * (-0.0019175269175269176 + z * (0.00641025641025641 + z * -0.029550653594771242))))))));
    const double2 main = __vk_mul(__vk_add(x, (double2)(-0.5, 0.0)), __vk_log_of(x));
    return __vk_add(__vk_add(main, -x), rest);
}
double __vk_tgamma(double x) {
    if (isnan(x) || x == -INFINITY || x < 0.0 && floor(x) == x) return NAN;
    if (fabs(x) < 0x1p-57) return 1.0 / x;
    if (x > 172.0 || x < -190.0) return x > 0.0 ? INFINITY : (long)floor(x) & 1l ? -0.0 : 0.0;
    double d;
    if (x >= 0.5) {
        const double2 t = __vk_stirling((double2)(x, 0.0), &d);
        return __vk_exp_of(t) / d;
    }
    // gamma(x) gamma(1 - x) = pi / sin(pi x); the square root of 1 / gamma(1 - x) does not underflow.
    const double2 t = __vk_stirling(__vk_sum(1.0, -x), &d);
    const double e = __vk_exp_of(-0.5 * t);
    return PI_HI * d / __vk_sinpi(x) * e * e;
}
double __vk_lgamma(double x) {
    const double a = fabs(x);
    if (isnan(x) || isinf(x) || a < 0x1p-60) return isnan(x) || isinf(x) ? a : -__vk_log(a);
    if (x < 0.0 && floor(x) == x) return INFINITY;
    double d;
    const double2 t = __vk_stirling((double2)(a, 0.0), &d);
    const double r = x == 1.0 || x == 2.0 ? 0.0 : a > 0x1p900 ? a * (__vk_log(a) - 1.0) : t.x - __vk_log(d);
    return x < 0.0 ? __vk_log(PI_HI / (a * fabs(__vk_sinpi(x)))) - r : r;
}

