"""OpenCL's builtin functions of integers, by core instructions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .arithmetic import Arithmetic

Function = Callable[..., int]


def _abs_diff(a: Arithmetic, x: int, y: int, *, less: str) -> int:
    return a.select(a.test(less, x, y), a.op("OpISub", y, x), a.op("OpISub", x, y))


def _add_sat(a: Arithmetic, x: int, y: int, *, signed: bool) -> int:
    total = a.op("OpIAdd", x, y)
    if not signed:
        return a.select(a.test("OpULessThan", total, x), a.same(x, -1), total)
    overflow = a.op("OpBitwiseAnd", a.op("OpBitwiseXor", x, total), a.op("OpBitwiseXor", y, total))
    return a.select(a.negative(overflow), _limit(a, x), total)


def _sub_sat(a: Arithmetic, x: int, y: int, *, signed: bool) -> int:
    difference = a.op("OpISub", x, y)
    if not signed:
        return a.select(a.test("OpULessThan", x, y), a.same(x, 0), difference)
    overflow = a.op("OpBitwiseAnd", a.op("OpBitwiseXor", x, y), a.op("OpBitwiseXor", x, difference))
    return a.select(a.negative(overflow), _limit(a, x), difference)


def _limit(a: Arithmetic, x: int) -> int:
    """Return the least value for negative integers, and the largest for others."""
    bits = a.bits(x)
    return a.op("OpBitwiseXor", a.shift("OpShiftRightArithmetic", x, bits - 1), a.same(x, (1 << bits - 1) - 1))


def _half_add(a: Arithmetic, x: int, y: int, *, shift: str, up: bool) -> int:
    half = a.shift(shift, a.op("OpBitwiseXor", x, y), 1)
    return a.op("OpISub", a.op("OpBitwiseOr", x, y), half) if up else a.op("OpIAdd", a.op("OpBitwiseAnd", x, y), half)


def _mad_sat(a: Arithmetic, x: int, y: int, z: int, *, signed: bool) -> int:
    """Return x * y + z, clamped; integers of less than 64 bits are computed in 64."""
    bits, extend = a.bits(x), "OpSConvert" if signed else "OpUConvert"
    if bits == 64:
        return _mad_sat_64(a, x, y, z, signed)
    wide = [a.convert(extend, value, 64) for value in (x, y, z)]
    total = a.op("OpIAdd", a.op("OpIMul", wide[0], wide[1]), wide[2])
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    total = a.select(
        a.test("OpSLessThan" if signed else "OpULessThan", a.same(total, most), total), a.same(total, most), total
    )
    if signed:
        total = a.select(a.test("OpSLessThan", total, a.same(total, least)), a.same(total, least), total)
    return a.convert("OpUConvert", total, bits)


def _mad_sat_64(a: Arithmetic, x: int, y: int, z: int, signed: bool) -> int:
    low, high = a.op("OpIMul", x, y), a.mul_high(x, y, signed)
    total = a.op("OpIAdd", low, z)
    carry = a.select(a.test("OpULessThan", total, low), a.same(x, 1), a.same(x, 0))
    high = a.op("OpIAdd", high, carry)
    if not signed:
        return a.select(a.test("OpINotEqual", high, a.same(x, 0)), a.same(x, -1), total)
    high = a.op("OpIAdd", high, a.shift("OpShiftRightArithmetic", z, 63))
    fits = a.test("OpIEqual", high, a.shift("OpShiftRightArithmetic", total, 63))
    return a.select(fits, total, _limit(a, high))


def _rotate(a: Arithmetic, x: int, count: int) -> int:
    mask = a.same(x, a.bits(x) - 1)
    left = a.op("OpBitwiseAnd", count, mask)
    right = a.op("OpBitwiseAnd", a.op("OpSNegate", count), mask)
    return a.op("OpBitwiseOr", a.op("OpShiftLeftLogical", x, left), a.op("OpShiftRightLogical", x, right))


def _upsample(a: Arithmetic, high: int, low: int) -> int:
    bits = a.bits(high)
    wide = [a.convert("OpUConvert", value, 2 * bits) for value in (high, low)]
    return a.op("OpBitwiseOr", a.shift("OpShiftLeftLogical", wide[0], bits), wide[1])


def _mul(a: Arithmetic, x: int, y: int) -> int:
    return a.op("OpIMul", x, y)


def _mad(a: Arithmetic, x: int, y: int, z: int) -> int:
    return a.op("OpIAdd", a.op("OpIMul", x, y), z)


def _mul_hi(a: Arithmetic, x: int, y: int, *, signed: bool) -> int:
    return a.mul_high(x, y, signed)


def _mad_hi(a: Arithmetic, x: int, y: int, z: int, *, signed: bool) -> int:
    return a.op("OpIAdd", a.mul_high(x, y, signed), z)


FUNCTIONS: dict[str, Function] = {
    "s_abs": lambda a, x: a.select(a.negative(x), a.op("OpSNegate", x), x),
    "u_abs": lambda a, x: x,
    "s_abs_diff": partial(_abs_diff, less="OpSLessThan"),
    "u_abs_diff": partial(_abs_diff, less="OpULessThan"),
    "s_add_sat": partial(_add_sat, signed=True),
    "u_add_sat": partial(_add_sat, signed=False),
    "s_sub_sat": partial(_sub_sat, signed=True),
    "u_sub_sat": partial(_sub_sat, signed=False),
    "s_hadd": partial(_half_add, shift="OpShiftRightArithmetic", up=False),
    "u_hadd": partial(_half_add, shift="OpShiftRightLogical", up=False),
    "s_rhadd": partial(_half_add, shift="OpShiftRightArithmetic", up=True),
    "u_rhadd": partial(_half_add, shift="OpShiftRightLogical", up=True),
    "clz": Arithmetic.leading_zeros,
    "ctz": Arithmetic.trailing_zeros,
    "popcount": Arithmetic.bit_count,
    "s_mul_hi": partial(_mul_hi, signed=True),
    "u_mul_hi": partial(_mul_hi, signed=False),
    "s_mad_hi": partial(_mad_hi, signed=True),
    "u_mad_hi": partial(_mad_hi, signed=False),
    "s_mad_sat": partial(_mad_sat, signed=True),
    "u_mad_sat": partial(_mad_sat, signed=False),
    "rotate": _rotate,
    "s_upsample": _upsample,
    "u_upsample": _upsample,
    "s_mul24": _mul,
    "u_mul24": _mul,
    "s_mad24": _mad,
    "u_mad24": _mad,
}
