"""Math functions (OpenCL C 3.0, section 6.15.2)."""

from __future__ import annotations

from .rows import rows

SECTION = "6.15.2"

TABLE = (
    *rows(
        "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erf erfc exp exp2 exp10 expm1"
        " fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi tgamma trunc",
        "Tn @(Tn) for T in floats, n in any",
        section=SECTION,
        pure=True,
    ),
    *rows(
        "atan2 atan2pi copysign fdim fmod hypot maxmag minmag nextafter pow powr remainder",
        "Tn @(Tn, Tn) for T in floats, n in any",
        section=SECTION,
        pure=True,
    ),
    *rows(
        "fmax fmin",
        "Tn @(Tn, Tn) for T in floats, n in any",
        "Tn @(Tn, T) for T in floats, n in vectors",
        section=SECTION,
        pure=True,
    ),
    *rows("fma mad", "Tn @(Tn, Tn, Tn) for T in floats, n in any", section=SECTION, pure=True),
    *rows("ilogb", "intn @(Tn) for T in floats, n in any", section=SECTION, pure=True),
    *rows(
        "ldexp",
        "Tn @(Tn, intn) for T in floats, n in any",
        "Tn @(Tn, int) for T in floats, n in vectors",
        section=SECTION,
        lowering="ldexp",
        pure=True,
    ),
    *rows("pown rootn", "Tn @(Tn, intn) for T in floats, n in any", section=SECTION, pure=True),
    *rows("nan", "Tn @(Un) for T in floats, n in any", section=SECTION, pure=True),
    *rows("fract modf sincos", "Tn @(Tn, writable Tn *) for T in floats, n in any", section=SECTION),
    *rows("frexp lgamma_r", "Tn @(Tn, writable intn *) for T in floats, n in any", section=SECTION),
    *rows("remquo", "Tn @(Tn, Tn, writable intn *) for T in floats, n in any", section=SECTION),
    *rows(
        "half_cos half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_recip half_rsqrt half_sin half_sqrt"
        " half_tan native_cos native_exp native_exp2 native_exp10 native_log native_log2 native_log10 native_recip"
        " native_rsqrt native_sin native_sqrt native_tan",
        "floatn @(floatn) for n in any",
        section=SECTION,
        pure=True,
    ),
    *rows(
        "half_divide half_powr native_divide native_powr",
        "floatn @(floatn, floatn) for n in any",
        section=SECTION,
        pure=True,
    ),
)
