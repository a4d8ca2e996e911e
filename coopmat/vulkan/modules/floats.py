"""OpenCL's builtin functions of floating point that few instructions compute, and its relational functions."""

from __future__ import annotations

import math

from ...spirv.module import numbers
from .arithmetic import Arithmetic
from .integers import Function

_LOG2_10, _LOG10_2 = 3.321928094887362, 0.3010299956639812
_TRUNC, _FLOOR, _FMIN, _EXP2, _LOG2, _POW, _FABS, _FMA = 3, 8, 37, 29, 30, 26, 4, 50
_EVEN, _ZERO, _UP, _DOWN = numbers("FPRoundingMode.*", "RTE RTZ RTP RTN")
# width -> (bits of the mantissa, largest number below 1)
_FORMATS = {16: (10, 1 - 2.0**-11), 32: (23, 1 - 2.0**-24), 64: (52, 1 - 2.0**-53)}


def _sign_mask(a: Arithmetic, bits: int) -> int:
    return a.same(bits, 1 << a.bits(bits) - 1)


def _copysign(a: Arithmetic, x: int, y: int) -> int:
    magnitude, sign = a.as_integers(x), a.as_integers(y)
    mask = _sign_mask(a, magnitude)
    joined = a.op("OpBitwiseOr", a.op("OpBitwiseAnd", magnitude, a.op("OpNot", mask)), a.op("OpBitwiseAnd", sign, mask))
    return a.cast(joined, a.code.type_of(x))


def _round(a: Arithmetic, x: int) -> int:
    """Round halves away from zero."""
    whole = a.call(_TRUNC, x)
    rest = a.call(_FABS, a.op("OpFSub", x, whole))
    is_up = a.test("OpFOrdGreaterThanEqual", rest, a.same(x, 0.5))
    return a.select(is_up, a.op("OpFAdd", whole, _copysign(a, a.same(x, 1), x)), whole)


def _fdim(a: Arithmetic, x: int, y: int) -> int:
    return a.select(a.test("OpFOrdLessThanEqual", x, y), a.same(x, 0), a.op("OpFSub", x, y))


def _fma(a: Arithmetic, x: int, y: int, z: int) -> int:
    """Return x y + z, rounded once for half. Vulkan lets drivers round the product, too, and lavapipe does for half.

    In float, a product of half is exact. The sum's error is computed as in Knuth, TAOCP 2, 4.2.2, theorem B; if there
    is one, the sum is rounded to odd, so that the conversion to half rounds like that of the exact sum.
    """
    if a.bits(x) != 16:
        return a.call(_FMA, x, y, z)
    half = a.code.type_of(x)
    single = a.like(half, a.globals.intern("OpTypeFloat", 32))
    x, y, z = (a.code.add("OpFConvert", single, value) for value in (x, y, z))
    product = a.exact("OpFMul", x, y)
    total = a.exact("OpFAdd", product, z)
    of_z = a.exact("OpFSub", total, product)
    error = a.exact("OpFAdd", a.exact("OpFSub", product, a.exact("OpFSub", total, of_z)), a.exact("OpFSub", z, of_z))
    bits, zero = a.as_integers(total), a.same(error, 0)
    is_even = a.test("OpIEqual", a.op("OpBitwiseAnd", bits, a.same(bits, 1)), a.same(bits, 0))
    is_same_sign = a.test(
        "OpLogicalEqual", a.test("OpFOrdGreaterThan", error, zero), a.test("OpFOrdGreaterThan", total, zero)
    )
    step = a.select(is_same_sign, a.same(bits, 1), a.same(bits, -1))
    is_rounded = a.op("OpLogicalAnd", a.test("OpFOrdNotEqual", error, zero), is_even)
    odd = a.select(is_rounded, a.op("OpIAdd", bits, step), bits)
    return a.code.add("OpFConvert", half, a.cast(odd, single))


def _magnitude(a: Arithmetic, x: int, y: int, larger: bool) -> int:
    """Return the operand of larger or smaller magnitude; of equal magnitudes, the maximum or minimum."""
    ax, ay = a.call(_FABS, x), a.call(_FABS, y)
    names = ("OpFOrdGreaterThan", "OpFOrdLessThan")
    first, second = (a.test(name, ax, ay) for name in (names if larger else names[::-1]))
    return a.select(first, x, a.select(second, y, a.call(80 if larger else 79, x, y)))


def _bitselect(a: Arithmetic, x: int, y: int, mask: int) -> int:
    bits = [a.as_integers(value) if a.is_float(value) else value for value in (x, y, mask)]
    no, yes = a.op("OpBitwiseAnd", bits[0], a.op("OpNot", bits[2])), a.op("OpBitwiseAnd", bits[1], bits[2])
    return a.cast(a.op("OpBitwiseOr", no, yes), a.code.type_of(x))


def _select(a: Arithmetic, x: int, y: int, condition: int) -> int:
    is_vector = a.width(a.code.type_of(condition)) > 1
    test = a.negative(condition) if is_vector else a.test("OpINotEqual", condition, a.same(condition, 0))
    return a.select(test, y, x)


def _nan(a: Arithmetic, code: int) -> int:
    bits = a.bits(code)
    quiet = ((1 << bits - 1) - 1) & ~((1 << _FORMATS[bits][0] - 1) - 1)
    target = a.like(a.code.type_of(code), a.globals.intern("OpTypeFloat", bits))
    return a.cast(a.op("OpBitwiseOr", code, a.same(code, quiet)), target)


def _fract(a: Arithmetic, x: int) -> tuple[int, int]:
    """Return the fraction and the floor."""
    whole = a.call(_FLOOR, x)
    part = a.call(_FMIN, a.op("OpFSub", x, whole), a.same(x, _FORMATS[a.bits(x)][1]))
    is_odd = a.test("OpIsInf", x)
    part = a.select(is_odd, _copysign(a, a.same(x, 0), x), part)
    return a.select(a.test("OpIsNan", x), x, part), whole


def _modf(a: Arithmetic, x: int) -> tuple[int, int]:
    whole = a.call(_TRUNC, x)
    part = a.select(a.test("OpIsInf", x), a.same(x, 0), a.op("OpFSub", x, whole))
    return _copysign(a, part, x), whole


def _sincos(a: Arithmetic, x: int) -> tuple[int, int]:
    return a.call(13, x), a.call(14, x)


def _cross(a: Arithmetic, x: int, y: int) -> int:
    """Return the cross product of three components; a fourth is 0."""
    type_id = a.code.type_of(x)
    if a.width(type_id) == 3:
        return a.call(68, x, y)
    three = a.globals.intern("OpTypeVector", a.scalar(type_id), 3)
    short = [a.code.add("OpVectorShuffle", three, value, value, 0, 1, 2) for value in (x, y)]
    zero = a.constant(a.scalar(type_id), 0)
    return a.code.add("OpCompositeConstruct", type_id, a.call(68, *short), zero)


def _exp10(a: Arithmetic, x: int) -> int:
    return a.call(_EXP2, a.op("OpFMul", x, a.same(x, _LOG2_10)))


def _log10(a: Arithmetic, x: int) -> int:
    return a.op("OpFMul", a.call(_LOG2, x), a.same(x, _LOG10_2))


def _reciprocal(a: Arithmetic, x: int) -> int:
    return a.op("OpFDiv", a.same(x, 1), x)


def _divide(a: Arithmetic, x: int, y: int) -> int:
    return a.op("OpFDiv", x, y)


def _power(a: Arithmetic, x: int, y: int) -> int:
    return a.call(_POW, x, y)


def _sign(a: Arithmetic, x: int) -> int:
    is_zero = a.test("OpFOrdEqual", x, a.same(x, 0))
    signed = _copysign(a, a.select(is_zero, a.same(x, 0), a.same(x, 1)), x)
    return a.select(a.test("OpIsNan", x), a.same(x, 0), signed)


def _nextafter(a: Arithmetic, x: int, y: int) -> int:
    """Step the bits of x towards y; the bits of a positive number grow with it."""
    bits, kind = a.as_integers(x), a.code.type_of(x)
    is_up = a.test("OpFOrdLessThan", x, y)
    is_positive = a.test("OpFOrdGreaterThan", x, a.same(x, 0))
    grows = a.code.add("OpLogicalEqual", a.code.type_of(is_up), is_up, is_positive)
    step = a.select(grows, a.same(bits, 1), a.same(bits, -1))
    moved = a.cast(a.op("OpIAdd", bits, step), kind)
    least = a.cast(
        a.op("OpBitwiseOr", a.op("OpBitwiseAnd", a.as_integers(y), _sign_mask(a, bits)), a.same(bits, 1)), kind
    )
    moved = a.select(a.test("OpFOrdEqual", x, a.same(x, 0)), least, moved)
    moved = a.select(a.test("OpFOrdEqual", x, y), y, moved)
    return a.select(a.test("OpIsNan", x), x, a.select(a.test("OpIsNan", y), y, moved))


def to_half(a: Arithmetic, x: int, mode: int) -> int:
    """Return floats as halves, rounded as `mode` of FPRoundingMode states: a conversion by Vulkan may round otherwise.

    The steps are those on the bits of the float: numbers too large, normal halves, and subnormal ones, whose bits a
    shift by the exponent makes. Then the bits that are lost decide about adding one.
    """
    bits = a.as_integers(x)
    sign = a.op("OpBitwiseAnd", bits, _sign_mask(a, bits))
    size = a.op("OpBitwiseXor", bits, sign)
    is_small = a.test("OpULessThan", size, a.same(size, 0x38800000))
    exponent = a.shift("OpShiftRightLogical", size, 23)
    # The bits that a half loses: 13, and more for subnormal halves; of the smallest numbers, all.
    lost = a.call(38, a.op("OpISub", a.same(size, 126), exponent), a.same(size, 31))
    lost = a.select(is_small, lost, a.same(size, 13))
    mantissa = a.op("OpBitwiseOr", a.op("OpBitwiseAnd", size, a.same(size, 0x007FFFFF)), a.same(size, 0x00800000))
    mantissa = a.select(a.test("OpULessThan", size, a.same(size, 0x00800000)), a.same(size, 0), mantissa)
    source = a.select(is_small, mantissa, a.op("OpISub", size, a.same(size, 0x38000000)))
    one = a.same(size, 1)
    whole = a.op("OpShiftRightLogical", source, lost)
    rest = a.op("OpISub", source, a.op("OpShiftLeftLogical", whole, lost))
    half = a.op("OpShiftLeftLogical", one, a.op("OpISub", lost, one))
    is_inexact = a.test("OpINotEqual", a.op("OpBitwiseOr", rest, _tiny(a, size, source)), a.same(size, 0))
    whole = a.op("OpIAdd", whole, _increment(a, mode, whole, rest, half, is_inexact, sign))
    largest = a.same(size, 0x7BFF if mode == _ZERO else 0x7C00)
    if mode in (_UP, _DOWN):
        is_negative = a.test("OpINotEqual", sign, a.same(sign, 0))
        order = (0x7BFF, 0x7C00) if mode == _UP else (0x7C00, 0x7BFF)
        largest = a.select(is_negative, a.same(size, order[0]), a.same(size, order[1]))
    whole = a.select(a.test("OpUGreaterThanEqual", size, a.same(size, 0x47800000)), largest, whole)
    whole = a.select(a.test("OpUGreaterThanEqual", size, a.same(size, 0x7F800000)), a.same(size, 0x7C00), whole)
    whole = a.select(a.test("OpUGreaterThan", size, a.same(size, 0x7F800000)), a.same(size, 0x7E00), whole)
    joined = a.convert("OpUConvert", a.op("OpBitwiseOr", whole, a.shift("OpShiftRightLogical", sign, 16)), 16)
    return a.cast(joined, a.like(a.code.type_of(x), a.globals.intern("OpTypeFloat", 16)))


def _tiny(a: Arithmetic, size: int, source: int) -> int:
    """Return a nonzero value for subnormal floats, whose mantissa is dropped."""
    return a.select(a.test("OpIEqual", source, a.same(size, 0)), size, a.same(size, 0))


def _increment(a: Arithmetic, mode: int, whole: int, rest: int, half: int, is_inexact: int, sign: int) -> int:
    """Return 1 for halves whose magnitude is rounded up, and 0 for others."""
    kind = a.code.type_of(is_inexact)
    zero, one = a.same(whole, 0), a.same(whole, 1)
    if mode == _ZERO:
        return zero
    if mode == _EVEN:
        is_odd = a.test("OpINotEqual", a.op("OpBitwiseAnd", whole, one), zero)
        is_tie = a.code.add("OpLogicalAnd", kind, a.test("OpIEqual", rest, half), is_odd)
        return a.select(a.code.add("OpLogicalOr", kind, a.test("OpUGreaterThan", rest, half), is_tie), one, zero)
    name = "OpIEqual" if mode == _UP else "OpINotEqual"
    return a.select(a.code.add("OpLogicalAnd", kind, is_inexact, a.test(name, sign, zero)), one, zero)


FUNCTIONS: dict[str, Function] = {
    "degrees": lambda a, x: a.op("OpFMul", x, a.same(x, 180 / math.pi)),
    "radians": lambda a, x: a.op("OpFMul", x, a.same(x, math.pi / 180)),
    "bitselect": _bitselect,
    "copysign": _copysign,
    "cross": _cross,
    "fdim": _fdim,
    "fma": _fma,
    "mad": lambda a, x, y, z: a.op("OpFAdd", a.op("OpFMul", x, y), z),
    "maxmag": lambda a, x, y: _magnitude(a, x, y, True),
    "minmag": lambda a, x, y: _magnitude(a, x, y, False),
    "nan": _nan,
    "nextafter": _nextafter,
    "sign": _sign,
    "round": _round,
    "select": _select,
    **{f"{kind}_exp10": _exp10 for kind in ("half", "native")},
    **{f"{kind}_log10": _log10 for kind in ("half", "native")},
    **{f"{kind}_recip": _reciprocal for kind in ("half", "native")},
    **{f"{kind}_divide": _divide for kind in ("half", "native")},
    **{f"{kind}_powr": _power for kind in ("half", "native")},
}
# Functions that return a value and store another through their last operand.
WITH_POINTER = {"fract": _fract, "modf": _modf, "sincos": _sincos}
