"""The exact results of math functions, to many more digits than their type has.

For half and float, float64 is that; for double, mpmath. Edge cases follow C99 and section 7.5.1 of the OpenCL C 3.0
specification. An exact result is a pair of float64 arrays: the nearest double, and what is left of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from cases import Array
from differential import NUMPY
from mpmath import mp

Exact = tuple[Array, Array]
_DIGITS = 130  # bits
_f = np.vectorize


def _python(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of Python's math module, NaN or infinite where that raises."""

    def one(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return _f(one, otypes=[float])


def _quarters(x: Array) -> tuple[Array, Array]:
    """|x| modulo 2 as quarters of a turn and the rest, in (-1/4, 1/4) of a half turn; exact."""
    y = np.fmod(np.abs(x), 2.0)
    quarters = np.rint(2 * y)
    return quarters % 4, (y - quarters / 2) * np.pi


def _sinpi(x: Array) -> Array:
    quarter, rest = _quarters(x)
    some = [np.sin(rest), np.cos(rest), -np.sin(rest), -np.cos(rest)]
    value = np.select([quarter == k for k in range(4)], some, np.nan)
    return np.where(value == 0, np.copysign(0.0, x), np.copysign(1.0, x) * value)


def _cospi(x: Array) -> Array:
    quarter, rest = _quarters(x)
    value = np.select(
        [quarter == k for k in range(4)], [np.cos(rest), -np.sin(rest), -np.cos(rest), np.sin(rest)], np.nan
    )
    return np.where(value == 0, 0.0, value)


def _tgamma(x: Array) -> Array:
    value = _python(math.gamma)(x)
    overflow = np.isinf(value) & (x < 0) & (np.floor(x) % 2 != 0)
    value = np.where(overflow, -value, value)
    return np.where(x == 0, np.copysign(np.inf, x), value)


def _powr(x: Array, y: Array) -> Array:
    bad = (x < 0) | np.isnan(x) | np.isnan(y) | ((y == 0) & ((x == 0) | np.isinf(x))) | ((x == 1) & np.isinf(y))
    return np.where(bad, np.nan, np.power(np.abs(x), y))


def _rootn(x: Array, n: Array) -> Array:
    odd = n % 2 != 0
    value = np.power(np.abs(x), 1.0 / n)
    return np.where((n == 0) | ((x < 0) & ~odd), np.nan, np.where(odd, np.copysign(value, x), value))


def _round(x: Array) -> Array:
    whole = np.trunc(x)
    return np.copysign(np.abs(whole) + (np.abs(x - whole) >= 0.5), x)


def _logb(x: Array) -> Array:
    value = np.frexp(x)[1] - 1.0
    return np.where(np.isnan(x), x, np.where(x == 0, -np.inf, np.where(np.isinf(x), np.inf, value)))


def _remainder(x: Array, y: Array) -> Array:
    def one(a: float, b: float) -> float:
        return math.remainder(a, b) if math.isfinite(a) and b != 0 and not math.isnan(b) else math.nan

    return _f(one, otypes=[float])(x, y)


def _by_magnitude(larger: bool) -> Callable[[Array, Array], Array]:
    def pick(x: Array, y: Array) -> Array:
        first, second = (np.abs(x), np.abs(y)) if larger else (np.abs(y), np.abs(x))
        otherwise = np.fmax(x, y) if larger else np.fmin(x, y)
        return np.where(first > second, x, np.where(second > first, y, otherwise))

    return pick


def _sign(x: Array) -> Array:
    return np.where(np.isnan(x), 0.0, np.where(x == 0, x, np.sign(x)))


_PI, _MP_PI = np.pi, mpmath.pi
# By name: the function of float64, which has the edge cases right, and that of mpmath's numbers.
_ROUNDING: dict[str, tuple[Callable[..., Array], Callable[..., Any] | None]] = {
    "acos": (np.arccos, mp.acos),
    "acosh": (np.arccosh, mp.acosh),
    "acospi": (lambda x: np.arccos(x) / _PI, lambda x: mp.acos(x) / _MP_PI),
    "asin": (np.arcsin, mp.asin),
    "asinh": (np.arcsinh, mp.asinh),
    "asinpi": (lambda x: np.arcsin(x) / _PI, lambda x: mp.asin(x) / _MP_PI),
    "atan": (np.arctan, mp.atan),
    "atanh": (np.arctanh, mp.atanh),
    "atanpi": (lambda x: np.arctan(x) / _PI, lambda x: mp.atan(x) / _MP_PI),
    "atan2": (np.arctan2, mp.atan2),
    "atan2pi": (lambda y, x: np.arctan2(y, x) / _PI, lambda y, x: mp.atan2(y, x) / _MP_PI),
    "cbrt": (np.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x))),
    "cos": (np.cos, mp.cos),
    "cosh": (np.cosh, mp.cosh),
    "cospi": (_cospi, mp.cospi),
    "degrees": (lambda x: x * (180 / _PI), lambda x: x * 180 / _MP_PI),
    "erf": (_python(math.erf), mp.erf),
    "erfc": (_python(math.erfc), mp.erfc),
    "exp": (np.exp, mp.exp),
    "exp2": (np.exp2, lambda x: mp.power(2, x)),
    "exp10": (lambda x: np.power(10.0, x), lambda x: mp.power(10, x)),
    "expm1": (np.expm1, mp.expm1),
    "hypot": (np.hypot, lambda x, y: mp.sqrt(x * x + y * y)),
    "log": (np.log, mp.log),
    "log2": (np.log2, lambda x: mp.log(x, 2)),
    "log10": (np.log10, mp.log10),
    "log1p": (np.log1p, mp.log1p),
    "pow": (np.power, mp.power),
    "pown": (lambda x, n: np.power(x, n.astype(float)), mp.power),
    "powr": (_powr, mp.power),
    "radians": (lambda x: x * (_PI / 180), lambda x: x * _MP_PI / 180),
    "rootn": (_rootn, lambda x, n: (1 if x > 0 else -1) * mp.power(abs(x), mp.mpf(1) / n)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lambda x: 1 / mp.sqrt(x)),
    "sin": (np.sin, mp.sin),
    "sinh": (np.sinh, mp.sinh),
    "sinpi": (_sinpi, mp.sinpi),
    "sqrt": (np.sqrt, mp.sqrt),
    "tan": (np.tan, mp.tan),
    "tanh": (np.tanh, mp.tanh),
    "tanpi": (lambda x: _sinpi(x) / _cospi(x), lambda x: mp.sinpi(x) / mp.cospi(x)),
    "tgamma": (_tgamma, mp.gamma),
    # Of float only.
    "recip": (lambda x: 1 / x, None),
    "divide": (np.divide, None),
}
# Their results are numbers of the arguments' type.
_EXACT: dict[str, Callable[..., Array]] = {
    "ceil": np.ceil,
    "copysign": np.copysign,
    "fabs": np.abs,
    "floor": np.floor,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmod": np.fmod,
    "ldexp": lambda x, n: np.ldexp(x, np.clip(n, -9999, 9999).astype(np.int32)),
    "logb": _logb,
    "max": np.fmax,
    "maxmag": _by_magnitude(larger=True),
    "min": np.fmin,
    "minmag": _by_magnitude(larger=False),
    "remainder": _remainder,
    "rint": np.rint,
    "round": _round,
    "sign": _sign,
    "step": lambda edge, x: np.where(x < edge, 0.0, 1.0),
    "trunc": np.trunc,
}


def exact(name: str, arguments: Sequence[Array]) -> Exact | None:
    """The results of the function for these arguments of one shape; None where this module does not know it."""
    element = arguments[0].dtype
    wide = [a.astype(float) if a.dtype.kind == "f" else a for a in arguments]
    name = name.removeprefix("half_").removeprefix("native_")
    with np.errstate(all="ignore"):
        if name == "nextafter":
            return _alone(np.nextafter(*arguments))
        if name in _SUMS:
            return _sum(name, arguments)
        if name in _EXACT:
            value = _EXACT[name](*wide)
            # ldexp rounds where the result is subnormal.
            return _alone(value.astype(element) if name != "ldexp" else value)
        if name not in _ROUNDING:
            return None
        function, precise = _ROUNDING[name]
        near = np.asarray(function(*wide), float)
        if element == np.float64 and precise is not None:
            return _precise(precise, wide, near)
    return near, np.zeros_like(near)


def _alone(value: Array) -> Exact:
    near = value.astype(float)
    return near, np.zeros_like(near)


def _precise(function: Callable[..., Any], arguments: Sequence[Array], near: Array) -> Exact:
    """The function by mpmath where arguments and result are finite and not zero; `near` elsewhere."""
    near, tail = near.copy(), np.zeros_like(near)
    usual = np.isfinite(near) & (near != 0)
    for a in arguments:
        # Zeros have signs, which mpmath's have not.
        usual &= np.isfinite(a) & ((a != 0) | (a.dtype.kind != "f"))
    with mp.workprec(_DIGITS):
        for at in np.argwhere(usual):
            index = tuple(at)
            values = [a[index].item() for a in arguments]
            value = function(*(mp.mpf(v) if isinstance(v, float) else v for v in values))
            near[index] = float(value)
            tail[index] = float(value - mp.mpf(float(near[index]))) if math.isfinite(near[index]) else 0.0
    return near, tail


_SUMS = ("fma", "fdim")


def _sum(name: str, arguments: Sequence[Array]) -> Exact:
    """x y + z and max(x - y, 0) as exact fractions."""
    x, y, *more = (a.astype(float) for a in arguments)
    near = (
        np.where(np.isfinite(x * y) | ~np.isfinite(x + y), x * y + more[0], more[0])
        if more
        else np.where(x > y, x - y, np.where(np.isnan(x) | np.isnan(y), np.nan, 0.0))
    )
    tail = np.zeros_like(near)
    usual = np.isfinite(x) & np.isfinite(y) & (np.isfinite(more[0]) if more else x > y)
    for at in np.argwhere(usual):
        index = tuple(at)
        a, b = Fraction(x[index]), Fraction(y[index])
        value = a * b + Fraction(more[0][index]) if more else a - b
        if value:
            near[index], tail[index] = _nearest(value)
    return near, tail


def _nearest(value: Fraction) -> tuple[float, float]:
    try:
        near = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf, 0.0
    return near, float(value - Fraction(near))


def quotient_bits(x: Array, y: Array, remainder: Array) -> Array:
    """remquo's integer: the sign and the low seven bits of the whole quotient; 0 where there is none."""

    def one(a: float, b: float, r: float) -> int:
        if not (math.isfinite(a) and math.isfinite(b)) or b == 0:
            return 0
        quotient = int((Fraction(a) - Fraction(r)) / Fraction(b)) if math.isfinite(r) else 0
        return -(-quotient & 0x7F) if quotient < 0 else quotient & 0x7F

    return _f(one, otypes=[np.int32])(x.astype(float), y.astype(float), remainder.astype(float))


# --- distances -----------------------------------------------------------------------------------


def ulps(got: Array, reference: Exact, signed_zeros: bool = True) -> Array:
    """How far each value lies from the reference, in units of the last place of the value's type.

    Infinite where one of them is NaN, where a zero has the wrong sign, and where an infinity is wrong; an infinite
    value instead of a great one counts as the next power of two.
    """
    near, tail = (part.reshape(got.shape) for part in reference)
    limits = np.finfo(got.dtype)
    beyond, infinite = 2.0 * float(limits.max) if got.dtype != np.float64 else np.inf, np.isinf(near)
    beyond = 2.0 ** float(limits.maxexp) if got.dtype != np.float64 else beyond
    with np.errstate(all="ignore"):
        value = got.astype(float)
        tail = np.where(np.abs(near) > beyond, 0.0, tail)
        near = np.where(infinite, near, np.clip(near, -beyond, beyond))
        value = np.where(np.isinf(value) & ~infinite, np.copysign(beyond, value), value)
        whole = np.where(near == 0, limits.minexp, np.frexp(near)[1])
        exponent = np.clip(whole, limits.minexp + 1, limits.maxexp) - limits.nmant - 1
        error = (
            np.abs((value - near) - tail) * 2.0 ** np.minimum(-exponent, 1000) / 2.0 ** np.minimum(1000 + exponent, 0)
        )
    error = np.where(np.isnan(near) | np.isnan(value), np.where(np.isnan(near) & np.isnan(value), 0.0, np.inf), error)
    error = np.where(infinite | np.isinf(value), np.where(value == near, 0.0, np.inf), error)
    if signed_zeros:
        error = np.where((near == 0) & (value == 0) & (np.signbit(near) != np.signbit(value)), np.inf, error)
    return error


def flushed(values: Array) -> Array:
    """Subnormal numbers as zeros of their sign."""
    if values.dtype.kind != "f":
        return values
    return np.where(np.abs(values) < np.finfo(values.dtype).tiny, np.copysign(values.dtype.type(0), values), values)


def tiny_results(reference: Exact, element: str) -> Array:
    """Where the exact result lies below the type's normal numbers."""
    return np.abs(reference[0]) < float(np.finfo(NUMPY[element]).tiny)
