"""Random trees with the memory that they read and write: what a kernel over them does, and what it must do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np

from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType
from coopmat.matrix_types.expressions import (
    Broadcast,
    Converted,
    Elementwise,
    InMemory,
    Input,
    Machine,
    Object,
    Part,
    Product,
    Term,
    Transposed,
    Tree,
    WithElement,
    WithPart,
)
from coopmat.matrix_types.expressions.term_reference import Value, value_with_error

Array = np.ndarray[Any, Any]
ELEMENTS = tuple(component for name, component in COMPONENT_TYPES.items() if not component.is_bits)
SPACES = ("global", "global", "global", "local", "private", "constant", "generic")
LENGTHS = (1, 1, 2, 3, 4, 5, 7, 8, 9, 16)
SHAPES = ((3, 5), (17, 9), (64, 64), (4, 4), (8, 8), (16, 16))
MACHINES = (Machine(), Machine(128, 8), Machine(512, 32), Machine(256, 16, 4), Machine(64, 4))
GUARD = 3


@dataclass
class Slot:
    """Memory of one matrix in a buffer: where it starts there, in elements, and its stride at run time."""

    where: InMemory
    rows: int
    columns: int
    stride: int
    buffer: int
    start: int

    def places(self) -> Array:
        r, c = np.indices((self.rows, self.columns))
        offsets: Array = self.start + (r * self.stride + c if self.where.row_major else c * self.stride + r)
        return offsets

    @property
    def extent(self) -> int:
        major, minor = (self.rows, self.columns) if self.where.row_major else (self.columns, self.rows)
        return (major - 1) * self.stride + minor


@dataclass
class Case:
    tree: Tree
    buffers: list[Array]
    slots: dict[int, Slot]
    out: Slot
    numbers: dict[int, Any]
    label: str = ""
    values: list[Any] = field(default_factory=list)

    def expected(self) -> Value:
        inputs: list[Any] = []
        for number, item in enumerate(self.tree.inputs):
            if isinstance(item, InMemory):
                slot = self.slots[number]
                inputs.append(self.buffers[slot.buffer][slot.places()])
            else:
                inputs.append(self.numbers[number])
        return value_with_error(self.tree.root, inputs)

    def check(self, after: list[Array]) -> None:
        value, places = self.expected(), self.out.places()
        wanted = [buffer.copy() for buffer in self.buffers]
        wanted[self.out.buffer][places] = value.matrix
        for number, (got, want) in enumerate(zip(after, wanted, strict=True)):
            if number == self.out.buffer:
                found = got[places]
                assert _agree(found, value, self.tree.contract), f"{self.label}\n{self.tree}\n{found}\n{value.matrix}"
                got = got.copy()
                got[places] = value.matrix
            assert got.tobytes() == want.tobytes(), f"{self.label}: memory beside the result changed\n{self.tree}"


def _agree(found: Array, value: Value, contract: bool) -> bool:
    want = value.matrix
    exact = (found == want) & (np.signbit(found) == np.signbit(want)) if found.dtype.kind == "f" else found == want
    if found.dtype.kind == "f":
        exact |= np.isnan(found) & np.isnan(want)
        if contract:
            with np.errstate(all="ignore"):
                near = abs(found.astype(np.float64) - want.astype(np.float64)) <= value.error
            exact |= near | ~np.isfinite(value.error) | ~np.isfinite(want)
    return bool(exact.all())


# --- drawing -------------------------------------------------------------------------------------


class Drawer:
    def __init__(self, random: Random, element: ComponentType) -> None:
        self.random = random
        self.numpy = np.random.default_rng(random.getrandbits(32))
        self.element = element
        self.inputs: list[InMemory | Input] = []
        self.slots: dict[int, Slot] = {}
        self.numbers: dict[int, Any] = {}
        self.buffers: list[Array] = []

    def values(self, element: ComponentType, count: int, small: bool = False) -> Array:
        dtype = np.dtype(element.numpy)
        if element.is_integer:
            limits = np.iinfo(dtype)
            drawn = self.numpy.integers(limits.min, limits.max, count, dtype, endpoint=True)
            return drawn % 100 if small else drawn
        drawn = self.numpy.normal(0, 2, count)
        if small:
            drawn = abs(drawn * 10)
        drawn[self.numpy.random(count) < 0.1] = 0.0
        drawn[self.numpy.random(count) < 0.05] = -0.0
        return drawn.astype(dtype)

    def memory(
        self, element: ComponentType, rows: int, columns: int, *, out: bool = False, small: bool = False
    ) -> Slot:
        random = self.random
        space = random.choice([s for s in SPACES if not (out and s == "constant")])
        if rows * columns > 1024 and space != "generic":
            space = "global"
        row_major = random.random() < 0.4
        tight = columns if row_major else rows
        stride = tight + random.choice((0, 0, 0, 1, 3))
        where = InMemory(
            element, space, random.choice((stride, stride, None)), row_major, volatile=random.random() < 0.1
        )
        slot = Slot(where, rows, columns, stride, len(self.buffers), GUARD)
        self.buffers.append(self.values(element, slot.extent + 2 * GUARD, small))
        return slot

    def input(self, item: InMemory | Input) -> int:
        self.inputs.append(item)
        return len(self.inputs) - 1

    def leaf(self, element: ComponentType, rows: int, columns: int, small: bool = False) -> Term:
        if self.random.random() < 0.15:
            number = self.input(Input(element))
            self.numbers[number] = self.values(element, 1, small)[0]
            return Broadcast(element, rows, columns, number)
        slot = self.memory(element, rows, columns, small=small)
        number = self.input(slot.where)
        self.slots[number] = slot
        return Object(element, rows, columns, number)

    def index(self, count: int) -> int:
        number = self.input(Input(None))
        self.numbers[number] = self.random.randrange(count)
        return number

    def term(self, element: ComponentType, rows: int, columns: int, depth: int, exact: bool = True) -> Term:
        """`exact`: it may be big; otherwise what a conversion to an integer takes."""
        if depth == 0 or self.random.random() < 0.1:
            return self.leaf(element, rows, columns)
        return self.random.choice(_MAKERS)(self, element, rows, columns, depth - 1)


def _elementwise(d: Drawer, element: ComponentType, rows: int, columns: int, depth: int) -> Term:
    operator = d.random.choice(("add", "sub", "mul"))
    left, right = d.term(element, rows, columns, depth), d.term(element, rows, columns, depth)
    return Elementwise(element, rows, columns, left, right, operator)


def _product(d: Drawer, element: ComponentType, rows: int, columns: int, depth: int) -> Term:
    inner = d.random.choice((rows, columns, *LENGTHS)) if max(rows, columns) < 64 else d.random.choice((5, 64))
    left, right = d.term(element, rows, inner, depth), d.term(element, inner, columns, depth)
    return Product(element, rows, columns, left, right)


def _transposed(d: Drawer, element: ComponentType, rows: int, columns: int, depth: int) -> Term:
    return Transposed(element, rows, columns, d.term(element, columns, rows, depth))


def _converted(d: Drawer, element: ComponentType, rows: int, columns: int, depth: int) -> Term:
    source = d.random.choice(ELEMENTS)
    if source == element:
        return d.term(element, rows, columns, depth)
    if element.is_integer and not source.is_integer:
        return Converted(element, rows, columns, d.leaf(source, rows, columns, small=True))
    return Converted(element, rows, columns, d.term(source, rows, columns, depth))


def _part(d: Drawer, element: ComponentType, rows: int, columns: int, depth: int) -> Term:
    more = d.random.choice(LENGTHS)
    if rows == 1:
        operand = d.term(element, more, columns, depth)
        return Part(element, rows, columns, operand, "row", d.index(more))
    if columns == 1:
        operand = d.term(element, rows, more, depth)
        return Part(element, rows, columns, operand, "column", d.index(more))
    return _elementwise(d, element, rows, columns, depth)


def _with_part(d: Drawer, element: ComponentType, rows: int, columns: int, depth: int) -> Term:
    operand = d.term(element, rows, columns, depth)
    if d.random.random() < 0.5:
        index = d.index(rows)
        return WithPart(element, rows, columns, operand, "row", index, d.term(element, 1, columns, depth))
    index = d.index(columns)
    return WithPart(element, rows, columns, operand, "column", index, d.term(element, rows, 1, depth))


def _with_element(d: Drawer, element: ComponentType, rows: int, columns: int, depth: int) -> Term:
    operand = d.term(element, rows, columns, depth)
    row, column = d.index(rows), d.index(columns)
    number = d.input(Input(element))
    d.numbers[number] = d.values(element, 1)[0]
    return WithElement(element, rows, columns, operand, row, column, number)


_MAKERS: tuple[Callable[[Drawer, ComponentType, int, int, int], Term], ...] = (
    _elementwise,
    _elementwise,
    _product,
    _product,
    _product,
    _transposed,
    _converted,
    _part,
    _with_part,
    _with_element,
)


def draw(random: Random, *, large: float = 0.3) -> Case:
    """A case; `large` is how often its shape is one of `SHAPES`."""
    element = random.choice(ELEMENTS)
    d = Drawer(random, element)
    rows, columns = random.choice(LENGTHS), random.choice(LENGTHS)
    if random.random() < large:
        rows, columns = random.choice(SHAPES)
    depth = random.choice((1, 2, 2, 3, 4)) if rows * columns < 1024 else random.choice((1, 2))
    root = d.term(element, rows, columns, depth)
    out = d.memory(element, rows, columns, out=True)
    separate = random.random() < 0.4
    if not separate and random.random() < 0.7:
        out = _overlapping(d, element, rows, columns) or out
    tree = Tree(root, tuple(d.inputs), out.where, random.choice(MACHINES), random.random() < 0.3, separate)
    return Case(tree, d.buffers, d.slots, out, d.numbers)


def _overlapping(d: Drawer, element: ComponentType, rows: int, columns: int) -> Slot | None:
    """Where the result goes: exactly where an input is, or partly over it."""
    inputs = [s for s in d.slots.values() if s.where.element == element and s.where.space != "constant"]
    if not inputs:
        return None
    slot = d.random.choice(inputs)
    if d.random.random() < 0.5 and (slot.rows, slot.columns) == (rows, columns):
        return Slot(slot.where, rows, columns, slot.stride, slot.buffer, slot.start)
    row_major = d.random.random() < 0.5
    stride = columns if row_major else rows
    where = replace(slot.where, stride=stride, row_major=row_major)
    out = Slot(where, rows, columns, stride, slot.buffer, d.random.randrange(slot.extent + GUARD))
    missing = out.start + out.extent + GUARD - len(d.buffers[slot.buffer])
    if missing > 0:
        d.buffers[slot.buffer] = np.concatenate([d.buffers[slot.buffer], d.values(element, missing)])
    return out
