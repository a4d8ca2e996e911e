"""Component types, rounding and value ranges of the matrix fuzzer, without coopmat.

Integers are numpy arrays of the same type, which wrap. Floating-point components are arrays of float64 that hold values
of the component type.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Component:
    """A component type.

    name: the name in OpenCL C.
    kind: "signed", "unsigned", "float", or "small" for bfloat16 and the 8-bit formats.
    bits: the size.
    digits: the digits of the significand, for floating point.
    emin: the exponent of the least normal number, for floating point.
    largest: the largest finite number, for floating point.
    """

    name: str
    kind: str
    bits: int
    digits: int = 0
    emin: int = 0
    largest: float = 0.0

    @property
    def floating(self) -> bool:
        """Return whether the type is a floating-point type."""
        return self.kind in ("float", "small")

    @property
    def low(self) -> int:
        """Return the least integer of the type."""
        return -(1 << (self.bits - 1)) if self.kind == "signed" else 0

    @property
    def high(self) -> int:
        """Return the greatest integer of the type."""
        return (1 << (self.bits - 1)) - 1 if self.kind == "signed" else (1 << self.bits) - 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return numpy's type for values: the integer type itself, float64 for floating point."""
        if self.floating:
            return np.dtype(np.float64)
        return np.dtype(f"{'i' if self.kind == 'signed' else 'u'}{self.bits // 8}")

    @property
    def stored(self) -> np.dtype[Any]:
        """Return numpy's type for the component in memory."""
        if self.kind == "float":
            return np.dtype(f"f{self.bits // 8}")
        return np.dtype(f"u{self.bits // 8}") if self.kind == "small" else self.dtype

    @property
    def exact_digits(self) -> int:
        """Return the significand digits with which sums and products are computed before rounding."""
        return 24 if self.kind == "small" else self.digits

    def packed(self) -> int:
        """Return the number of rows that the packed layout interleaves."""
        return max(1, 32 // self.bits)


CHAR, UCHAR = Component("char", "signed", 8), Component("uchar", "unsigned", 8)
SHORT, USHORT = Component("short", "signed", 16), Component("ushort", "unsigned", 16)
INT, UINT = Component("int", "signed", 32), Component("uint", "unsigned", 32)
LONG, ULONG = Component("long", "signed", 64), Component("ulong", "unsigned", 64)
HALF = Component("half", "float", 16, 11, -14, 65504.0)
FLOAT = Component("float", "float", 32, 24, -126, float(np.finfo(np.float32).max))
DOUBLE = Component("double", "float", 64, 53, -1022, float(np.finfo(np.float64).max))
BFLOAT16 = Component("bfloat16", "small", 16, 8, -126, float.fromhex("0x1.fep127"))
E4M3 = Component("floate4m3_t", "small", 8, 4, -6, 448.0)
E5M2 = Component("floate5m2_t", "small", 8, 3, -14, 57344.0)
INTEGERS = (CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG)
FLOATS = (HALF, FLOAT, DOUBLE, BFLOAT16, E4M3, E5M2)
COMPONENTS = INTEGERS + FLOATS


@dataclass(frozen=True)
class MatrixType:
    """A matrix type: component type, rows, columns and use ("A", "B" or "ACCUMULATOR")."""

    component: Component
    rows: int
    columns: int
    use: str

    @property
    def name(self) -> str:
        """Return the name of the typedef."""
        letter = "C" if self.use == "ACCUMULATOR" else self.use
        return f"{letter}{self.rows}x{self.columns}{self.component.name}"

    def of(self, component: Component) -> MatrixType:
        """Return the same type with another component type."""
        return replace(self, component=component)

    def used(self, use: str) -> MatrixType:
        """Return the same type with another use."""
        return replace(self, use=use)

    def turned(self, use: str) -> MatrixType:
        """Return the type of the transpose."""
        return MatrixType(self.component, self.columns, self.rows, use)


@dataclass(frozen=True)
class Range:
    """Bounds of values: all are in [low, high] and are multiples of 2**-grain."""

    low: float
    high: float
    grain: int = 0

    @property
    def most(self) -> float:
        """Return the largest magnitude."""
        return max(abs(self.low), abs(self.high))

    def within(self, other: Range) -> bool:
        """Return whether the other range contains this one."""
        return self.low >= other.low and self.high <= other.high and self.grain <= other.grain

    def joined(self, other: Range) -> Range:
        """Return a range that contains both ranges."""
        return Range(min(self.low, other.low), max(self.high, other.high), max(self.grain, other.grain))

    def add(self, other: Range) -> Range:
        """Return the range of sums."""
        return Range(self.low + other.low, self.high + other.high, max(self.grain, other.grain))

    def negate(self) -> Range:
        """Return the range of negated values."""
        return Range(-self.high, -self.low, self.grain)

    def multiply(self, other: Range) -> Range:
        """Return the range of products."""
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Range(min(ends), max(ends), self.grain + other.grain)


def full(component: Component) -> Range:
    """Return the range of all values of an integer type."""
    return Range(component.low, component.high)


def fits(component: Component, bounds: Range) -> bool:
    """Return whether values with these bounds are exact in the arithmetic type of the component type."""
    if not component.floating:
        return bounds.low >= component.low and bounds.high <= component.high
    return (
        bounds.grain <= 9
        and bounds.most * 2**bounds.grain <= 2**component.exact_digits
        and bounds.most <= component.largest / 2
    )


def rounded_range(component: Component, bounds: Range) -> Range:
    """Return the bounds of values after they are rounded to the component type; integers wrap."""
    if not component.floating:
        return bounds if fits(component, bounds) else full(component)
    ends = np.array([bounds.low, bounds.high])
    low, high = round_values(component, ends)
    return Range(min(float(low), bounds.low), max(float(high), bounds.high), bounds.grain)


def _round_magnitudes(scaled: Array, negative: Array, mode: str) -> Array:
    """Return non-negative values, rounded to integers; `negative` reverses rounding up and down."""
    down = np.floor(scaled)
    rest = scaled - down
    if mode == "rtz":
        return down
    if mode == "rtp":
        return down + ((rest > 0) & ~negative)
    if mode == "rtn":
        return down + ((rest > 0) & negative)
    return down + ((rest > 0.5) | ((rest == 0.5) & (down % 2 == 1)))


def round_values(component: Component, values: Array, mode: str = "rte", saturate: bool = False) -> Array:
    """Return float64 values, rounded to a floating-point component type."""
    values = np.asarray(values, np.float64)
    if component is DOUBLE:
        return values
    finite = np.isfinite(values)
    magnitude = np.where(finite, np.abs(values), 0.0)
    exponent = np.frexp(magnitude)[1]
    quantum = np.maximum(exponent, component.emin + 1) - component.digits
    negative = np.signbit(values)
    result = np.ldexp(_round_magnitudes(np.ldexp(magnitude, -quantum), negative, mode), quantum)
    beyond = np.nan if component is E4M3 else np.inf
    over = finite & (result > component.largest)
    infinite = np.isinf(values)
    if saturate:
        result = np.where(over | infinite, component.largest, result)
    else:
        result = np.where(over | infinite, beyond, result)
    result = np.where(np.isnan(values), np.nan, result)
    return np.where(negative, -result, result)


def round_to_integers(component: Component, values: Array, mode: str, saturate: bool) -> Array:
    """Convert float64 values to an integer component type."""
    whole = {"rtz": np.trunc, "rte": np.rint, "rtp": np.ceil, "rtn": np.floor}[mode](np.asarray(values, np.float64))
    # float64 cannot represent the greatest long, so numbers from 2**63 on are replaced after the conversion.
    over, under = whole >= component.high + 1, whole < component.low
    if not saturate:
        assert not (over | under).any(), "a conversion out of range"
    result = np.where(over | under, 0, whole).astype(component.dtype)
    return np.where(
        over, component.dtype.type(component.high), np.where(under, component.dtype.type(component.low), result)
    )


def _table(exponent_bits: int, mantissa_bits: int, bias: int) -> Array:
    """Return the values of the 256 bit patterns of an 8-bit format."""
    bits = np.arange(256)
    exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    normal = np.ldexp(1 + mantissa / (1 << mantissa_bits), exponent - bias)
    magnitude = np.where(exponent == 0, np.ldexp(mantissa / (1 << mantissa_bits), 1 - bias), normal)
    if bias == 7:
        magnitude = np.where((bits & 127) == 127, np.nan, magnitude)
    else:
        magnitude = np.where(exponent == 31, np.where(mantissa == 0, np.inf, np.nan), magnitude)
    return np.where(bits & 128, -magnitude, magnitude)


_TABLES = {"floate4m3_t": _table(4, 3, 7), "floate5m2_t": _table(5, 2, 15)}


def decode(component: Component, stored: Array) -> Array:
    """Return the values of components in memory."""
    if component is BFLOAT16:
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if component.kind == "small":
        return _TABLES[component.name][stored]
    return stored.astype(component.dtype)


def encode(component: Component, values: Array) -> Array:
    """Return the representation of components in memory; `values` are values of the type."""
    if component is BFLOAT16:
        return (np.asarray(values).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if component.kind == "small":
        table = _TABLES[component.name]
        patterns = [index for index in range(256) if np.isfinite(table[index])]
        known = {(float(table[index]), bool(index & 128)): index for index in patterns}
        flat = np.asarray(values, np.float64).ravel()
        bits = [known.get((float(v), bool(np.signbit(v))), 0x7F if np.isnan(v) else 0x7C) for v in flat]
        return np.array(bits, np.uint8).reshape(np.shape(values))
    return np.asarray(values).astype(component.stored)
