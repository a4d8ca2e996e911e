"""A row of the table: a kernel with several cases, and the writer that makes its text and knows what must come out."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matrix_programs import Target, spelled

from coopmat.cts.experiment import Place
from coopmat.cts.writers.c import copies_agree
from coopmat.matrices import reference
from coopmat.matrices.meaning import wrong_places
from coopmat.matrices.reference import Array
from coopmat.matrices.variants import ComponentType, Layout, MatrixType

from .axes import PARTS, copies

LAYOUTS = {
    Layout.ROW_MAJOR: "ROW",
    Layout.COLUMN_MAJOR: "COLUMN",
    Layout.PACKED: "CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED",
}
PATTERN = 0xA5
# Components of a matrix that may go through local memory.
_SMALL = 64
# By which word a key tells that it needs a part of the language (`axes.PARTS`).
_PARTS = {
    "bf16": "bf16",
    "PACKED": "packed",
    "private": "private",
    "generic": "generic",
    "checked": "checked",
    "coop_mat_coord": "coord",
    "coop_mat_convert": "convert",
    "coop_mat_transpose": "transpose",
}
# Operations that native modules move through local memory, whatever their operands.
_STAGED = frozenset(
    {
        *("load checked", "store checked", "coop_mat_map", "coop_mat_build", "coop_mat_reduce", "coop_mat_transpose"),
        *("change of use", "conversion and change of use"),
    }
)


@dataclass(frozen=True)
class Key:
    """What a case is about: the operation, and where it stands on the axes that matter to it."""

    operation: str
    axes: tuple[tuple[str, str], ...]

    def on(self, *axes: str) -> tuple[str, ...]:
        here = dict(self.axes)
        return (self.operation, *(here[axis] for axis in axes))

    @property
    def parts(self) -> Iterator[str]:
        words = [*self.operation.split(), *(value for _, value in self.axes)]
        return (part for word, part in _PARTS.items() if word in words)

    def __str__(self) -> str:
        return " ".join([self.operation, *(f"{axis}={value}" for axis, value in self.axes)])


def key(operation: str, **axes: Any) -> Key:
    return Key(operation, tuple((axis, str(value)) for axis, value in axes.items()))


@dataclass(frozen=True)
class Row:
    """`write` gets a Writer, and writes one case for each key. `everywhere`: on every subgroup size, where the target
    has lanes; other rows are dealt out to the sizes."""

    name: str
    keys: tuple[Key, ...]
    write: Callable[[Writer], None] = field(compare=False)
    everywhere: bool = False
    # Subgroups in the work-group.
    sub_groups: int = 1

    @property
    def parts(self) -> set[str]:
        """Of the language, that it needs: names of `axes.PARTS`."""
        return {part for case in self.keys for part in case.parts}

    @property
    def is_staged(self) -> bool:
        """Return whether native modules move matrices through local memory here, and the program uses none itself."""
        values = {value for case in self.keys for _, value in case.axes}
        stages = any(case.operation in _STAGED for case in self.keys) or not values.isdisjoint(("PACKED", "private"))
        return stages and "local" not in values

    def runs_on(self, route: str) -> bool:
        return all(PARTS[part].there(route) for part in self.parts)

    def plan(self, target: Target, seed: int) -> Plan:
        writer = Writer(np.random.default_rng([seed, zlib.crc32(f"{self.name} {target}".encode())]), target)
        self.write(writer)
        plan = writer.plan()
        written = [check.key for check in plan.checks]
        assert sorted(map(str, written)) == sorted(map(str, self.keys)), (self.name, written)
        return plan


@dataclass(frozen=True)
class Check:
    """One case: what buffer `number` holds in the end, to the last byte; `tolerance` is for the matrix's own places."""

    key: Key
    number: int
    component: ComponentType
    expected: Array
    tolerance: Array | float = 0.0
    look: Callable[[Array], str] | None = None

    def fault(self, got: Array) -> str:
        """What is wrong, or nothing."""
        if self.look is not None:
            return self.look(got)
        wrong = wrong_places(self.component, got, self.expected, self.tolerance)
        if not wrong.any():
            return ""
        some = [f"[{i}] is {got[i]!r}, not {self.expected[i]!r}" for i in np.flatnonzero(wrong)[:4]]
        return f"{np.count_nonzero(wrong)} of {wrong.size} places differ: {', '.join(some)}"


@dataclass(frozen=True)
class Plan:
    """A kernel's text, with @ for its name, the buffers that it gets, and the checks of what they hold afterwards."""

    text: str
    buffers: list[Array]
    checks: list[Check]

    def named(self, name: str) -> str:
        return self.text.replace("@", name)


class Writer:
    """Writes a kernel line by line. Matrices come from and go to buffers of their own, with padding and guards."""

    def __init__(self, rng: np.random.Generator, target: Target) -> None:
        self.rng = rng
        self.target = target
        # Every other result goes through local memory: a device's compiler may lose values that barriers separate from
        # their uses.
        self.next_is_staged = rng.bit_generator.state["state"]["state"] % 2 == 0
        self.outside: list[str] = []
        self.lines: list[str] = []
        self.parameters: list[str] = []
        self.buffers: list[Array] = []
        self.checks: list[Check] = []

    def line(self, *text: str) -> None:
        self.lines += [f"    {item}" for item in text]

    def buffer(self, array: Array, type_name: str, space: str = "global") -> str:
        name = f"p{len(self.buffers)}"
        self.buffers.append(np.ascontiguousarray(array))
        self.parameters.append(f"{space} {type_name} *{name}")
        return name

    def scalar(self, value: Any, component: ComponentType) -> str:
        """A value that the compiler does not know."""
        return f"{self.buffer(np.array([value], component.numpy), component.opencl_c)}[0]"

    def number(self, value: int) -> str:
        """An int, as a constant or not known to the compiler."""
        if self.rng.random() < 0.5:
            return str(value)
        return f"{self.buffer(np.array([value], np.int32), 'int')}[0]"

    def type(self, name: str, matrix: MatrixType) -> str:
        """A typedef before the kernel, with the kernel's name before its own."""
        self.outside.append(f"typedef {spelled(matrix)} @{name};")
        return f"@{name}"

    def matrix(self, name: str, matrix: MatrixType, values: Array, layout: Layout = Layout.ROW_MAJOR) -> str:
        """A variable with these values, and its type `@T<name>`."""
        stride = self.stride(matrix, layout)
        memory = self.pattern(self.room(matrix, layout, stride), matrix.component)
        reference_store(memory, values, matrix, layout, stride)
        pointer = self.buffer(memory, matrix.component.opencl_c)
        t = self.type(f"T{name}", matrix)
        self.line(f"{t} {name} = coop_mat_load({pointer}, {LAYOUTS[layout]}, {stride});")
        return t

    def stride(self, matrix: MatrixType, layout: Layout) -> int:
        """Enough, and up to three components more."""
        pack = max(1, 4 // matrix.component.size) if layout == Layout.PACKED else 1
        width = matrix.rows if layout == Layout.COLUMN_MAJOR else matrix.columns * pack
        return width + int(self.rng.integers(4))

    @staticmethod
    def room(matrix: MatrixType, layout: Layout, stride: int) -> int:
        return int(reference.offsets(matrix.shape, matrix.component, layout, stride).max()) + 1

    @staticmethod
    def pattern(size: int, component: ComponentType) -> Array:
        return np.frombuffer(bytes([PATTERN]) * (size * component.size), component.numpy).copy()

    def result(
        self,
        case: Key,
        expression: str,
        matrix: MatrixType,
        expected: Array,
        tolerance: Array | float = 0.0,
        layout: Layout = Layout.ROW_MAJOR,
    ) -> None:
        """Stores a matrix into a buffer of its own: `case` passes if it is right, in all copies that lanes hold, and
        nothing else was touched."""
        stride, before, after = self.stride(matrix, layout), int(self.rng.integers(1, 5)), int(self.rng.integers(1, 5))
        memory = self.pattern(before + self.room(matrix, layout, stride) + after, matrix.component)
        number = len(self.buffers)
        pointer = self.buffer(memory.copy(), matrix.component.opencl_c)
        if copies(self.target, matrix) > 1:
            self.line(f"{self.type(f'S{number}', matrix)} s{number} = {expression};")
            expression = f"s{number}"
        else:
            expression = self.staged(number, expression, matrix)
        self.line(f"coop_mat_store({pointer} + {before}, {expression}, {LAYOUTS[layout]}, {stride});")
        if copies(self.target, matrix) > 1:
            text = copies_agree(Place(matrix, layout, stride, before), expression)
            self.line(*text.format(p=pointer, i=f"i{number}").splitlines())
        reference_store(memory[before:], expected, matrix, layout, stride)
        near: Array | float = 0.0
        if np.ndim(tolerance) or tolerance:
            near = np.zeros(memory.size)
            places = before + reference.offsets(matrix.shape, matrix.component, layout, stride)
            near[places] = tolerance
        self.checks.append(Check(case, number, matrix.component, memory, near))

    def staged(self, number: int, expression: str, matrix: MatrixType) -> str:
        """Return a matrix that was stored into local memory and loaded again, every other time."""
        self.next_is_staged = not self.next_is_staged
        if self.next_is_staged or matrix.rows * matrix.columns > _SMALL or self.target.route.startswith("native"):
            return expression
        t, place = self.type(f"L{number}", matrix), f"l{number}, "
        self.line(f"local {matrix.component.opencl_c} l{number}[{matrix.rows * matrix.columns}];")
        self.line(f"{t} s{number} = {expression};", f"coop_mat_store({place}s{number}, ROW, {matrix.columns});")
        return f"({t})coop_mat_load({place}ROW, {matrix.columns})"

    def expect(self, case: Key, number: int, component: ComponentType, expected: Array) -> None:
        self.checks.append(Check(case, number, component, expected))

    def look(self, case: Key, number: int, component: ComponentType, look: Callable[[Array], str]) -> None:
        """A check of its own: what `look` says of the buffer, nothing where it is right."""
        self.checks.append(Check(case, number, component, np.empty(0), 0.0, look))

    def plan(self) -> Plan:
        head = f"kernel void @({', '.join(self.parameters)})"
        text = "\n".join([*self.outside, head, "{", *self.lines, "}", ""])
        return Plan(text, self.buffers, self.checks)


def reference_store(memory: Array, values: Array, matrix: MatrixType, layout: Layout, stride: int) -> None:
    memory[reference.offsets(matrix.shape, matrix.component, layout, stride)] = values


def count(rows: Iterable[Row]) -> int:
    return sum(len(row.keys) for row in rows)
