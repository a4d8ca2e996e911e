// Builtin functions of float and of double, in terms of those of `library.cl` or `doubles.cl`, which precede this text.
//
// real: the type. bits: the unsigned integer of its size. real2: a value, and what it lacks to the exact result.

real __vk_with_sign(real x, real y)
{
    return copysign(x, y);
}

int __vk_ilogb(real x)
{
    return __vk_is_zero(x) ? -2147483647 - 1 : isnan(x) || isinf(x) ? 2147483647 : __vk_frexp_2(x) - 1;
}

real __vk_logb(real x)
{
    return isnan(x) || isinf(x) ? fabs(x) : __vk_is_zero(x) ? -INFINITY : (real)(__vk_frexp_2(x) - 1);
}

int __vk_has_no_remainder(real x, real y)
{
    return isnan(x) || isnan(y) || isinf(x) || __vk_is_zero(y);
}

real __vk_fmod(real x, real y)
{
    if (__vk_has_no_remainder(x, y))
        return NAN;
    return isinf(y) ? x : __vk_with_sign(as_real(__vk_divide(x, y).x), x);
}

int __vk_rounds_up(real rest, real y, bits quotient)
{
    // y / 2 may be subnormal: compare the doubled remainder, unless that overflows.
    const real other = fabs(y) - rest;
    return rest > other || (rest == other && (quotient & 1u));
}

real __vk_remainder(real x, real y)
{
    if (__vk_has_no_remainder(x, y))
        return NAN;
    if (isinf(y))
        return x;
    const bits2 parts = __vk_divide(x, y);
    const real rest = as_real(parts.x);
    if (__vk_rounds_up(rest, y, parts.y))
        return __vk_with_sign(rest - fabs(y), signbit(x) ? 1.0f : -1.0f);
    return __vk_with_sign(rest, x);
}

real __vk_remquo(real x, real y)
{
    return __vk_remainder(x, y);
}

int __vk_remquo_2(real x, real y)
{
    if (__vk_has_no_remainder(x, y) || isinf(y))
        return 0;
    const bits2 parts = __vk_divide(x, y);
    const int quotient = (int)((parts.y + (bits)__vk_rounds_up(as_real(parts.x), y, parts.y)) & 0x7fu);
    return signbit(x) != signbit(y) ? -quotient : quotient;
}

real __vk_hypot(real x, real y)
{
    if (isinf(x) || isinf(y))
        return INFINITY;
    if (isnan(x) || isnan(y))
        return NAN;
    const int e = __vk_frexp_2(fmax(fabs(x), fabs(y)));
    const real s = __vk_ldexp(x, -e), t = __vk_ldexp(y, -e);
    return __vk_ldexp(sqrt(s * s + t * t), e);
}

// --- powers

real __vk_signed_power(real x, real y, int parity)
{
    if (y == 0.0f || x == 1.0f)
        return 1.0f;
    if (isnan(x) || isnan(y))
        return NAN;
    const real ax = fabs(x);
    real r;
    if (isinf(y))
        r = ax == 1.0f ? 1.0f : (ax > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f;
    else if (ax == 0.0f || isinf(ax))
        r = (ax == 0.0f) == (y > 0.0f) ? 0.0f : INFINITY;
    else if (x < 0.0f && parity == 0)
        return NAN;
    else
        r = __vk_magnitude(ax, y);
    return parity == 1 && signbit(x) ? -r : r;
}

real __vk_pow(real x, real y)
{
    return __vk_signed_power(x, y, isinf(y) ? 2 : __vk_parity(y));
}

real __vk_powr(real x, real y)
{
    if (x < 0.0f || isnan(x) || isnan(y))
        return NAN;
    if ((x == 0.0f && y == 0.0f) || (isinf(x) && y == 0.0f) || (x == 1.0f && isinf(y)))
        return NAN;
    return __vk_signed_power(fabs(x), y, 2);
}

real __vk_rootn(real x, int n)
{
    if (n == 0 || isnan(x) || (x < 0.0f && !(n & 1)))
        return NAN;
    const real ax = fabs(x);
    const int is_extreme = ax == 0.0f || isinf(ax);
    const real r = !is_extreme ? __vk_root(ax, n) : (ax == 0.0f) == (n > 0) ? 0.0f : INFINITY;
    return (n & 1) && signbit(x) ? -r : r;
}

real __vk_cbrt(real x)
{
    return isinf(x) || x == 0.0f ? x : __vk_rootn(x, 3);
}

// --- trigonometric functions: the cosine is the sine in the next quadrant

real __vk_sine(real2 r, int quadrant)
{
    const real v = quadrant & 1 ? __vk_cos_small(r) : __vk_sin_small(r);
    return quadrant & 2 ? -v : v;
}

real __vk_tangent(real2 r, int q, real x)
{
    if (r.x == 0.0f)
        return __vk_with_sign(q & 1 ? INFINITY : 0.0f, q & 2 ? -x : x);
    return __vk_with_sign(1.0f, x) * (__vk_sine(r, q) / __vk_sine(r, q + 1));
}

real __vk_sin(real x)
{
    int q;
    const real2 r = __vk_reduced(x, &q);
    return isnan(x) || isinf(x) ? NAN : r.x == 0.0f ? x : __vk_with_sign(1.0f, x) * __vk_sine(r, q);
}

real __vk_cos(real x)
{
    int q;
    const real2 r = __vk_reduced(x, &q);
    return isnan(x) || isinf(x) ? NAN : __vk_sine(r, q + 1);
}

real __vk_tan(real x)
{
    int q;
    const real2 r = __vk_reduced(x, &q);
    return isnan(x) || isinf(x) ? NAN : __vk_tangent(r, q, x);
}

real __vk_sincos(real x)
{
    return __vk_sin(x);
}

real __vk_sincos_2(real x)
{
    return __vk_cos(x);
}

// pi |x| modulo pi / 2, and the quadrant.
real2 __vk_half_turns(real x, int *quadrant)
{
    const real y = fabs(x) - 2.0f * floor(fabs(x) * 0.5f), n = rint(2.0f * y);
    *quadrant = (int)n;
    return __vk_times_pi(y - 0.5f * n);
}

real __vk_sinpi(real x)
{
    int q;
    const real2 r = __vk_half_turns(x, &q);
    const real v = __vk_sine(r, q);
    return isnan(x) || isinf(x) ? NAN : v == 0.0f ? __vk_with_sign(0.0f, x) : __vk_with_sign(1.0f, x) * v;
}

real __vk_cospi(real x)
{
    int q;
    const real2 r = __vk_half_turns(x, &q);
    return isnan(x) || isinf(x) ? NAN : __vk_sine(r, q + 1) + 0.0f;
}

real __vk_tanpi(real x)
{
    int q;
    const real2 r = __vk_half_turns(x, &q);
    return isnan(x) || isinf(x) ? NAN : __vk_tangent(r, q, x);
}

// --- inverse trigonometric functions

// The angle of (b, a), both not negative: a multiple of pi / 4, and an arc tangent.
real2 __vk_angle(real a, real b)
{
    const real least = fmin(a, b), most = fmax(a, b);
    real base = 0.0f, t = most == 0.0f ? 0.0f : least / most;
    if (least > 0.41421357f * most) {
        t = (least - most) / (least + most);
        base = 1.0f;
    }
    return a > b ? (real2)(2.0f - base, -__vk_atan_small(t)) : (real2)(base, __vk_atan_small(t));
}

real __vk_atan2_by(real y, real x, int of_pi)
{
    if (isnan(x) || isnan(y))
        return NAN;
    real ay = fabs(y), ax = fabs(x);
    if (isinf(ax) || isinf(ay)) {
        const real other = isinf(ax) && isinf(ay) ? 1.0f : 0.0f;
        ay = isinf(ay) ? 1.0f : other;
        ax = isinf(ax) ? 1.0f : other;
    }
    if (!signbit(x) && ay < 0x1p-30f * ax)
        return __vk_with_sign(of_pi ? ay / ax * INVERSE_PI : ay / ax, y);
    const int e = -__vk_frexp_2(fmax(ax, ay));
    const real2 p = __vk_angle(__vk_ldexp(ay, e), __vk_ldexp(ax, e));
    const real n = signbit(x) ? 4.0f - p.x : p.x, r = signbit(x) ? -p.y : p.y;
    const real angle = of_pi ? 0.25f * n + r * INVERSE_PI : n * 0.25f * PI_HI + (n * 0.25f * PI_LO + r);
    return __vk_with_sign(angle, y);
}

real __vk_atan2(real y, real x)
{
    return __vk_atan2_by(y, x, 0);
}

real __vk_atan2pi(real y, real x)
{
    return __vk_atan2_by(y, x, 1);
}

real __vk_atan(real x)
{
    return x == 0.0f ? x : __vk_atan2_by(x, 1.0f, 0);
}

real __vk_atanpi(real x)
{
    return x == 0.0f ? x : __vk_atan2_by(x, 1.0f, 1);
}

real __vk_asin(real x)
{
    const real a = fabs(x);
    if (!(a <= 1.0f))
        return NAN;
    if (a < 0.5f)
        return __vk_asin_small(x);
    return __vk_with_sign(0.5f * PI_HI - (2.0f * __vk_asin_small(sqrt(0.5f * (1.0f - a))) - 0.5f * PI_LO), x);
}

real __vk_acos(real x)
{
    const real a = fabs(x);
    if (!(a <= 1.0f))
        return NAN;
    if (a < 0.5f)
        return 0.5f * PI_HI - (__vk_asin_small(x) - 0.5f * PI_LO);
    const real r = 2.0f * __vk_asin_small(sqrt(0.5f * (1.0f - a)));
    return x < 0.0f ? PI_HI - (r - PI_LO) : r;
}

real __vk_asinpi(real x)
{
    return __vk_asin(x) * INVERSE_PI;
}

real __vk_acospi(real x)
{
    return __vk_acos(x) * INVERSE_PI;
}

// --- hyperbolic functions

real __vk_sinh(real x)
{
    const real a = fabs(x);
    if (isnan(x) || isinf(x) || a < 0x1p-28f)
        return x;
    const real t = a < 1.0f ? __vk_expm1(a) : __vk_half_exp_of(a);
    return __vk_with_sign(a < 1.0f ? 0.5f * (t + t / (t + 1.0f)) : t - 0.25f / t, x);
}

real __vk_cosh(real x)
{
    const real t = __vk_half_exp_of(fabs(x));
    return isnan(x) || isinf(x) ? fabs(x) : t + 0.25f / t;
}

real __vk_tanh(real x)
{
    const real a = fabs(x);
    if (isnan(x) || x == 0.0f)
        return x;
    const real t = __vk_expm1(2.0f * fmin(a, (real)20.0f));
    return __vk_with_sign(a > 20.0f ? 1.0f : t / (t + 2.0f), x);
}

real __vk_asinh(real x)
{
    const real a = fabs(x);
    if (isnan(x) || isinf(x) || a < 0x1p-28f)
        return x;
    if (a > 0x1p30f)
        return __vk_with_sign(__vk_log(a) + LN_2, x);
    return __vk_with_sign(__vk_log1p(a + a * a / (1.0f + sqrt(1.0f + a * a))), x);
}

real __vk_acosh(real x)
{
    const real t = x - 1.0f;
    return !(x >= 1.0f) ? NAN : x > 0x1p30f ? __vk_log(x) + LN_2 : __vk_log1p(t + sqrt(2.0f * t + t * t));
}

real __vk_atanh(real x)
{
    const real a = fabs(x);
    if (!(a <= 1.0f))
        return NAN;
    return a < 0x1p-28f ? x : __vk_with_sign(a == 1.0f ? INFINITY : 0.5f * __vk_log1p(2.0f * a / (1.0f - a)), x);
}

// --- gamma

real __vk_lgamma_r(real x)
{
    return __vk_lgamma(x);
}

int __vk_lgamma_r_2(real x)
{
    if (x > 0.0f || isnan(x) || x == -INFINITY)
        return 1;
    if (floor(x) == x)
        return x == 0.0f ? (signbit(x) ? -1 : 1) : 0;
    return __vk_parity(floor(x)) == 1 ? -1 : 1;
}
