"""Conversions of scalars to component types, and integer constants of these types."""

from __future__ import annotations

import struct

from .operations import COMPONENTS


def cast(source: str, target: str) -> str:
    """Return the opcode that converts between two different scalar types; integers are signed."""
    integers = (source[0] == "i", target[0] == "i")
    wider = COMPONENTS[target].bits > COMPONENTS[source].bits
    if integers == (True, True):
        return "sext" if wider else "trunc"
    if integers == (False, False):
        return "fpext" if wider else "fptrunc"
    return "sitofp" if integers[0] else "fptosi"


def integer_constant(value: int, component: str) -> str:
    """Return an integer as LLVM prints a constant of a component type; integers wrap, floats are rounded."""
    if component[0] == "i":
        bits = int(component[1:])
        wrapped = value % (1 << bits)
        return str(wrapped - (1 << bits) if wrapped >> (bits - 1) else wrapped)
    number = float(value)
    if component in ("half", "bfloat"):
        # Round to nearest; values out of range become infinite.
        number = _rounded(number, component)
    elif component == "float":
        number = struct.unpack("f", struct.pack("f", number))[0]
    return f"0x{struct.unpack('Q', struct.pack('d', number))[0]:016X}"


def _rounded(number: float, component: str) -> float:
    if component == "half":
        try:
            return float(struct.unpack("e", struct.pack("e", number))[0])
        except OverflowError:
            return float("inf") if number > 0 else float("-inf")
    bits = struct.unpack("I", struct.pack("f", number))[0]
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return float(struct.unpack("f", struct.pack("I", bits))[0])
