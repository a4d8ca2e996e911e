"""Loads and stores of tiles of matrices, as vectors along either axis."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...matrices import spelling
from ...matrices.variants import ComponentType
from .code import COLUMNS, OTHER, ROWS, Code, Place, Span, chunks, component, position, vector_literal
from .terms import InMemory

# A tile: for each line, the names of the vectors that hold it.
Tile = list[list[str]]


@dataclass(frozen=True, slots=True)
class Memory:
    """A matrix in memory, identified by the name of its pointer."""

    name: str
    where: InMemory
    rows: int
    columns: int

    @property
    def along(self) -> str:
        """The axis along which elements are contiguous: ROWS or COLUMNS."""
        return ROWS if self.where.row_major else COLUMNS

    @property
    def length(self) -> int:
        """The length of a contiguous line, in elements."""
        return self.columns if self.where.row_major else self.rows

    @property
    def stride(self) -> str:
        """The stride in elements, as an expression."""
        return f"{self.name}_stride" if self.where.stride is None else f"{self.where.stride}"

    def address(self, row: Place, column: Place) -> str:
        """Return an expression for the address of an element."""
        major, minor = (row, column) if self.where.row_major else (column, row)
        constant, terms = minor.offset, [minor.base] * bool(minor.base)
        if self.where.stride is None:
            if major.base or major.offset:
                number = str(major) if major.base else f"{major}UL"
                terms.append(self.stride if number == "1UL" else f"{number} * {self.stride}")
        else:
            constant += major.offset * self.where.stride
            if major.base:
                terms.append(f"{major.base} * {self.where.stride}")
        if constant:
            terms.append(f"{constant}")
        return " + ".join([self.name, *terms])


@dataclass(slots=True)
class Access:
    """The loads and stores of tiles in the text of a function.

    narrow: scalars are taken from the vectors that were loaded anyway. Otherwise scalars are loaded individually from
        memory that is not private, which costs no more.
    straight: the function has no loops (see `Plan`).
    Private memory is accessed as members of packed structures. Compilers optimise these early, and keep their values in
    registers, while `vloadn` may remain a call until late passes.
    """

    code: Code
    narrow: bool
    straight: bool

    def load(self, memory: Memory, axis: str, lines: Span, span: Span) -> Tile:
        """Emit the loads of a tile, unless it is loaded already, and return the names of its vectors."""
        widest = self.code.machine.widest
        pieces = chunks(span.count, widest)
        if memory.along == axis or self._by_element(memory) or lines.count == 1:
            return [[self._vector(memory, axis, line, span.first + start, w) for start, w in pieces] for line in lines]
        # Load vectors along the contiguous axis, and transpose them.
        across = Access.load(self, memory, OTHER[axis], span, lines)
        return _transposed(self.code, memory.where.element, across, lines.count, span.count)

    def element(self, memory: Memory, row: Place, column: Place) -> str:
        """Return the name of an element, or an expression that extracts it from a vector.

        Emit the load of the element or the vector, unless it is loaded already.
        """
        along = row if memory.along == COLUMNS else column
        whole = self.narrow or (self.straight and memory.where.space == "private")
        if whole and not along.base and not self._by_element(memory):
            line = column if memory.along == COLUMNS else row
            for start, w in chunks(memory.length, self.code.machine.widest):
                if start <= along.offset < start + w:
                    vector = self._vector(memory, memory.along, line, Place(start), w)
                    return component(vector, w, along.offset - start)
        return self._element(memory, row, column)

    def store(self, memory: Memory, axis: str, lines: Span, span: Span, tile: Tile) -> None:
        """Store a tile to memory."""
        code, element, widest = self.code, memory.where.element, self.code.machine.widest
        if memory.along != axis and not self._by_element(memory) and lines.count > 1:
            transpose = _transposed(code, element, tile, span.count, lines.count)
            self.store(memory, OTHER[axis], span, lines, transpose)
            return
        for place, line in zip(lines, tile, strict=True):
            for name, (start, w) in zip(line, chunks(span.count, widest), strict=True):
                first = span.first + start
                private = self._by_member(memory)
                if w > 1 and memory.along == axis and not self._by_element(memory) and not (private and w == 3):
                    address = memory.address(*position(axis, place, first))
                    statement = f"{self._member(element, w, address)} = {name}"
                    code.line(f"{statement if private else f'vstore{w}({name}, 0, {address})'};")
                    code.count(element, w)
                    continue
                for lane in range(w):
                    address = memory.address(*position(axis, place, first + lane))
                    code.line(f"*({address}) = {component(name, w, lane)};")
                    code.count(element, 1)

    def _member(self, element: ComponentType, w: int, address: str, const: str = "") -> str:
        """Return an lvalue for a vector in private memory that has only the alignment of its elements.

        Vectors of three components occupy the space of four.
        """
        vector = spelling.vector(element, w)
        packed = f"__attribute__((packed, aligned({element.size})))"
        self.code.typedefs[vector] = f"typedef struct {packed} {{ {vector} v; }} at_{vector};"
        return f"((__private {const}at_{vector} *)({address}))->v"

    def _by_member(self, memory: Memory) -> bool:
        """Return whether vectors are accessed as members of packed structures."""
        return memory.where.space == "private" and self.code.machine.members

    def _by_element(self, memory: Memory) -> bool:
        """Return whether each element must be accessed separately, because the memory is volatile."""
        return memory.where.volatile

    def _vector(self, memory: Memory, axis: str, line: Place, start: Place, w: int) -> str:
        """Load the `w` elements of a line from `start` on, unless they are loaded already, and return their name."""
        element = memory.where.element
        if w > 1 and memory.along == axis and not self._by_element(memory):
            address = memory.address(*position(axis, line, start))
            if not self._by_member(memory):
                return self.code.named(element, w, f"vload{w}(0, {address})")
            if w != 3:
                return self.code.named(element, w, self._member(element, w, address, "const "))
        elements = [self._element(memory, *position(axis, line, start + lane)) for lane in range(w)]
        return elements[0] if w == 1 else self.code.named(element, w, vector_literal(element, elements), w - 1)

    def _element(self, memory: Memory, row: Place, column: Place) -> str:
        """Load an element, unless it is loaded already, and return its name."""
        return self.code.named(memory.where.element, 1, f"*({memory.address(row, column)})")


def _transposed(code: Code, element: ComponentType, tile: Tile, lines: int, length: int) -> Tile:
    """Return the transpose of a tile of `length` lines with `lines` elements each."""
    widest = code.machine.widest
    result: Tile = []
    for line in range(lines):
        piece, (start, width) = next(
            (i, piece) for i, piece in enumerate(chunks(lines, widest)) if piece[0] <= line < sum(piece)
        )
        result.append(
            [
                code.named(
                    element,
                    w,
                    vector_literal(element, [component(tile[first + i][piece], width, line - start) for i in range(w)]),
                    math.log2(w) + 0.5,
                )
                for first, w in chunks(length, widest)
            ]
        )
    return result
