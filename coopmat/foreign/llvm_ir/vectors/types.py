"""Flat vectors as LLVM prints them: types, constants, masks, and element-wise instructions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..text import Argument, Malformed, operands, parse_argument, parse_call, split, tokens, type_end

_VECTOR = re.compile(r"<(\d+) x (i1|i8|i16|i32|i64|half|float|double)>")
_SPLAT = re.compile(r"splat \((\S+) (.*)\)", re.DOTALL)
# The numbers of components of SPIR-V's vectors in OpenCL.
_SIZES = (2, 3, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector type `<count x element>`, or the scalar type `element` if the count is 1."""

    count: int
    element: str

    def __str__(self) -> str:
        return self.element if self.count == 1 else f"<{self.count} x {self.element}>"

    @property
    def parts(self) -> list[tuple[int, Vector]]:
        """The legal vectors and scalars into which the vector is split, each with the index of its first element."""
        if not self.is_wide:
            return [(0, self)]
        vectors, at = [], 0
        for size in (16, 8, 4, 2, 1):
            while self.count - at >= size:
                vectors.append((at, Vector(size, self.element)))
                at += size
        return vectors

    @property
    def is_wide(self) -> bool:
        """Return whether SPIR-V lacks the vector type."""
        return self.count not in _SIZES

    @property
    def stored(self) -> str:
        """The type of an element in memory."""
        return "i8" if self.element == "i1" else self.element

    @property
    def size(self) -> int:
        """The size of an element in memory in bytes."""
        return {"half": 2, "float": 4, "double": 8}.get(self.stored) or int(self.stored[1:]) // 8

    @property
    def room(self) -> str:
        """An array type of the size that LLVM allocates for the vector: the count rounded up to a power of two."""
        return f"[{1 << (self.count - 1).bit_length()} x {self.stored}]"


def vector_of(text: str) -> Vector | None:
    match = _VECTOR.fullmatch(text)
    return Vector(int(match[1]), match[2]) if match else None


def wide_types(text: str) -> list[str]:
    """Return the vector types in a text that SPIR-V lacks."""
    return [match[0] for match in _VECTOR.finditer(text) if int(match[1]) not in _SIZES]


def as_arrays(text: str) -> str:
    """Return the text of types in memory, with arrays in place of the vectors that SPIR-V lacks."""

    def change(match: re.Match[str]) -> str:
        vector = Vector(int(match[1]), match[2])
        return vector.room if vector.is_wide else match[0]

    return _VECTOR.sub(change, text)


_VARIABLE = re.compile(r"(@.* (?:global|constant) )(<\d+ x \w+>) (undef|poison|zeroinitializer|<[^<>]*>)(, .*|)")


def variable(line: str) -> str:
    """Return the line of a global variable with an array in place of a vector type that SPIR-V lacks."""
    match = _VARIABLE.fullmatch(line)
    vector = vector_of(match[2]) if match else None
    if match is None or vector is None or not vector.is_wide or vector.element == "i1":
        return line
    value = f"[{match[3][1:-1]}]" if match[3][0] == "<" else match[3]
    return f"{match[1]}[{vector.count} x {vector.element}] {value}{match[4]}"


# --- constants -----------------------------------------------------------------------------------


def constants(vector: Vector, value: str, fail: Callable[[str], Malformed]) -> list[str]:
    """Return the elements of a vector constant. Raise the result of `fail` for other constants."""
    match = _SPLAT.fullmatch(value)
    zero = {"half": "0xH0000", "i1": "false"}.get(vector.element, "0" if vector.element[0] == "i" else "0.0")
    scalar = match[2] if match else {"undef": "poison", "poison": "poison", "zeroinitializer": zero}.get(value)
    if scalar is not None:
        return [scalar] * vector.count
    if value[:1] != "<":
        raise fail(f"the constant {value} of type {vector} is not supported yet")
    return ["".join(part).partition(" ")[2] for part in split(tokens(value[1:-1]))]


def literal(part: Vector, elements: list[str]) -> str:
    """Return the constant of a part with these elements."""
    if part.count == 1 or set(elements) == {"poison"}:
        return elements[0]
    return f"<{', '.join(f'{part.element} {element}' for element in elements)}>"


def incoming(text: str) -> list[tuple[str, str]]:
    """Return the (value, label) pairs of a phi."""
    first, *rest = operands(text)
    words = tokens(first)
    pairs = []
    for part in ["".join(words[type_end(words, 0) :]).strip(), *rest]:
        value, label = split(tokens(part[1:-1]))
        pairs.append(("".join(value), "".join(label)))
    return pairs


# --- alignments ----------------------------------------------------------------------------------


def align(text: str) -> int:
    match = re.search(r", align (\d+)", text)
    return int(match[1]) if match else 1 << 16


def is_aligned(pointer: Argument, vector: Vector) -> bool:
    match = re.search(r"\balign (\d+)", pointer.attributes)
    return match is None or int(match[1]) >= vector.size


# --- element-wise instructions -------------------------------------------------------------------

_BINARY = frozenset(
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
        "fneg",
        "freeze",
    ]
)
_CASTS = frozenset(["trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"])
_WORDS = re.compile(r"((?:[a-z][\w.]*(?:\([^)]*\))? )+)(?=[<%]|i\d|half|float|double|ptr)(.*)", re.DOTALL)
# The element-wise intrinsics.
_INTRINSICS = frozenset(
    (
        *[
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
            "copysign",
        ],
        *["minnum", "maxnum", "minimum", "maximum", "abs", "smin", "smax", "umin", "umax"],
        *["sadd.sat", "ssub.sat", "uadd.sat", "usub.sat", "ctpop", "bswap", "bitreverse", "fshl", "fshr"],
    )
)


@dataclass(frozen=True, slots=True)
class Elements:
    """An element-wise instruction.

    before, after: the text before and behind the operands; `{}` in `after` is replaced by the result type.
    operands: the operands.
    result: the result type.
    intrinsic: the name of the intrinsic without the suffix for its type; empty for other instructions.
    """

    before: str
    operands: tuple[Argument, ...]
    result: str
    after: str = ""
    intrinsic: str = ""

    def text(self, operands: list[Argument], result: str) -> str:
        """Return the instruction's text for a part of its operands and of the result type."""
        if self.intrinsic:
            return f"{self.before}{result} @{self.name(result)}({', '.join(map(str, operands))})"
        if self.before.startswith("select"):
            return self.before + ", ".join(map(str, operands))
        first, *others = operands
        return self.before + ", ".join([str(first), *(other.value for other in others)]) + self.after.format(result)

    def name(self, result: str) -> str:
        """Return the name of the intrinsic for this result type."""
        vector = vector_of(result)
        element = vector.element if vector else result
        code = {"half": "f16", "float": "f32", "double": "f64"}.get(element, element)
        return f"{self.intrinsic}.{f'v{vector.count}' if vector else ''}{code}"


def read(text: str) -> Elements | None:
    """Return the parts of an element-wise instruction; None for other instructions."""
    opcode = text.split(None, 1)[0]
    if opcode in ("call", "tail", "notail"):
        return _intrinsic(text)
    match = _WORDS.fullmatch(re.sub(r"(?:, ![-\w.]+ !\d+)+$", "", text))
    if match is None:
        return None
    before, rest = match[1], match[2]
    if opcode in _CASTS:
        value, _, to = rest.rpartition(" to ")
        return Elements(before, (parse_argument(tokens(value)),), to, " to {}")
    if opcode not in _BINARY | {"icmp", "fcmp", "select"}:
        return None
    first, *others = ("".join(part) for part in split(tokens(rest)))
    operand = parse_argument(tokens(first))
    if opcode == "select":
        choices = [parse_argument(tokens(other)) for other in others]
        return Elements(before, (operand, *choices), choices[0].type)
    operands = (operand, *(Argument(operand.type, other) for other in others))
    vector = vector_of(operand.type)
    if opcode in ("icmp", "fcmp") and vector is not None:
        return Elements(before, operands, f"<{vector.count} x i1>")
    return Elements(before, operands, operand.type)


def _intrinsic(text: str) -> Elements | None:
    call = parse_call(text)
    match = re.fullmatch(r"(llvm\.(.+))\.v\d+\w+", call.name) if call is not None else None
    if call is None or match is None or match[2] not in _INTRINSICS:
        return None
    operands = tuple(Argument(argument.type, argument.value) for argument in call.arguments)
    return Elements(call.before.rstrip() + " ", operands, call.type, "", match[1])
