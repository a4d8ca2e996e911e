"""Flat vectors as LLVM prints them: types, constants, masks, and instructions that do the same to all elements."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..text import Argument, Malformed, operands, parse_argument, parse_call, split, tokens, type_end

_VECTOR = re.compile(r"<(\d+) x (i1|i8|i16|i32|i64|half|float|double)>")
_SPLAT = re.compile(r"splat \((\S+) (.*)\)", re.DOTALL)
# What SPIR-V's vectors may have.
_SIZES = (2, 3, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Vector:
    """`<count x element>`, in LLVM's words; an element alone where that is one."""

    count: int
    element: str

    def __str__(self) -> str:
        return self.element if self.count == 1 else f"<{self.count} x {self.element}>"

    @property
    def parts(self) -> list[tuple[int, Vector]]:
        """The vectors that SPIR-V has, and elements, which it is made of, and where these start."""
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
        """An element's type in memory."""
        return "i8" if self.element == "i1" else self.element

    @property
    def size(self) -> int:
        """Bytes of an element in memory."""
        return {"half": 2, "float": 4, "double": 8}.get(self.stored) or int(self.stored[1:]) // 8

    @property
    def room(self) -> str:
        """An array of as much memory as LLVM takes for it."""
        return f"[{1 << (self.count - 1).bit_length()} x {self.stored}]"


def vector_of(text: str) -> Vector | None:
    match = _VECTOR.fullmatch(text)
    return Vector(int(match[1]), match[2]) if match else None


def wide_types(text: str) -> list[str]:
    """The vector types in a text that SPIR-V lacks."""
    return [match[0] for match in _VECTOR.finditer(text) if int(match[1]) not in _SIZES]


def as_arrays(text: str) -> str:
    """Types in memory: arrays in place of the vectors that SPIR-V lacks."""

    def change(match: re.Match[str]) -> str:
        vector = Vector(int(match[1]), match[2])
        return vector.room if vector.is_wide else match[0]

    return _VECTOR.sub(change, text)


_VARIABLE = re.compile(r"(@.* (?:global|constant) )(<\d+ x \w+>) (undef|poison|zeroinitializer|<[^<>]*>)(, .*|)")


def variable(line: str) -> str:
    """A variable that is a vector, as one that is an array."""
    match = _VARIABLE.fullmatch(line)
    vector = vector_of(match[2]) if match else None
    if match is None or vector is None or not vector.is_wide or vector.element == "i1":
        return line
    value = f"[{match[3][1:-1]}]" if match[3][0] == "<" else match[3]
    return f"{match[1]}[{vector.count} x {vector.element}] {value}{match[4]}"


# --- constants -----------------------------------------------------------------------------------


def constants(vector: Vector, value: str, fail: Callable[[str], Malformed]) -> list[str]:
    """The elements of a constant."""
    match = _SPLAT.fullmatch(value)
    zero = {"half": "0xH0000", "i1": "false"}.get(vector.element, "0" if vector.element[0] == "i" else "0.0")
    scalar = match[2] if match else {"undef": "poison", "poison": "poison", "zeroinitializer": zero}.get(value)
    if scalar is not None:
        return [scalar] * vector.count
    if value[:1] != "<":
        raise fail(f"the constant {value} of type {vector} is not supported yet")
    return ["".join(part).partition(" ")[2] for part in split(tokens(value[1:-1]))]


def literal(part: Vector, elements: list[str]) -> str:
    """A part of a constant."""
    if part.count == 1 or set(elements) == {"poison"}:
        return elements[0]
    return f"<{', '.join(f'{part.element} {element}' for element in elements)}>"


def incoming(text: str) -> list[tuple[str, str]]:
    """The values and labels of a phi."""
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


# --- instructions on all elements ----------------------------------------------------------------

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
# Of these intrinsics every element of the result is of the operands' elements in the same place.
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
    """An instruction on elements: words before the operands, these, and what it gives. `before` and `after` are parts
    of its text, `{}` in `after` stands for the result's type."""

    before: str
    operands: tuple[Argument, ...]
    result: str
    after: str = ""
    intrinsic: str = ""

    def text(self, operands: list[Argument], result: str) -> str:
        """The instruction on parts of the operands."""
        if self.intrinsic:
            return f"{self.before}{result} @{self.name(result)}({', '.join(map(str, operands))})"
        if self.before.startswith("select"):
            return self.before + ", ".join(map(str, operands))
        first, *others = operands
        return self.before + ", ".join([str(first), *(other.value for other in others)]) + self.after.format(result)

    def name(self, result: str) -> str:
        """Return the name of the intrinsic that results in this type."""
        vector = vector_of(result)
        element = vector.element if vector else result
        code = {"half": "f16", "float": "f32", "double": "f64"}.get(element, element)
        return f"{self.intrinsic}.{f'v{vector.count}' if vector else ''}{code}"


def read(text: str) -> Elements | None:
    """Return the parts of an instruction that does the same to all elements; None for others."""
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
