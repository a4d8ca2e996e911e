"""The code that evaluates tiles of terms as vectors, on demand, from the result to the leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from ...matrices import spelling
from ...matrices.variants import ComponentType
from .access import Access, Memory, Tile
from .code import COLUMNS, OTHER, Code, Place, Span, binary, chunks, component, position, splat
from .layout import K_BLOCK, Plan
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


def direct(term: Term, *, converted: bool = True) -> bool:
    """Return whether an element of the term costs at most an access to memory and a conversion."""
    kinds = (Transposed, Converted, Part) if converted else (Transposed, Part)
    while isinstance(term, kinds):
        term = term.operand
    return isinstance(term, Object | Broadcast)


class _Lines:
    """The lines of a tile, each calculated when it is iterated over."""

    def __init__(self, line: Callable[[Place], list[str]], places: Span) -> None:
        self._line, self._places = line, places

    def __iter__(self) -> Iterator[list[str]]:
        return (self._line(place) for place in self._places)


class Evaluator:
    """The evaluation of terms, which is written to `code`."""

    def __init__(self, plan: Plan, code: Code) -> None:
        self.tree = plan.work
        self.code = code
        self.access = Access(code, plan.narrow, plan.straight)
        self.straight = plan.straight
        self.fused = plan.tree.contract and plan.tree.machine.fma and not plan.narrow
        # `key_of` a term -> the memory with its value. The key is the id, because hashing deep terms is slow. For an
        # object, it has the number of the input, because several objects may denote one input.
        self._stored: dict[int | tuple[int], Memory] = {}
        self._lines: dict[tuple[int, str, Place], list[str]] = {}

    def store(self, term: Term, memory: Memory) -> None:
        """Record that a term was stored; from now on, the term is read from `memory`."""
        self._stored[key_of(term)] = memory

    def tile(self, term: Term, axis: str, lines: Span, span: Span) -> Tile:
        """Emit the loads or the calculation of a tile of a term, and return for each line the names of its vectors.

        The vectors lie along `axis` in the range `span`; `lines` is the range on the other axis.
        """
        if key_of(term) in self._stored:
            return self.access.load(self._stored[key_of(term)], axis, lines, span)
        return self._TILES[type(term)](self, term, axis, lines, span)

    def scalar(self, term: Term, row: Place, column: Place) -> str:
        """Return a name, or a component of a name, for one element of a term that is direct (`direct`) or stored."""
        if key_of(term) in self._stored:
            return self.access.element(self._stored[key_of(term)], row, column)
        return self._SCALARS[type(term)](self, term, row, column)

    # --- leaves ------------------------------------------------------------------------------

    def _memory(self, term: Object) -> Memory:
        """Return the memory of an object."""
        where = self.tree.inputs[term.number]
        assert isinstance(where, InMemory)
        return Memory(f"p{term.number}", where, term.rows, term.columns)

    def _object(self, term: Object, axis: str, lines: Span, span: Span) -> Tile:
        return self.access.load(self._memory(term), axis, lines, span)

    def _object_scalar(self, term: Object, row: Place, column: Place) -> str:
        return self.access.element(self._memory(term), row, column)

    def _broadcast(self, term: Broadcast, axis: str, lines: Span, span: Span) -> Tile:
        line = [
            self._splat(term.element, w, f"p{term.number}") for _, w in chunks(span.count, self.code.machine.widest)
        ]
        return [list(line) for _ in lines]

    def _broadcast_scalar(self, term: Broadcast, row: Place, column: Place) -> str:
        return f"p{term.number}"

    def _splat(self, element: ComponentType, w: int, scalar: str) -> str:
        """Return the name of a splat of a scalar."""
        return scalar if w == 1 else self.code.named(element, w, splat(element, w, scalar), 0.5)

    # --- element by element ------------------------------------------------------------------

    def _map(
        self, term: Term, span: Span, tiles: Sequence[Tile | _Lines], expression: Callable[[int, list[str]], str]
    ) -> Tile:
        """Return a tile whose vectors are an expression of the corresponding vectors of other tiles."""
        pieces = chunks(span.count, self.code.machine.widest)
        return [
            [
                self.code.named(term.element, w, expression(w, [line[i] for line in lines]))
                for i, (_, w) in enumerate(pieces)
            ]
            for lines in zip(*tiles, strict=True)
        ]

    def _in_turn(self, term: Term, axis: str, lines: Span, span: Span) -> Tile | _Lines:
        """Return a tile whose lines are calculated on demand if that costs no more, and otherwise a calculated tile.

        Lines on demand need fewer registers for values from memory.
        """
        if direct(term) and self._lies(term) in (None, axis):
            return _Lines(lambda place: self.tile(term, axis, Span(place, 1), span)[0], lines)
        return self.tile(term, axis, lines, span)

    def _elementwise(self, term: Elementwise, axis: str, lines: Span, span: Span) -> Tile:
        """Calculate a chain of operations, without recursion to the left, where chains grow long.

        A product that is only added to a value becomes an operand of an fma, if contraction is allowed.
        """
        chain: list[Elementwise] = []
        operand: Term = term
        while isinstance(operand, Elementwise) and key_of(operand) not in self._stored:
            chain.append(operand)
            operand = operand.left
        result: Tile | _Lines = self._in_turn(operand, axis, lines, span)
        factor: Tile | _Lines | None = None
        for outer in reversed(chain):
            right = self._in_turn(outer.right, axis, lines, span)
            if factor is not None and outer.operator != "mul" and self._fuses(outer.element):
                result, factor = self._map(outer, span, [result, factor, right], _fused(outer.operator)), None
                continue
            if factor is not None:
                result, factor = self._map(outer.left, span, [result, factor], _binary("mul", outer.element)), None
            if outer.operator == "mul":
                factor = right
            else:
                result = self._map(outer, span, [result, right], _binary(outer.operator, outer.element))
        if factor is not None:
            return self._map(term, span, [result, factor], _binary("mul", term.element))
        return [list(line) for line in result]

    def _fuses(self, element: ComponentType) -> bool:
        """Return whether a product and a sum of this type become an fma."""
        return self.fused and not element.is_integer

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
        return self.tile(term.operand, OTHER[axis], lines, span)

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
        index, pieces = f"p{term.number}", chunks(span.count, self.code.machine.widest)
        if _across(term.which, axis):
            parts = self.tile(term.part, axis, lines, one)
            return [
                [
                    self._chosen(term.element, w, span.first + start, index, part[0], old)
                    for (start, w), old in zip(pieces, line, strict=True)
                ]
                for line, part in zip(rest, parts, strict=True)
            ]
        part = self._along(term.part, axis, Place(), span)
        return [
            [
                self.code.named(term.element, w, f"{place} == {index} ? {new} : {old}")
                for (_, w), old, new in zip(pieces, line, part, strict=True)
            ]
            for place, line in zip(lines, rest, strict=True)
        ]

    def _with_element(self, term: WithElement, axis: str, lines: Span, span: Span) -> Tile:
        rest, pieces = self.tile(term.operand, axis, lines, span), chunks(span.count, self.code.machine.widest)
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
        """Return `old` with the scalar `new` in the lane at position `index`, if `condition` holds.

        `first` is the position of the first lane.
        """
        if w == 1:
            both = f"{condition} && {first} == {index}" if condition else f"{first} == {index}"
            return self.code.named(element, 1, f"({both}) ? {new} : {old}")
        signed = spelling.integer(element.bits, signed=True)
        lane = f"({index} - {first})"
        # If the number is beyond the last lane, no lane must be selected; valid lane numbers fit a char.
        guarded = f"{lane} < {w} && {condition}" if condition else f"{lane} < {w}"
        number = self.code.named(signed, 1, f"({guarded}) ? ({signed.opencl_c}){lane} : ({signed.opencl_c})-1")
        lanes = f"({spelling.vector(signed, w)})({', '.join(map(str, range(w)))})"
        mask = self.code.named(signed, w, f"{lanes} == {splat(signed, w, number)}")
        # Avoid select(), on which Intel's compiler fails if `old` is an undefined vector of shorts.
        return self.code.named(element, w, f"{mask} ? {splat(element, w, new)} : {old}")

    # --- products ----------------------------------------------------------------------------

    def _product(self, term: Product, axis: str, lines: Span, span: Span) -> Tile:
        """Calculate a product: one operand as vectors along the axis, and the elements of the other as scalars."""
        depth, pieces = term.left.columns, chunks(span.count, self.code.machine.widest)
        # `block` is the number of steps along K that are unrolled together. Their vectors are loaded together, so that
        # one transposition serves all of them.
        block = depth if self.straight or depth <= 2 * K_BLOCK else K_BLOCK
        if block == depth:
            return self._ended(term, pieces, self._steps(term, axis, lines, span, Span(Place(), depth), None))
        code, totals = self.code, [_total(term.element, w) for _, w in pieces]
        zeros = [splat(total, w, "0") for total, (_, w) in zip(totals, pieces, strict=True)]
        sums = [
            [
                code.declared(total, w, zero, constant=False)
                for total, (_, w), zero in zip(totals, pieces, zeros, strict=True)
            ]
            for _ in lines
        ]
        k, even = code.fresh("k"), depth // block * block
        with code.loop(k, 0, even, block):
            self._steps(term, axis, lines, span, Span(Place(base=k), block), sums)
        if depth > even:
            with code.block(""):
                self._steps(term, axis, lines, span, Span(Place(even), depth - even), sums)
        return self._ended(term, pieces, sums)

    def _steps(self, term: Product, axis: str, lines: Span, span: Span, ks: Span, sums: Tile | None) -> Tile:
        """Return the sums after the products for `ks`: the variables `sums`, or new constants if there are none."""
        code, pieces = self.code, chunks(span.count, self.code.machine.widest)
        values: list[list[str | None]] = (
            [list(line) for line in sums] if sums else [[None] * len(pieces) for _ in lines]
        )
        vectors = self._vector_side(term, axis, ks, span)
        for number, k in enumerate(ks):
            vector = vectors(number, k)
            for line, place in zip(values, lines, strict=True):
                scalar = self._scalar_side(term, axis, k, place)
                for i, (_, w) in enumerate(pieces):
                    total = _total(term.element, w)
                    x = spelling.convert(vector[i], term.element, total, w)
                    y = self._splat(total, w, self._wide(scalar, term.element, total))
                    step = self._step(total, w, x, y, line[i])
                    if sums is None:
                        line[i] = code.declared(total, w, step)
                    else:
                        code.line(f"{line[i]} = {step};")
                    code.count(total, w)
        return [[name for name in line if name is not None] for line in values]

    def _step(self, total: ComponentType, w: int, x: str, y: str, before: str | None) -> str:
        """Return the expression x y + before.

        A contracted sum begins with the product, as Clang's does. Otherwise the sum begins with 0, whose sign is
        visible if a product is -0.
        """
        if before is None and self.tree.contract:
            return f"{x} * {y}"
        if self._fuses(total):
            return f"fma({x}, {y}, {before})"
        return f"{before or splat(total, w, '0')} + {x} * {y}"

    def _wide(self, scalar: str, element: ComponentType, total: ComponentType) -> str:
        """Return the name of a scalar converted to the type of the sum."""
        if total == element:
            return scalar
        return self.code.named(total, 1, spelling.convert(scalar, element, total, 1))

    def _ended(self, term: Product, pieces: Sequence[tuple[int, int]], sums: Tile) -> Tile:
        """Return the sums converted to the element type."""
        return [
            [
                name
                if (total := _total(term.element, w)) == term.element
                else self.code.named(term.element, w, spelling.convert(name, total, term.element, w))
                for name, (_, w) in zip(line, pieces, strict=True)
            ]
            for line in sums
        ]

    def _vector_side(self, term: Product, axis: str, ks: Span, span: Span) -> Callable[[int, Place], list[str]]:
        """Return a function from a k (its number and place) to the vectors for that k.

        If the vectors must be transposed, all are calculated at once; otherwise one at a time.
        """
        operand = term.left if axis == COLUMNS else term.right
        if self._whole(operand):
            return lambda number, k: self._along(operand, axis, k, span)
        if self._lies(operand) not in (None, axis):
            tile = self.tile(operand, axis, ks, span)
            return lambda number, k: tile[number]
        return lambda number, k: self.tile(operand, axis, Span(k, 1), span)[0]

    def _scalar_side(self, term: Product, axis: str, k: Place, line: Place) -> str:
        """Return the name of the scalar for a k and a line."""
        operand = term.right if axis == COLUMNS else term.left
        if not self._whole(operand):
            return self.scalar(operand, *position(axis, line, k))
        names = self._line(operand, axis, line)
        length = term.left.columns
        return next(
            component(name, w, k.offset - start)
            for name, (start, w) in zip(names, chunks(length, self.code.machine.widest), strict=True)
            if start <= k.offset < start + w
        )

    def _lies(self, term: Term) -> str | None:
        """Return the axis along which an operand's vectors are contiguous in memory; None if they are not in memory."""
        turned = False
        while key_of(term) not in self._stored and isinstance(term, Transposed | Converted | Part):
            turned ^= isinstance(term, Transposed)
            term = term.operand
        memory = self._stored.get(key_of(term)) or (self._memory(term) if isinstance(term, Object) else None)
        if memory is None:
            return None
        return OTHER[memory.along] if turned else memory.along

    def _whole(self, operand: Term) -> bool:
        """Return whether an operand's lines are calculated completely and kept.

        This is so in code without loops if the operand is neither in memory nor a scalar.
        """
        return self.straight and key_of(operand) not in self._stored and not direct(operand, converted=False)

    def _along(self, term: Term, axis: str, place: Place, span: Span) -> list[str]:
        """Return the vectors of a span of a row or column (`axis`).

        If the span is all of it and its vectors are in variables already, return these.
        """
        length = term.rows if axis == COLUMNS else term.columns
        if self._whole(term) and span == Span(Place(), length):
            return self._line(term, axis, place)
        return self.tile(term, axis, Span(place, 1), span)[0]

    def _line(self, term: Term, axis: str, place: Place) -> list[str]:
        """Return the vectors of a kept line; calculate it at the first use."""
        key = (id(term), axis, place)
        if key not in self._lines:
            length = term.rows if axis == COLUMNS else term.columns
            self._lines[key] = self.tile(term, axis, Span(place, 1), Span(Place(), length))[0]
        return self._lines[key]

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


def _across(which: str, axis: str) -> bool:
    """Return whether a row or a column has one element of each line of this axis."""
    return (which == "row") == (axis == COLUMNS)


def key_of(term: Term) -> int | tuple[int]:
    """Return a key that is equal for equal values."""
    return (term.number,) if isinstance(term, Object) else id(term)


def _total(element: ComponentType, w: int) -> ComponentType:
    """Return the type of sums: for integers unsigned, so that they wrap, and as scalars not promoted to int."""
    if not element.is_integer:
        return element
    return spelling.integer(max(element.bits, 32) if w == 1 else element.bits, signed=False)


def _binary(operator: str, element: ComponentType) -> Callable[[int, list[str]], str]:
    """Return a function from (width, operands) to the expression of an operator."""
    return lambda w, x: binary(operator, element, w, x[0], x[1])


def _fused(operator: str) -> Callable[[int, list[str]], str]:
    """Return a function from (width, operands) to the expression of an fma that adds or subtracts the third operand."""
    return lambda w, x: f"fma({x[0]}, {x[1]}, {'-' * (operator == 'sub')}{x[2]})"
