"""The removal of integers wider than 64 bits, which SPIR-V lacks, where optimisations use them to slice vectors.

For example, a `bitcast <4 x i32>` to i128, `lshr`, `trunc` to i96 and `bitcast` to <3 x i32> become a shuffle. Vectors
of i128 and i256 that are only moved and cast become vectors of i64. Any other instruction on such integers is an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from .block_order import reverse_postorder
from .text import (
    CAST,
    INTEGER,
    Argument,
    Function,
    Instruction,
    Malformed,
    Module,
    Names,
    operands,
    parse_argument,
    parse_call,
    tokens as tokens_of,
)

_WIDE = re.compile(r"(?<![\w.%@$\"-])i(\d{2,})\b")
_VECTOR = re.compile(r"<(\d+) x (i\d+|half|bfloat|float|double)>")
_WIDE_VECTOR = re.compile(r"<(\d+) x i(128|256)>(?! (?:<|splat))")
_MOVES = frozenset({"bitcast", "load", "store", "phi", "select", "freeze"})
_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
_MOST = 64


@dataclass(frozen=True, slots=True)
class _Slice:
    """A wide integer that is a slice of a value.

    root: the value that is sliced, of `bits` bits.
    offset: the bit of `root` at which the slice begins.
    valid: the number of bits taken from `root`; the bits above are zeros.
    width: the width of the integer in bits.
    """

    root: Argument
    bits: int
    offset: int
    valid: int
    width: int


def lower(module: Module) -> None:
    """Rewrite a module in place. Raise Malformed for a wide integer that is not a slice of a vector."""
    for function in module.functions:
        for item in function.instructions():
            if item.opcode in _MOVES:
                item.text = _WIDE_VECTOR.sub(lambda m: f"<{int(m[1]) * int(m[2]) // 64} x i64>", item.text)
        if any(_is_wide(item.text) for item in function.instructions()):
            _Slices(function).run()


def _is_wide(text: str) -> bool:
    return any(int(match) > _MOST for match in _WIDE.findall(text))


def _width(type_: str) -> int:
    match = INTEGER.fullmatch(type_)
    return int(match[1]) if match else 0


def _size(type_: str) -> int:
    """Return the size of a type in bits; 0 unless it is a scalar of 8, 16, 32 or 64 bits, or a vector of these."""
    vector = _VECTOR.fullmatch(type_)
    element = vector[2] if vector else type_
    bits = _BITS.get(element) or _width(element)
    return (int(vector[1]) if vector else 1) * bits if bits in (8, 16, 32, 64) else 0


class _Slices:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.fresh = Names(function).fresh
        self.slices: dict[str, _Slice] = {}
        self.out: list[Instruction] = []
        self.source = ""

    def run(self) -> None:
        for block in reverse_postorder(self.function):
            self.out = []
            for item in block.instructions:
                self.source = item.source
                if not (_is_wide(item.text) or self.mentions(item)) or not self.instruction(item):
                    self.out.append(item)
            block.instructions = self.out

    def mentions(self, item: Instruction) -> bool:
        return bool(self.slices) and any(word in self.slices for word in tokens_of(item.text))

    def emit(self, text: str, result: str | None) -> str:
        self.out.append(Instruction(result, text, self.source))
        return result or ""

    def refuse(self, item: Instruction) -> Malformed:
        widths = [f"i{n}" for n in _WIDE.findall(item.text) if int(n) > _MOST]
        kind = widths[0] if widths else "wide integers"
        message = f"'{item.opcode}' of {kind} is not supported: SPIR-V has integers of at most {_MOST} bits"
        return Malformed("ir-not-supported", message, item.source)

    def instruction(self, item: Instruction) -> bool:
        """Replace an instruction, and return True; return False if the instruction is to be kept."""
        call = parse_call(item.text) if "call" in item.text else None
        if call is not None and call.name.startswith("llvm.lifetime"):
            return False
        if item.opcode in ("alloca", "getelementptr"):
            return False
        handlers: dict[str, Callable[[Instruction], bool]] = {
            **dict.fromkeys(("bitcast", "trunc", "zext"), self.cast),
            "lshr": self.shift,
            "freeze": self.freeze,
            "load": self.load,
            "store": self.store,
        }
        if item.opcode not in handlers:
            raise self.refuse(item)
        return handlers[item.opcode](item)

    def operand(self, item: Instruction, text: str) -> _Slice | None:
        argument = parse_argument(tokens_of(text))
        if argument.value in self.slices:
            return self.slices[argument.value]
        if _width(argument.type) > _MOST:
            raise self.refuse(item)
        return None

    def cast(self, item: Instruction) -> bool:
        match = CAST.fullmatch(item.text)
        if match is None or item.result is None:
            raise self.refuse(item)
        part, width = self.operand(item, match[2]), _width(match[3])
        if part is None:
            self.begin(item, parse_argument(tokens_of(match[2])), width)
        elif width > _MOST:
            self.slices[item.result] = replace(part, width=width, valid=min(part.valid, width))
        else:
            size = _size(match[3])
            if not size:
                raise self.refuse(item)
            self.take(item, replace(part, width=size, valid=min(part.valid, size)), match[3], item.result)
        return True

    def begin(self, item: Instruction, root: Argument, width: int) -> None:
        size = _size(root.type)
        if not size or width <= _MOST or not root.value.startswith("%"):
            raise self.refuse(item)
        self.slices[item.result or ""] = _Slice(root, size, 0, size, width)

    def shift(self, item: Instruction) -> bool:
        first, by = operands(item.text)[:2]
        part = self.operand(item, first)
        if part is None or not by.isdigit() or item.result is None:
            raise self.refuse(item)
        shift = int(by)
        valid = max(part.valid - shift, 0)
        self.slices[item.result] = replace(part, offset=part.offset + shift, valid=valid)
        return True

    def freeze(self, item: Instruction) -> bool:
        part = self.operand(item, operands(item.text)[0])
        if part is None or item.result is None:
            return False
        root = self.emit(f"freeze {part.root}", self.fresh("frozen"))
        self.slices[item.result] = replace(part, root=Argument(part.root.type, root))
        return True

    def load(self, item: Instruction) -> bool:
        kind = operands(item.text)[0]
        width = _width(kind)
        if width <= _MOST:
            return False
        if width % 8 or "atomic" in item.text or item.result is None:
            raise self.refuse(item)
        root = Argument(f"<{width // 8} x i8>", self.fresh("bytes"))
        self.emit(item.text.replace(kind, root.type, 1), root.value)
        self.slices[item.result] = _Slice(root, width, 0, width, width)
        return True

    def store(self, item: Instruction) -> bool:
        value = operands(item.text)[0]
        part = self.operand(item, value)
        if part is None:
            return False
        if part.width % 8 or "atomic" in item.text:
            raise self.refuse(item)
        kind = f"<{part.width // 8} x i8>"
        name = self.take(item, part, kind, self.fresh("slice"))
        self.emit(item.text.replace(value, f"{kind} {name}", 1), None)
        return True

    def take(self, item: Instruction, part: _Slice, kind: str, result: str) -> str:
        """Emit the value of a slice as the type `kind`, which has the slice's width; return the value's name."""
        unit = math.gcd(part.offset, part.valid, part.width, part.bits, _MOST)
        if unit < 8:
            raise self.refuse(item)
        count, total = part.width // unit, part.bits // unit
        first, valid = part.offset // unit, part.valid // unit
        source = Argument(f"<{total} x i{unit}>", part.root.value)
        if part.root.type != source.type:
            source.value = self.emit(f"bitcast {part.root} to {source.type}", self.fresh("units"))
        if count == 1:
            if not valid:
                return self.emit(f"freeze {kind} {'0.0' if kind in _BITS else '0'}", result)
            name = result if kind == f"i{unit}" else self.fresh("unit")
            self.emit(f"extractelement {source}, i64 {first}", name)
            return name if name == result else self.emit(f"bitcast i{unit} {name} to {kind}", result)
        indices = [first + n if n < valid else total for n in range(count)]
        mask = ", ".join(f"i32 {n}" for n in indices)
        shuffled = f"<{count} x i{unit}>"
        name = result if kind == shuffled else self.fresh("chosen")
        self.emit(f"shufflevector {source}, {source.type} zeroinitializer, <{count} x i32> <{mask}>", name)
        return name if name == result else self.emit(f"bitcast {shuffled} {name} to {kind}", result)
