"""Constants as OpenCL C literals with exactly the given value."""

from __future__ import annotations

import math
from decimal import Decimal

from ..frontend.matrix_terms import COMPONENTS
from ..frontend.types import BOOL, DOUBLE, FLOAT, INT, LONG, UINT, ULONG, ScalarType, Type, held_as

# type -> suffix of its literals.
_SUFFIXES = {INT: "", UINT: "u", LONG: "L", ULONG: "UL"}
# The largest number of characters of a decimal floating literal; longer ones are written in hexadecimal.
_LONGEST_DECIMAL = 12
_ESCAPES = {0x0A: "\\n", 0x09: "\\t", 0x0D: "\\r", 0x22: '\\"', 0x5C: "\\\\"}


def integer(value: int, t: ScalarType) -> str:
    """Return a constant expression of type `t`: a literal, or a cast of a literal for types narrower than int.

    Negative numbers and casts are not primary expressions.
    """
    if t is BOOL or t.rank < INT.rank:
        return f"({t}){value}"
    suffix = _SUFFIXES[t]
    if value == -(1 << (t.bits - 1)) and t.signed:
        return f"(-{-(value + 1)}{suffix} - 1)"
    return f"{value}{suffix}"


def wide(value: int) -> str:
    """Return a literal of a 64-bit type for `value`."""
    return integer(value, LONG if value < 1 << 63 else ULONG)


def floating(value: float, t: ScalarType, held: Type | None = None) -> str:
    """Return a constant expression of type `t`, or its bit pattern as an integer constant.

    `held` is the type that represents `t` on the device; None: `held_as(t)`. If `held` is not `t`, the bit pattern is
    returned. Negative numbers and casts are not primary expressions.
    """
    held = held or held_as(t)
    if held != t:
        return f"({held})0x{COMPONENTS[t.name].pattern(value):0{t.bits // 4}x}"
    if math.isnan(value):
        return "NAN" if t is FLOAT else f"({t})NAN"
    if math.isinf(value):
        sign = "-" if value < 0 else ""
        return f"{sign}INFINITY" if t is FLOAT else f"({t}){sign}INFINITY"
    if t is DOUBLE:
        return _digits(value)
    return _digits(value) + "f" if t is FLOAT else f"({t}){_digits(value)}f"


def _digits(value: float) -> str:
    """Return a decimal literal if a short one is exact, else a hexadecimal one; both without suffix."""
    short = repr(value)
    if len(short) <= _LONGEST_DECIMAL and Decimal(short) == Decimal(value):
        return short
    mantissa, exponent = value.hex().split("p")
    head, _, tail = mantissa.partition(".")
    tail = tail.rstrip("0")
    return f"{head}{'.' + tail if tail else ''}p{exponent}"


def string(value: bytes) -> str:
    """Return a string literal for the bytes; all but printable ASCII become escapes, octal ones of three digits."""
    return '"' + "".join(map(_character, value)).replace("??", "?\\?") + '"'


def _character(byte: int) -> str:
    return _ESCAPES.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}")
