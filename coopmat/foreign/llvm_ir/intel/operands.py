"""The operands of calls of Intel's three operations (load, store, mad), in any of their forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ....matrices.variants import MAX_DIMENSION, MatrixType, Use
from ..text import Argument, Call, Instruction, Malformed
from .spelling import LAYOUT_NUMBERS, LAYOUTS, SCOPES, Name, Shape, shape_of

_STRING = re.compile(r"!\"([^\"]*)\"")
_NUMBER = re.compile(r"-?\d+")
_FLAGS = {"true": True, "false": False, "0": False, "1": True, "-1": True}


@dataclass(frozen=True, slots=True)
class Read:
    """The operands of a call.

    matrices: A, B, C and the result of a multiply-add; otherwise the one matrix, as an accumulator.
    layout: the layout, as a number of `Layout`.
    """

    matrices: tuple[MatrixType, ...]
    layout: int = 0
    volatile: bool = False
    pointer: Argument | None = None
    stride: Argument | None = None


def read(item: Instruction, call: Call, name: Name) -> Read:
    """Return the operands of a call. Raise Malformed if the proposal does not define the call."""
    return _Reader(item, call, name).run()


class _Reader:
    def __init__(self, item: Instruction, call: Call, name: Name) -> None:
        self.item, self.call, self.name = item, call, name
        self.rest = list(call.arguments)

    def fail(self, message: str) -> Malformed:
        return Malformed("ir-operation", f"'{self.call.name}': {message}", self.item.source)

    def run(self) -> Read:
        return self.mad() if self.name.word == "mad" else self.memory(self.name.word == "load")

    def next(self, what: str) -> Argument:
        if not self.rest:
            raise self.fail(f"{what} is missing")
        return self.rest.pop(0)

    def end(self) -> None:
        if self.rest:
            raise self.fail(f"has {len(self.rest)} operands too many")

    def memory(self, loads: bool) -> Read:
        own = self.shape(self.call.type if loads else self.next("the matrix").type)
        if not loads and self.call.type != "void":
            raise self.fail("must have the result type void")
        pointer, stride = self.next("the pointer"), self.next("the stride")
        volatile, rows, columns = self.flag(), self.size("rows"), self.size("columns")
        layout, scope = self.layout(), self.scope()
        self.end()
        if not own.fits(rows, columns):
            raise self.fail(f"a matrix of {rows} x {columns} does not fit its type")
        matrix = MatrixType(own.component, rows, columns, Use.ACCUMULATOR, scope)
        return Read((matrix,), layout, volatile, pointer, stride)

    def mad(self) -> Read:
        shapes = []
        for what in ("A", "B", "C"):
            shapes.append(self.shape(self.next(what).type))
            # In the form for opaque types, a layout follows each matrix operand. It only specifies how a target stores
            # the value, so ignore it.
            if self.rest and self.rest[0].type == "metadata":
                self.layout()
        m, k, n = self.size("M"), self.size("K"), self.size("N")
        scope = self.scope()
        self.end()
        sides = ((m, k, Use.A), (k, n, Use.B), (m, n, Use.ACCUMULATOR))
        matrices = []
        for own, (rows, columns, use), what in zip(shapes, sides, "ABC", strict=True):
            if not own.fits(rows, columns):
                raise self.fail(f"{what} of {rows} x {columns} does not fit its type")
            matrices.append(MatrixType(own.component, rows, columns, use, scope))
        result = self.shape(self.call.type)
        if result.component != matrices[2].component or not result.fits(m, n):
            raise self.fail("the result's type is not that of C")
        return Read((*matrices, matrices[2]))

    # --- operands

    def shape(self, type_: str) -> Shape:
        result = shape_of(type_, self.item.source)
        if result is None:
            raise self.fail(f"{type_} is no type of a matrix")
        return result

    def constant(self, what: str) -> int:
        argument = self.next(what)
        if not re.fullmatch(r"i\d+", argument.type) or not _NUMBER.fullmatch(argument.value):
            raise self.fail(f"{what} is not an integer constant")
        return int(argument.value)

    def size(self, what: str) -> int:
        number = self.constant(f"the number of {what}" if len(what) > 1 else what)
        if not 1 <= number <= MAX_DIMENSION:
            raise self.fail(f"{what} is {number}, but must be from 1 to {MAX_DIMENSION}")
        return number

    def flag(self) -> bool:
        argument = self.next("IsVolatile")
        if argument.type != "i1" or argument.value not in _FLAGS:
            raise self.fail("IsVolatile is not an i1 constant")
        return _FLAGS[argument.value]

    def layout(self) -> int:
        return self.word("the layout", LAYOUTS, LAYOUT_NUMBERS)

    def scope(self) -> int:
        return self.word("the scope", SCOPES, {number: number for number in SCOPES.values()})

    def word(self, what: str, words: Mapping[str, int], numbers: Mapping[int, int]) -> int:
        if self.name.metadata:
            argument = self.next(what)
            match = _STRING.fullmatch(argument.value) if argument.type == "metadata" else None
            if match is None or match[1] not in words:
                raise self.fail(f"{what} is {argument.value}, which is none of {', '.join(words)}")
            return words[match[1]]
        number = self.constant(what)
        if number not in numbers:
            raise self.fail(f"{what} is {number}, which is none of {', '.join(map(str, numbers))}")
        return numbers[number]
