"""Tiles of terms as vectors: the code that calculates them, on demand from the result backwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import ClassVar

from ...diagnostics import InternalError
from .. import spelling
from ..variants import ComponentType
from .code import COLUMNS, ROWS, Code, Memory, Place, Span, binary, chunks, component, splat, vector_literal
from .plan import direct
from .terms import (
    Broadcast,
    Converted,
    Elementwise,
    InMemory,
    Object,
    Part,
    Product,
    Term,
    Transposed,
    WithElement,
    WithPart,
)
from .tree import Tree

# Of a tile: for each line the names of the vectors that hold it.
Tile = list[list[str]]
_OTHER = {COLUMNS: ROWS, ROWS: COLUMNS}


class Evaluator:
    """Writes to `code`. `straight`: every place is a constant, so that a matrix may be held in registers as a whole."""

    def __init__(self, tree: Tree, code: Code) -> None:
        self.tree = tree
        self.code = code
        self.straight = True
        self.k_step = 1
        # By identity: terms grow deep.
        self.stored: dict[int, Memory] = {}
        self._held: dict[int, tuple[str, Tile]] = {}

    def tile(self, term: Term, axis: str, lines: Span, span: Span) -> Tile:
        if id(term) in self.stored:
            return self._load(self.stored[id(term)], axis, lines, span)
        return self._TILES[type(term)](self, term, axis, lines, span)

    def scalar(self, term: Term, row: Place, column: Place) -> str:
        """The name of one element."""
        if id(term) in self.stored:
            return self._element(self.stored[id(term)], row, column)
        if not direct(term) and isinstance(term, Transposed):
            return self.scalar(term.operand, column, row)
        if not direct(term):
            return self._extracted(term, row, column)
        return self._SCALARS[type(term)](self, term, row, column)

    # --- leaves ------------------------------------------------------------------------------

    def _memory(self, term: Object) -> Memory:
        where = self.tree.inputs[term.number]
        assert isinstance(where, InMemory)
        return Memory(f"p{term.number}", where)

    def _object(self, term: Object, axis: str, lines: Span, span: Span) -> Tile:
        return self._load(self._memory(term), axis, lines, span)

    def _load(self, memory: Memory, axis: str, lines: Span, span: Span) -> Tile:
        pieces = chunks(span.count, self.code.widest)
        return [[self._vector(memory, axis, line, span.first + start, w) for start, w in pieces] for line in lines]

    def _vector(self, memory: Memory, axis: str, line: Place, start: Place, w: int) -> str:
        element = memory.where.element
        if w > 1 and memory.along == axis and not memory.where.volatile:
            row, column = _position(axis, line, start)
            return self.code.named(element, w, f"vload{w}(0, {memory.address(row, column)})")
        places = [_position(axis, line, start + lane) for lane in range(w)]
        elements = [self._element(memory, *place) for place in places]
        return elements[0] if w == 1 else self.code.named(element, w, vector_literal(element, elements))

    def _element(self, memory: Memory, row: Place, column: Place) -> str:
        return self.code.named(memory.where.element, 1, f"*({memory.address(row, column)})")

    def _object_scalar(self, term: Object, row: Place, column: Place) -> str:
        return self._element(self._memory(term), row, column)

    def _broadcast(self, term: Broadcast, axis: str, lines: Span, span: Span) -> Tile:
        pieces = chunks(span.count, self.code.widest)
        line = [self._splat(term.element, w, f"p{term.number}") for _, w in pieces]
        return [list(line) for _ in lines]

    def _broadcast_scalar(self, term: Broadcast, row: Place, column: Place) -> str:
        return f"p{term.number}"

    def _splat(self, element: ComponentType, w: int, scalar: str) -> str:
        return scalar if w == 1 else self.code.named(element, w, splat(element, w, scalar))

    # --- element by element ------------------------------------------------------------------

    def _map(self, term: Term, span: Span, tiles: Sequence[Tile], expression: Callable[[int, list[str]], str]) -> Tile:
        pieces = chunks(span.count, self.code.widest)
        return [
            [
                self.code.named(term.element, w, expression(w, [line[i] for line in lines]))
                for i, (_, w) in enumerate(pieces)
            ]
            for lines in zip(*tiles, strict=True)
        ]

    def _elementwise(self, term: Elementwise, axis: str, lines: Span, span: Span) -> Tile:
        """Without recursion to the left, where chains grow long. A product that is only added to something is an
        operand of an fma, where that is allowed."""
        chain: list[Elementwise] = []
        inner: Term = term
        while isinstance(inner, Elementwise) and id(inner) not in self.stored:
            chain.append(inner)
            inner = inner.left
        result = self.tile(inner, axis, lines, span)
        fused: Tile | None = None
        for below, outer in pairwise([None, *reversed(chain)]):
            assert outer is not None
            right = self.tile(outer.right, axis, lines, span)
            if self._contracts(outer.element) and outer.operator != "mul" and fused is not None and below is not None:
                result = self._map(outer, span, [result, fused, right], _fused(outer.operator))
                fused = None
                continue
            if fused is not None and below is not None:
                result = self._map(below, span, [result, fused], _binary(below))
                fused = None
            if outer.operator == "mul":
                fused = right
            else:
                result = self._map(outer, span, [result, right], _binary(outer))
        if fused is not None:
            result = self._map(term, span, [result, fused], _binary(term))
        return result

    def _contracts(self, element: ComponentType) -> bool:
        return self.tree.contract and not element.is_integer

    def _converted(self, term: Converted, axis: str, lines: Span, span: Span) -> Tile:
        source = term.operand.element
        return self._map(
            term,
            span,
            [self.tile(term.operand, axis, lines, span)],
            lambda w, x: spelling.convert(x[0], source, term.element, w),
        )

    def _converted_scalar(self, term: Converted, row: Place, column: Place) -> str:
        x = self.scalar(term.operand, row, column)
        return self.code.named(term.element, 1, spelling.convert(x, term.operand.element, term.element, 1))

    # --- places ------------------------------------------------------------------------------

    def _transposed(self, term: Transposed, axis: str, lines: Span, span: Span) -> Tile:
        return self.tile(term.operand, _OTHER[axis], lines, span)

    def _transposed_scalar(self, term: Transposed, row: Place, column: Place) -> str:
        return self.scalar(term.operand, column, row)

    def _part(self, term: Part, axis: str, lines: Span, span: Span) -> Tile:
        one = Span(Place(base=f"p{term.number}"), 1)
        if _across(term.which, axis):
            return self.tile(term.operand, axis, lines, one)
        return self.tile(term.operand, axis, one, span)

    def _part_scalar(self, term: Part, row: Place, column: Place) -> str:
        index = Place(base=f"p{term.number}")
        return (
            self.scalar(term.operand, index, column) if term.which == "row" else self.scalar(term.operand, row, index)
        )

    def _with_part(self, term: WithPart, axis: str, lines: Span, span: Span) -> Tile:
        rest, one = self.tile(term.operand, axis, lines, span), Span(Place(), 1)
        index, pieces = f"p{term.number}", chunks(span.count, self.code.widest)
        if _across(term.which, axis):
            parts = self.tile(term.part, axis, lines, one)
            return [
                [
                    self._chosen(term.element, w, span.first + start, index, part[0], old)
                    for (start, w), old in zip(pieces, line, strict=True)
                ]
                for line, part in zip(rest, parts, strict=True)
            ]
        part = self.tile(term.part, axis, one, span)[0]
        return [
            [
                self.code.named(term.element, w, f"{place} == {index} ? {new} : {old}")
                for (_, w), old, new in zip(pieces, line, part, strict=True)
            ]
            for place, line in zip(lines, rest, strict=True)
        ]

    def _with_element(self, term: WithElement, axis: str, lines: Span, span: Span) -> Tile:
        rest, pieces = self.tile(term.operand, axis, lines, span), chunks(span.count, self.code.widest)
        across, along = (term.column, term.row) if axis == COLUMNS else (term.row, term.column)
        return [
            [
                self._chosen(
                    term.element, w, span.first + start, f"p{along}", f"p{term.number}", old, f"{place} == p{across}"
                )
                for (start, w), old in zip(pieces, line, strict=True)
            ]
            for place, line in zip(lines, rest, strict=True)
        ]

    def _chosen(
        self, element: ComponentType, w: int, first: Place, index: str, new: str, old: str, condition: str = ""
    ) -> str:
        """`old` with the scalar `new` in the lane whose place is `index`."""
        if w == 1:
            both = f"{condition} && {first} == {index}" if condition else f"{first} == {index}"
            return self.code.named(element, 1, f"({both}) ? {new} : {old}")
        signed = spelling.integer(element.bits, signed=True)
        lane = f"({index} - {first})"
        # Beyond the last lane no lane is meant; a char holds all that are.
        guarded = f"{lane} < {w} && {condition}" if condition else f"{lane} < {w}"
        number = self.code.named(signed, 1, f"({guarded}) ? ({signed.opencl_c}){lane} : ({signed.opencl_c})-1")
        lanes = f"({spelling.vector(signed, w)})({', '.join(map(str, range(w)))})"
        mask = self.code.named(signed, w, f"{lanes} == {splat(signed, w, number)}")
        return self.code.named(element, w, f"select({old}, {splat(element, w, new)}, {mask})")

    # --- products ----------------------------------------------------------------------------

    def _product(self, term: Product, axis: str, lines: Span, span: Span) -> Tile:
        """One operand as vectors along the axis, the other one's elements as scalars."""
        inner, pieces = term.left.columns, chunks(span.count, self.code.widest)
        if self.straight or inner <= self.k_step:
            return self._ended(term, pieces, self._steps(term, axis, lines, span, Span(Place(), inner), None))
        code = self.code
        sums = [[code.fresh("s") for _ in pieces] for _ in lines]
        for line in sums:
            for name, (_, w) in zip(line, pieces, strict=True):
                total = _total(term.element, w)
                code.line(f"{spelling.vector(total, w)} {name} = ({spelling.vector(total, w)})(0);")
        k, even = code.fresh("k"), inner // self.k_step * self.k_step
        with code.loop(k, 0, even, self.k_step):
            self._assign(sums, self._steps(term, axis, lines, span, Span(Place(base=k), self.k_step), sums))
        if inner > even:
            with code.block(""):
                self._assign(sums, self._steps(term, axis, lines, span, Span(Place(even), inner - even), sums))
        return self._ended(term, pieces, sums)

    def _assign(self, sums: Tile, values: Tile) -> None:
        for line, new in zip(sums, values, strict=True):
            for name, value in zip(line, new, strict=True):
                self.code.line(f"{name} = {value};")

    def _steps(self, term: Product, axis: str, lines: Span, span: Span, ks: Span, sums: Tile | None) -> Tile:
        """The sums after the products of `ks`."""
        code, element, pieces = self.code, term.element, chunks(span.count, self.code.widest)
        values: Tile = [list(line) for line in sums] if sums else [[""] * len(pieces) for _ in lines]
        for k in ks:
            vectors = self.tile(*_vector_side(term, axis, k, span))[0]
            for number, place in enumerate(lines):
                scalar = self._scalar_side(term, axis, k, place)
                for i, (_, w) in enumerate(pieces):
                    total = _total(element, w)
                    x = spelling.convert(vectors[i], element, total, w)
                    y = self._splat(total, w, self._wide(scalar, element, w))
                    before = values[number][i] or f"({spelling.vector(total, w)})(0)"
                    if self._contracts(element):
                        step = f"fma({x}, {y}, {before})"
                    else:
                        step = f"{before} + {x} * {y}"
                    name = code.fresh("s")
                    code.line(f"const {spelling.vector(total, w)} {name} = {step};")
                    values[number][i] = name
        return values

    def _wide(self, scalar: str, element: ComponentType, w: int) -> str:
        total = _total(element, w)
        return scalar if total == element else self.code.named(total, 1, _resized(scalar, element, total))

    def _ended(self, term: Product, pieces: Sequence[tuple[int, int]], sums: Tile) -> Tile:
        return [
            [
                name
                if (total := _total(term.element, w)) == term.element
                else self.code.named(term.element, w, spelling.convert(name, total, term.element, w))
                for name, (_, w) in zip(line, pieces, strict=True)
            ]
            for line in sums
        ]

    def _scalar_side(self, term: Product, axis: str, k: Place, line: Place) -> str:
        if axis == COLUMNS:
            return self.scalar(term.right, k, line)
        return self.scalar(term.left, line, k)

    def _extracted(self, term: Term, row: Place, column: Place) -> str:
        """An element of a matrix that is held in registers, all of it."""
        if not self.straight or row.base or column.base:
            raise InternalError("an element of a matrix that is neither in memory nor in registers")
        if id(term) not in self._held:
            lines, span = Span(Place(), term.columns), Span(Place(), term.rows)
            self._held[id(term)] = COLUMNS, self.tile(term, COLUMNS, lines, span)
        axis, tile = self._held[id(term)]
        line, lane = (column.offset, row.offset) if axis == COLUMNS else (row.offset, column.offset)
        length = term.rows if axis == COLUMNS else term.columns
        for name, (start, w) in zip(tile[line], chunks(length, self.code.widest), strict=True):
            if start <= lane < start + w:
                return component(name, w, lane - start)
        raise InternalError(f"no element {row}, {column}")

    _TILES: ClassVar[dict[type[Term], Callable[..., Tile]]] = {
        Object: _object,
        Broadcast: _broadcast,
        Elementwise: _elementwise,
        Converted: _converted,
        Transposed: _transposed,
        Part: _part,
        WithPart: _with_part,
        WithElement: _with_element,
        Product: _product,
    }
    _SCALARS: ClassVar[dict[type[Term], Callable[..., str]]] = {
        Object: _object_scalar,
        Broadcast: _broadcast_scalar,
        Converted: _converted_scalar,
        Transposed: _transposed_scalar,
        Part: _part_scalar,
    }


def _position(axis: str, line: Place, along: Place) -> tuple[Place, Place]:
    """Row and column."""
    return (along, line) if axis == COLUMNS else (line, along)


def _across(which: str, axis: str) -> bool:
    """Whether a row or a column has one element of each line."""
    return (which == "row") == (axis == COLUMNS)


def _vector_side(term: Product, axis: str, k: Place, span: Span) -> tuple[Term, str, Span, Span]:
    return (term.left if axis == COLUMNS else term.right), axis, Span(k, 1), span


def _total(element: ComponentType, w: int) -> ComponentType:
    """What sums are held in: integers without a sign, which wrap, and as scalars do not promote to int."""
    if not element.is_integer:
        return element
    return spelling.integer(max(element.bits, 32) if w == 1 else element.bits, signed=False)


def _resized(scalar: str, source: ComponentType, target: ComponentType) -> str:
    return spelling.convert(scalar, source, target, 1)


def _binary(term: Elementwise) -> Callable[[int, list[str]], str]:
    return lambda w, x: binary(term.operator, term.element, w, x[0], x[1])


def _fused(operator: str) -> Callable[[int, list[str]], str]:
    return lambda w, x: f"fma({x[0]}, {x[1]}, {'-' * (operator == 'sub')}{x[2]})"
