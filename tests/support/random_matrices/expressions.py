"""Random expressions: their text, and their value, computed by numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from .kinds import Kind, Memory, Place, submatrix
from .meaning import ELEMENTS, Array, converted, elementwise, fits, product

if TYPE_CHECKING:
    from .kernels import Kernel

VECTORS = (2, 3, 4, 8, 16)
_SUFFIXES = {"int": "", "uint": "u", "long": "L", "ulong": "UL", "float": "f", "double": "", "half": "h"}


@dataclass(frozen=True)
class Value:
    text: str
    value: Array


def literal(element: str, value: Array) -> str:
    """Return a constant of the type; `value` is small, and not a NaN."""
    number = value.item()
    if value.dtype.kind == "f":
        text = f"{float(number)!r}{_SUFFIXES[element]}"
    elif element in _SUFFIXES:
        text = f"{number}{_SUFFIXES[element]}"
    else:
        return f"({element}){number}"
    return f"({text})" if text.startswith("-") else text


def random_values(random: Random, element: str, shape: tuple[int, ...]) -> Array:
    """Return mostly small numbers, sometimes integers of all bits, and floats with both zeros, infinities and NaN."""
    wild = random.random() < 0.2
    generator = np.random.default_rng(random.getrandbits(32))
    dtype = np.dtype(ELEMENTS[element])
    if dtype.kind == "f":
        values = np.round(generator.standard_normal(shape) * 4, random.choice([0, 1, 7])).astype(dtype)
        if wild:
            special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
            values = np.where(generator.random(shape) < 0.1, generator.choice(special, shape), values).astype(dtype)
        return values
    if wild:
        limits = np.iinfo(dtype)
        return generator.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return generator.integers(-9 if dtype.kind == "i" else 0, 10, shape).astype(dtype)


class Expressions:
    """A maker of expressions for one kernel; makers return None if they have no expression of the requested kind."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.random = kernel.random

    # --- matrices --------------------------------------------------------------------------------

    def matrix(self, kind: Kind, depth: int) -> Value:
        if depth <= 0 or self.random.random() < 0.1:
            return self.leaf(kind)
        makers: list[Callable[[Kind, int], Value | None]] = [
            *([self._sum] * 4), *([self._product] * 4), self._scaled, self._offset, self._transposed, self._transposed,
            self._cast, self._broadcast, self._loaded, self._part, self._with_part, self._with_element, self._call,
            self._choice, self._of_vector,
        ]  # fmt: skip
        while True:
            found = self.random.choice(makers)(kind, depth - 1)
            if found is not None:
                return found

    def leaf(self, kind: Kind) -> Value:
        place = self.kernel.place(kind)
        return Value(place.text, place.value)

    def _sum(self, kind: Kind, depth: int) -> Value:
        op = self.random.choice("+-")
        left, right = self.matrix(kind, depth), self.matrix(kind, depth)
        text = f"({left.text} {op} {right.text})"
        if self.random.random() < 0.2:
            name = "__builtin_matrix_add" if op == "+" else "__builtin_matrix_sub"
            text = f"{name}({left.text}, {right.text})"
        return Value(text, elementwise(op, left.value, right.value))

    def _product(self, kind: Kind, depth: int) -> Value | None:
        inner = self.kernel.extent(kind)
        paddings = (kind.padding, kind.padding)
        if not kind.padding and self.random.random() < 0.1:
            paddings = (1, 2)
        a = replace(kind, columns=inner, padding=paddings[0])
        b = replace(kind, rows=inner, padding=paddings[1])
        left, right = self.matrix(a, depth), self.matrix(b, depth)
        text = f"({left.text} * {right.text})"
        if self.random.random() < 0.2:
            text = f"__builtin_matrix_multiply({left.text}, {right.text})"
        return Value(text, product(left.value, right.value))

    def _scaled(self, kind: Kind, depth: int) -> Value:
        matrix, scalar = self.matrix(kind, depth), self.scalar(kind.element, depth)
        forms = [f"({matrix.text} * {scalar.text})", f"({scalar.text} * {matrix.text})"]
        forms.append(f"__builtin_matrix_scalar_multiply({matrix.text}, {scalar.text})")
        return Value(self.random.choice(forms), elementwise("*", matrix.value, scalar.value))

    def _offset(self, kind: Kind, depth: int) -> Value:
        matrix, scalar, op = self.matrix(kind, depth), self.scalar(kind.element, depth), self.random.choice("+-")
        all_ = np.full(kind.shape, scalar.value)
        if self.random.random() < 0.5:
            return Value(f"({matrix.text} {op} {scalar.text})", elementwise(op, matrix.value, all_))
        return Value(f"({scalar.text} {op} {matrix.text})", elementwise(op, all_, matrix.value))

    def _transposed(self, kind: Kind, depth: int) -> Value:
        inner = self.matrix(replace(kind, rows=kind.columns, columns=kind.rows), depth)
        return Value(f"__builtin_matrix_transpose({inner.text})", inner.value.T)

    def _cast(self, kind: Kind, depth: int) -> Value | None:
        source = replace(self.kernel.kind(*kind.shape), element=self.kernel.element())
        inner = self.matrix(source, depth)
        if not fits(inner.value, kind.element):
            return None
        return Value(f"(({self.kernel.seen(kind).name}){inner.text})", converted(inner.value, kind.element))

    def _broadcast(self, kind: Kind, depth: int) -> Value:
        scalar = self.scalar(kind.element, depth)
        return Value(f"(({self.kernel.seen(kind).name}){scalar.text})", np.full(kind.shape, scalar.value))

    def _loaded(self, kind: Kind, depth: int) -> Value | None:
        if kind.padding:
            return None
        memory, offset, stride, arguments = self.kernel.memory(kind)
        at = offset + submatrix(*kind.shape, stride, kind.row_major)
        load = "__builtin_matrix_row_major_load" if kind.row_major else "__builtin_matrix_column_major_load"
        if not kind.row_major and arguments.count(",") == 3 and self.random.random() < 0.3:
            load = "__builtin_matrix_column_load"
        return Value(f"{load}({arguments})", memory.data[at])

    def _part(self, kind: Kind, depth: int) -> Value | None:
        if kind.padding or 1 not in kind.shape:
            return None
        which = "row" if kind.rows == 1 and (kind.columns > 1 or self.random.random() < 0.5) else "column"
        wider = self.kernel.kind(*kind.shape)
        count = self.kernel.extent(kind)
        wider = replace(wider, element=kind.element, row_major=kind.row_major)
        wider = replace(wider, rows=count) if which == "row" else replace(wider, columns=count)
        inner, at = self.matrix(wider, depth), self.random.randrange(count)
        value = inner.value[[at], :] if which == "row" else inner.value[:, [at]]
        return Value(f"__builtin_matrix_{which}({inner.text}, {self.kernel.index(at)})", value)

    def _with_part(self, kind: Kind, depth: int) -> Value:
        which = self.random.choice(["row", "column"])
        at = self.random.randrange(kind.rows if which == "row" else kind.columns)
        shape = {"rows": 1} if which == "row" else {"columns": 1}
        inner, part = self.matrix(kind, depth), self.matrix(replace(kind, padding=0, **shape), depth)
        value = inner.value.copy()
        value[at if which == "row" else (slice(None), at)] = part.value.ravel()
        name = "__builtin_matrix_insert_row" if which == "row" else "__builtin_matrix_insert_column"
        return Value(f"{name}({inner.text}, {self.kernel.index(at)}, {part.text})", value)

    def _with_element(self, kind: Kind, depth: int) -> Value:
        inner, scalar = self.matrix(kind, depth), self.scalar(kind.element, depth)
        row, column = self.random.randrange(kind.rows), self.random.randrange(kind.columns)
        value = inner.value.copy()
        value[row, column] = scalar.value
        where = f"{self.kernel.index(row)}, {self.kernel.index(column)}"
        return Value(f"__builtin_matrix_insert({inner.text}, {where}, {scalar.text})", value)

    def _call(self, kind: Kind, depth: int) -> Value:
        left, right = self.matrix(kind, depth), self.matrix(kind, depth)
        name = f"f_{self.kernel.seen(kind).name}"
        row, column = kind.rows - 1, kind.columns // 2
        body = f"a[{row}][{column}] += b[{row}][0]; return a - b;"
        self.kernel.function(name, f"static {kind.name} {name}({kind.name} a, const {kind.name} b) {{ {body} }}")
        a = left.value.copy()
        a[row, column : column + 1] = elementwise("+", a[row, column : column + 1], right.value[row, :1])
        return Value(f"{name}({left.text}, {right.text})", elementwise("-", a, right.value))

    def _choice(self, kind: Kind, depth: int) -> Value:
        arms, chosen = [self.matrix(kind, depth), self.matrix(kind, depth)], self.random.randrange(2)
        condition = f"{self.kernel.index(3)} {'<>'[chosen]} 5"
        return Value(f"({condition} ? {arms[0].text} : {arms[1].text})", arms[chosen].value)

    def _of_vector(self, kind: Kind, depth: int) -> Value | None:
        count = kind.rows * kind.columns
        if 1 not in kind.shape or count not in VECTORS:
            return None
        shape = self.random.choice([(1, count), (count, 1)])
        inner = self.matrix(replace(self.kernel.kind(*shape), element=kind.element), depth)
        vector = f"{kind.element}{count}"
        text = f"(({self.kernel.seen(kind).name})(({vector}){inner.text} + ({vector})(1)))"
        value = elementwise("+", inner.value.ravel(), np.ones(count, inner.value.dtype))
        return Value(text, value.reshape(kind.shape))

    # --- scalars ---------------------------------------------------------------------------------

    def scalar(self, element: str, depth: int) -> Value:
        """Return a scalar of any type; its value is the one after conversion to the element type."""
        while True:
            own = element if self.random.random() < 0.7 else self.kernel.element()
            found = self._read(own, depth) if self.random.random() < 0.5 else self._constant(own)
            if fits(found.value, element):
                return Value(found.text, converted(found.value, element))

    def _constant(self, element: str) -> Value:
        value = np.array(self.random.randrange(0, 20)).astype(ELEMENTS[element])
        if value.dtype.kind == "f":
            value = (value / np.asarray(8, value.dtype)).astype(value.dtype)
        return Value(literal(element, value), value)

    def _read(self, element: str, depth: int) -> Value:
        kind = replace(self.kernel.any_kind(), element=element)
        matrix = self.matrix(kind, depth - 1) if self.random.random() < 0.3 else self.leaf(kind)
        row, column = self.random.randrange(kind.rows), self.random.randrange(kind.columns)
        value = matrix.value[row, column]
        at = self.kernel.index(row), self.kernel.index(column)
        if self.random.random() < 0.2:
            return Value(f"__builtin_matrix_extract({matrix.text}, {at[0]}, {at[1]})", np.asarray(value))
        return Value(f"{matrix.text}[{at[0]}][{at[1]}]", np.asarray(value))


def as_memory(element: str, data: Array) -> Memory:
    return Memory.with_data(element, data)


def at(place: Place, row: str, column: str) -> str:
    return f"{place.text}[{row}][{column}]"
