"""Instructions on all elements of vectors, done in pieces of sizes that SPIR-V has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..text import Argument, parse_argument, parse_call, split, tokens
from .nodes import Vector, vector_of

BINARY = frozenset(
    [
        "add",
        "sub",
        "mul",
        "udiv",
        "sdiv",
        "urem",
        "srem",
        "shl",
        "lshr",
        "ashr",
        "and",
        "or",
        "xor",
        "fadd",
        "fsub",
        "fmul",
        "fdiv",
        "frem",
    ]
)
UNARY = frozenset({"fneg", "freeze"})
CASTS = frozenset(("trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"))
COMPARISONS = frozenset({"icmp", "fcmp"})
_WORDS = re.compile(r"((?:[a-z][\w.]*(?:\([^)]*\))? )+)(?=[<%]|i\d|half|float|double|ptr)(.*)", re.DOTALL)
# Of these intrinsics every element of the result is of the operands' elements in the same place.
_INTRINSICS = frozenset(
    [
        "fmuladd",
        "fma",
        "fabs",
        "sqrt",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "nearbyint",
        "round",
        "roundeven",
        "minnum",
        "maxnum",
        "minimum",
        "maximum",
        "copysign",
        "abs",
        "smin",
        "smax",
        "umin",
        "umax",
        "sadd.sat",
        "ssub.sat",
        "uadd.sat",
        "usub.sat",
        "ctpop",
        "bswap",
        "bitreverse",
        "fshl",
        "fshr",
    ]
)


@dataclass(frozen=True, slots=True)
class Elements:
    """An instruction on elements: words before the operands, these, and what it gives. `before` and `after` are parts
    of its text, `{}` in `after` stands for the result's type."""

    before: str
    operands: tuple[Argument, ...]
    result: str
    after: str = ""
    intrinsic: str = ""

    def text(self, operands: list[Argument], result: str) -> str:
        """The instruction on other operands, of the same elements."""
        if self.intrinsic:
            return f"{self.before}{result} @{self.name(result)}({', '.join(map(str, operands))})"
        if self.before.startswith("select"):
            return self.before + ", ".join(map(str, operands))
        first, *others = operands
        return self.before + ", ".join([str(first), *(other.value for other in others)]) + self.after.format(result)

    def name(self, result: str) -> str:
        """Of the intrinsic that gives this."""
        vector = vector_of(result)
        element = vector.element if vector else result
        code = {"half": "f16", "float": "f32", "double": "f64"}.get(element, element)
        return f"{self.intrinsic}.{f'v{vector.count}' if vector else ''}{code}"


def read(text: str) -> Elements | None:
    """None for other instructions."""
    opcode = text.split(None, 1)[0]
    if opcode in ("call", "tail", "notail"):
        return _intrinsic(text)
    match = _WORDS.fullmatch(re.sub(r"(?:, ![-\w.]+ !\d+)+$", "", text))
    if match is None:
        return None
    before, rest = match[1], match[2]
    if opcode in CASTS:
        value, _, to = rest.rpartition(" to ")
        return Elements(before, (parse_argument(tokens(value)),), to, " to {}")
    if opcode not in BINARY | UNARY | COMPARISONS | {"select"}:
        return None
    first, *others = ("".join(part) for part in split(tokens(rest)))
    operand = parse_argument(tokens(first))
    if opcode == "select":
        choices = [parse_argument(tokens(other)) for other in others]
        return Elements(before, (operand, *choices), choices[0].type)
    operands = (operand, *(Argument(operand.type, other) for other in others))
    vector = vector_of(operand.type)
    if opcode in COMPARISONS and vector is not None:
        return Elements(before, operands, str(Vector(vector.count, "i1")))
    return Elements(before, operands, operand.type)


def _intrinsic(text: str) -> Elements | None:
    call = parse_call(text)
    match = re.fullmatch(r"(llvm\.(.+))\.v\d+\w+", call.name) if call is not None else None
    if call is None or match is None or match[2] not in _INTRINSICS:
        return None
    operands = tuple(Argument(argument.type, argument.value) for argument in call.arguments)
    return Elements(call.before.rstrip() + " ", operands, call.type, "", match[1])


def lengths(count: int) -> Iterator[tuple[int, int]]:
    """Where each piece starts, and how many elements it has."""
    at = 0
    for size in (16, 8, 4, 2, 1):
        while count - at >= size:
            yield at, size
            at += size
