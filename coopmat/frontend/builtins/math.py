"""Math functions (OpenCL C 3.0, section 6.15.2)."""

from __future__ import annotations

from functools import partial

from .rows import rows

_rows = partial(rows, section="6.15.2", pure=True)

TABLE = (
    *_rows(
        "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erf erfc exp exp2 exp10 expm1"
        " fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi tgamma trunc",
        "Tn @(Tn) for T in floats, n in any",
    ),
    *_rows(
        "atan2 atan2pi copysign fdim fmod hypot maxmag minmag nextafter pow powr remainder",
        "Tn @(Tn, Tn) for T in floats, n in any",
    ),
    *_rows("fmax fmin", "Tn @(Tn, Tn) for T in floats, n in any", "Tn @(Tn, T) for T in floats, n in vectors"),
    *_rows("fma mad", "Tn @(Tn, Tn, Tn) for T in floats, n in any"),
    *_rows("ilogb", "intn @(Tn) for T in floats, n in any"),
    *_rows(
        "ldexp",
        "Tn @(Tn, intn) for T in floats, n in any",
        "Tn @(Tn, int) for T in floats, n in vectors",
        lowering="ldexp",
    ),
    *_rows("pown rootn", "Tn @(Tn, intn) for T in floats, n in any"),
    *_rows("nan", "Tn @(Un) for T in floats, n in any"),
    *_rows("fract modf sincos", "Tn @(Tn, writable Tn *) for T in floats, n in any", pure=False),
    *_rows("frexp lgamma_r", "Tn @(Tn, writable intn *) for T in floats, n in any", pure=False),
    *_rows("remquo", "Tn @(Tn, Tn, writable intn *) for T in floats, n in any", pure=False),
    *_rows(
        "half_cos half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_recip half_rsqrt half_sin half_sqrt"
        " half_tan native_cos native_exp native_exp2 native_exp10 native_log native_log2 native_log10 native_recip"
        " native_rsqrt native_sin native_sqrt native_tan",
        "floatn @(floatn) for n in any",
    ),
    *_rows("half_divide half_powr native_divide native_powr", "floatn @(floatn, floatn) for n in any"),
)
