"""The operands of the matrix fuzzer's expressions: scopes, bounds, memory, loads."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

import fuzz_matrices_tree as tree
import numpy as np
from fuzz_matrices_functions import small_range
from fuzz_matrices_names import Names
from fuzz_matrices_operations import position
from fuzz_matrices_types import (
    FLOAT,
    INT,
    LONG,
    SHORT,
    UINT,
    ULONG,
    USHORT,
    Component,
    MatrixType,
    Range,
    full,
)

SHAPES = (*(1, 2, 3, 4, 5, 7, 8, 16) * 3, 8, 8, 8, 16, 17, 32)
USES = ("A", "B", "ACCUMULATOR", "ACCUMULATOR")


@dataclass
class Variable:
    """A matrix variable.

    count: the length of an array.
    pointer: whether it is the object of a pointer parameter.
    """

    name: str
    type: MatrixType
    range: Range
    count: int = 0
    pointer: bool = False
    writable: bool = True


@dataclass
class Scope:
    """The variables and memory that statements may use.

    memories: objects in memory that may be read; None: new ones may be made.
    divergent: whether only some subgroups execute the statements.
    loops: the number of enclosing loops.
    """

    variables: list[Variable] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    memories: list[tree.Memory] | None = None
    taken: set[str] = field(default_factory=set)
    divergent: bool = False
    loops: int = 0
    value: bool = False

    def inner(self, **changes: Any) -> Scope:
        """Return the scope of a block."""
        return replace(self, variables=list(self.variables), counters=list(self.counters), **changes)


def standard(rng: random.Random, component: Component) -> Range:
    """Return the bounds of a variable or of values in memory."""
    if not component.floating:
        return full(component) if rng.random() < 0.6 else small_range(component)
    choices = {"half": (4, 8), "float": (4, 16, 64), "double": (4, 16, 256), "bfloat16": (4, 8)}
    most = rng.choice(choices.get(component.name, (4,)))
    return Range(-most, most, rng.choice([0, 0, 1]))


class Memories:
    """A maker of loads and other leaves; its subclasses make expressions."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names = Names(self.rng)
        self.memories: list[tree.Memory] = []
        self.first: list[tree.Node] = []
        self.scalars: dict[str, tuple[Component, float]] = {}
        self.kernel_names: set[str] = set()
        self.total = 1
        self.lone = False
        # The limit of a subgroup's work: the number of components of all expressions.
        self.work = self.rng.choice([150, 300, 600, 1500])
        self.generic = self.rng.random() < 0.06

    # Bounds

    def tame(self, x: tree.Matrix, target: Range) -> tree.Matrix:
        """Return `x` with bounds inside `target`: unchanged, or rounded, clamped or reduced by fmod."""
        rng, kind = self.rng, x.type
        if x.range.within(target):
            return x
        if x.range.grain > target.grain:
            name = rng.choice(["rint", "rint", "floor", "ceil", "trunc", "round"])
            bounds = Range(float(np.floor(x.range.low)), float(np.ceil(x.range.high)))
            x = tree.Apply(kind, bounds, name, [x])
            if x.range.within(target):
                return x
        wide = Range(target.low, target.high, x.range.grain)
        if kind.component.floating and target.low == -target.high and rng.random() < 0.4:
            return tree.Apply(kind, wide, "fmod", [x, self.number(kind.component, target.high)])
        low, high = self.number(kind.component, target.low), self.number(kind.component, target.high)
        if rng.random() < 0.5:
            return tree.Apply(kind, wide, "clamp", [x, low, high])
        least, most = ("fmin", "fmax") if kind.component.floating and rng.random() < 0.5 else ("min", "max")
        bounds = Range(max(target.low, x.range.low), max(target.low, x.range.high), x.range.grain)
        return tree.Apply(kind, wide, least, [tree.Apply(kind, bounds, most, [x, low]), high])

    def small(self, x: tree.Matrix) -> tree.Matrix:
        """Return a matrix of small whole numbers."""
        return self.tame(x, small_range(x.type.component))

    def number(self, component: Component, value: float) -> tree.Num:
        """Return a scalar operand with a value, of the component type or of another type that converts to it."""
        rng = self.rng
        if component.kind == "small":
            return tree.Num(FLOAT, value, True)
        if value == int(value) and abs(value) < 2**31 and rng.random() < 0.3:
            return tree.Num(INT, int(value), True)
        if not component.floating:
            value = int(value)
        return tree.Num(component, value)

    def count(self, scope: Scope, value: int) -> tree.Scalar:
        """Return a scalar with the value of a stride, of some integer type."""
        rng = self.rng
        pick = rng.randrange(7)
        if pick < 2:
            return tree.Num(INT, value, True)
        if pick == 2 and scope.memories is None and "n1" in self.scalars and value % self.scalars["n1"][1] == 0:
            one = self.scalars["n1"][1]
            return tree.Binary(INT, "*", tree.Num(INT, value // int(one), True), tree.Name(INT, "n1"))
        return tree.Num(rng.choice([USHORT, UINT, ULONG, LONG, SHORT, INT]), value)

    # Memory

    def new_memory(
        self, component: Component, space: str, size: int, bounds: Range, volatile: bool = False
    ) -> tree.Memory:
        """Make an object in memory with random values."""
        rng = self.rng
        name = self.names.variable(self.kernel_names, 0.2)
        shared = space == "table" or (space in ("global", "constant") and rng.random() < 0.3)
        memory = tree.Memory(name, component, space, size, bounds, shared, volatile)
        if space in ("local", "private"):
            memory.range = Range(-2, 2) if component.kind != "unsigned" else Range(0, 4)
            self.first.append(tree.DeclareMemory(memory))
            if space == "local":
                self.first.append(tree.Barrier(True, "LOCAL"))
        else:
            memory.data = self.values(component, size * (1 if shared else self.total), bounds)
        self.memories.append(memory)
        return memory

    def values(self, component: Component, size: int, bounds: Range) -> Any:
        """Return random values within bounds."""
        generator = np.random.default_rng(self.rng.getrandbits(32))
        if component.floating:
            steps = 2**bounds.grain
            low, high = int(bounds.low * steps), int(bounds.high * steps)
            return generator.integers(low, high + 1, size).astype(np.float64) / steps
        values = generator.integers(int(bounds.low), int(bounds.high), size, component.dtype, endpoint=True)
        edges = np.array([bounds.low, bounds.high, max(0, bounds.low)], object).astype(component.dtype)
        chosen = generator.random(size) < 0.1
        values[chosen] = generator.choice(edges, int(chosen.sum()))
        return values

    def space(self, component: Component) -> str:
        """Return an address space for a new object in memory."""
        rng = self.rng
        pick = rng.choices(["global", "constant", "table", "local", "private"], [8, 2, 1, 3, 1])[0]
        if pick == "table" and component.kind == "small":
            return "constant"
        return pick

    def readable(self, scope: Scope, component: Component, size: int) -> tree.Memory | None:
        """Return an object in memory with components of a type, or None."""
        rng = self.rng
        known = self.memories if scope.memories is None else scope.memories
        found = [item for item in known if item.component is component and item.size >= size and not item.output]
        if found and (scope.memories is not None or rng.random() < 0.2):
            return rng.choice(found)
        if scope.memories is not None:
            return None
        volatile = rng.random() < 0.08
        space = self.space(component)
        if space in ("local", "private") and size > 700:
            space = "global"
        size += rng.choice([0, 0, 1, 8, 13])
        return self.new_memory(component, space, size, standard(rng, component), volatile)

    def layout(self, kind: MatrixType) -> str:
        """Return a layout for a matrix."""
        if kind.component.bits <= 16 and self.rng.random() < (0.25 if kind.use == "B" else 0.04):
            return "PACKED"
        return self.rng.choice(["ROW", "ROW", "COL"])

    def leading(self, kind: MatrixType, layout: str, extra: int) -> int:
        """Return a stride with which rows (columns, packed rows) do not overlap."""
        line = {"ROW": kind.columns, "COL": kind.rows, "PACKED": kind.columns * kind.component.packed()}[layout]
        return line + extra

    def extent(self, kind: MatrixType, layout: str, stride: int, at: tuple[int, int] = (0, 0)) -> int:
        """Return the number of components from the address to the end of a matrix."""
        rows, columns = np.indices((kind.rows, kind.columns))
        return int(position(layout, kind.component, rows + at[0], columns + at[1], stride).max()) + 1

    def load(self, kind: MatrixType, scope: Scope) -> tree.Matrix | None:
        """Return a load, or None if no memory fits."""
        rng = self.rng
        if rng.random() < 0.25:
            return self.checked(kind, scope)
        layout = self.layout(kind)
        offset = rng.choice([0, 0, 0, 1, 4, 7])
        stride = self.leading(kind, layout, rng.choice([0, 0, 1, 3, 8]))
        if rng.random() < 0.05:
            stride = 0
        memory = self.readable(scope, kind.component, offset + self.extent(kind, layout, stride))
        if memory is None:
            return None
        generic = (
            scope.memories is None
            and memory.space in ("global", "local", "private")
            and self.generic
            and rng.random() < 0.2
        )
        at = tree.Address(memory.name, offset, generic)
        load = tree.Load(kind, memory.range, at, layout, self.count(scope, stride))
        if (
            memory.space == "global"
            and scope.memories is None
            and rng.random() < 0.15
            and kind.component.kind != "small"
        ):
            self.widen(load, memory, stride)
        return load

    def widen(self, load: tree.Load, memory: tree.Memory, stride: int) -> None:
        """Make a load's pointee a vector, if its address and stride allow that."""
        vector = self.rng.choice([2, 4, 8])
        size = memory.size if not memory.shared else 0
        if all(value % vector == 0 for value in (load.at.offset, stride, size)):
            load.vector, load.stride = vector, tree.Num(INT, stride // vector, True)

    def checked(self, kind: MatrixType, scope: Scope) -> tree.Matrix | None:
        """Return a checked load, or None if no memory fits."""
        rng = self.rng
        layout = self.layout(kind)
        row, column = rng.choice([0, 0, 1, 3]), rng.choice([0, 0, 2, 5])
        height = max(1, row + kind.rows + rng.choice([-3, -1, 0, 0, 2]))
        width = max(1, column + kind.columns + rng.choice([-3, -1, 0, 0, 2]))
        whole = MatrixType(kind.component, height, width, kind.use)
        stride = self.leading(whole, layout, rng.choice([0, 1, 3]))
        offset = rng.choice([0, 0, 4])
        memory = self.readable(scope, kind.component, offset + self.extent(whole, layout, stride))
        if memory is None:
            return None
        bounds = memory.range.joined(Range(0, 0))
        at = tree.Address(memory.name, offset)
        return tree.Load(kind, bounds, at, layout, self.count(scope, stride), 1, (row, column, height, width))

    # Leaves

    def place(self, variable: Variable, scope: Scope) -> tree.Place:
        """Return a place: a variable, or an element of an array.

        The index of the element is a constant or a run-time value, which may differ between subgroups.
        """
        rng = self.rng
        if not variable.count:
            return tree.Place(variable.name, None, variable.pointer)
        index: tree.Scalar = tree.Num(INT, rng.randrange(variable.count), True)
        if variable.count == 2 and rng.random() < 0.4:
            if scope.counters:
                index = tree.Binary(INT, "&", tree.Name(INT, rng.choice(scope.counters)), tree.Num(INT, 1, True))
            elif scope.memories is None and not self.lone and rng.random() < 0.3:
                index = tree.Binary(ULONG, "&", tree.Name(ULONG, "lsg"), tree.Num(ULONG, 1))
        return tree.Place(variable.name, index, variable.pointer)

    def leaf(self, kind: MatrixType, scope: Scope) -> tree.Matrix:
        """Return a variable, a load, a fill or a build."""
        rng = self.rng
        known = [item for item in scope.variables if item.type == kind]
        pick = rng.random()
        if known and pick < 0.6:
            variable = rng.choice(known)
            return tree.Ref(kind, variable.range, self.place(variable, scope))
        if pick < 0.85:
            load = self.load(kind, scope)
            if load is not None:
                return load
        if pick < 0.93:
            return self.map(kind, scope, 0, 0)
        return self.fill(kind, scope)

    def fill(self, kind: MatrixType, scope: Scope) -> tree.Matrix:
        """Return coop_mat_init."""
        rng, component = self.rng, kind.component
        if scope.memories is None and rng.random() < 0.3 and component.kind != "unsigned":
            if not self.lone and rng.random() < 0.5:
                value = tree.Cast(INT, tree.Name(ULONG, "lsg"))
                return tree.Fill(kind, Range(0, 3), value)
            name, (scalar, number) = rng.choice(list(self.scalars.items()))
            return tree.Fill(kind, Range(number, number), tree.Name(scalar, name))
        number = rng.choice([0, 1, 2, 3])
        return tree.Fill(kind, Range(number, number), self.number(component, number))

    def map(self, kind: MatrixType, scope: Scope, count: int, depth: int) -> tree.Matrix:
        """Return a map of `count` matrices, or a build if it is 0."""
        raise NotImplementedError
