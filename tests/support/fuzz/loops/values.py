"""Typed expressions on integers, as text of OpenCL C and of Python, which checks for undefined behaviour."""

from __future__ import annotations

from dataclasses import dataclass

BITS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64, "ulong": 64}
TYPES = tuple(BITS)


class Undefined(Exception):
    """Raised if a kernel overflows, leaves its buffers or takes too long for its arguments."""


def is_signed(kind: str) -> bool:
    return not kind.startswith("u")


def converted(kind: str, value: int) -> int:
    """Return an integer converted as by C, modulo 2^bits."""
    bits = BITS[kind]
    value &= (1 << bits) - 1
    return value - (1 << bits) if is_signed(kind) and value >> (bits - 1) else value


def exact(kind: str, value: int) -> int:
    """Return the result of an operation: unsigned results wrap, signed ones raise Undefined if they overflow."""
    result = converted(kind, value)
    if is_signed(kind) and result != value:
        raise Undefined("signed overflow")
    return result


@dataclass(frozen=True)
class Value:
    """An expression of type `kind`, as `text` in OpenCL C and as `python`, with parentheses if necessary."""

    kind: str
    text: str
    python: str


def constant(number: int, kind: str = "int") -> Value:
    suffix = {"uint": "u", "long": "l", "ulong": "ul"}.get(kind, "")
    text = f"{number}{suffix}" if BITS[kind] >= 32 else f"({kind}){number}"
    return Value(kind, text, str(number))


def variable(name: str, kind: str) -> Value:
    return Value(kind, name, name)


def promoted(kind: str) -> str:
    return kind if BITS[kind] >= 32 else "int"


def common(one: str, other: str) -> str:
    """Return the type of an operation's result (C11 6.3.1.8)."""
    one, other = promoted(one), promoted(other)
    bits = max(BITS[one], BITS[other])
    signed = all(is_signed(kind) for kind in (one, other) if BITS[kind] == bits)
    return {32: "int", 64: "long"}[bits] if signed else {32: "uint", 64: "ulong"}[bits]


def cast(kind: str, value: Value) -> Value:
    if kind == value.kind:
        return value
    return Value(kind, f"({kind}){value.text}", _converted(kind, value))


def _converted(kind: str, value: Value) -> str:
    return value.python if kind == value.kind else f"converted({kind!r}, {value.python})"


def binary(symbol: str, left: Value, right: Value) -> Value:
    """Return an operation on two values; `symbol` is + - or *."""
    kind = common(left.kind, right.kind)
    sides = f"{_converted(kind, left)} {symbol} {_converted(kind, right)}"
    return Value(kind, f"({left.text} {symbol} {right.text})", f"exact({kind!r}, {sides})")


def compare(symbol: str, left: Value, right: Value) -> Value:
    kind = common(left.kind, right.kind)
    sides = f"{_converted(kind, left)} {symbol} {_converted(kind, right)}"
    return Value("int", f"({left.text} {symbol} {right.text})", f"({sides})")


def negated(condition: Value) -> Value:
    return Value("int", f"(!{condition.text})", f"(not {condition.python})")


def both(one: Value, other: Value) -> Value:
    return Value("int", f"({one.text} && {other.text})", f"({one.python} and {other.python})")
