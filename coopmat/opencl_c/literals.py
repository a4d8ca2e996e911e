"""Constants as OpenCL C text that means exactly the value."""

from __future__ import annotations

import math
from decimal import Decimal

from ..frontend.matrix_terms import COMPONENTS
from ..frontend.types import BOOL, DOUBLE, FLOAT, INT, LONG, UINT, ULONG, ScalarType, Type, held_as

_SUFFIXES = {INT: "", UINT: "u", LONG: "L", ULONG: "UL"}
_LONGEST_DECIMAL = 12
_ESCAPES = {0x0A: "\\n", 0x09: "\\t", 0x0D: "\\r", 0x22: '\\"', 0x5C: "\\\\"}


def integer(value: int, t: ScalarType) -> str:
    """Return a constant of the type itself: a cast for those narrower than int. Negative numbers and casts bind
    less."""
    if t is BOOL or t.rank < INT.rank:
        return f"({t}){value}"
    suffix = _SUFFIXES[t]
    if value == -(1 << (t.bits - 1)) and t.signed:
        return f"(-{-(value + 1)}{suffix} - 1)"
    return f"{value}{suffix}"


def wide(value: int) -> str:
    """Return a constant of 64 bits, whatever it is compared with."""
    return integer(value, LONG if value < 1 << 63 else ULONG)


def floating(value: float, t: ScalarType, held: Type | None = None) -> str:
    """Return a constant of the type itself, or its bits as an integer of the type that holds them; `held` is that type,
    if it depends on the device. Negative numbers and casts are not primary expressions."""
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
    """Decimal digits where few of them are exact, else a hexadecimal number."""
    short = repr(value)
    if len(short) <= _LONGEST_DECIMAL and Decimal(short) == Decimal(value):
        return short
    mantissa, exponent = value.hex().split("p")
    head, _, tail = mantissa.partition(".")
    tail = tail.rstrip("0")
    return f"{head}{'.' + tail if tail else ''}p{exponent}"


def string(value: bytes) -> str:
    """A string literal of these bytes; others than printable ASCII as octal escapes, which end after three digits."""
    return '"' + "".join(map(_character, value)).replace("??", "?\\?") + '"'


def _character(byte: int) -> str:
    return _ESCAPES.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}")
