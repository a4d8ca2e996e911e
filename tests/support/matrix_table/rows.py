"""The rows of the table: kernels with several cases, and the writer of their text and expected results."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matrix_programs import Target, spelled

from coopmat.cts.experiment import Place
from coopmat.cts.writers.c import copies_agree
from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import Array, wrong_places
from coopmat.matrices.variants import ComponentType, Layout, MatrixType

from .axes import PARTS, copies

LAYOUTS = {
    Layout.ROW_MAJOR: "ROW",
    Layout.COLUMN_MAJOR: "COLUMN",
    Layout.PACKED: "CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED",
}
PATTERN = 0xA5
# The largest number of components of a matrix that is staged in local memory.
_SMALL = 64
# word in a key -> the part of the language that it needs (`axes.PARTS`)
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
# The operations for which native modules move matrices through local memory, for all operands.
_STAGED = frozenset(
    {
        *("load checked", "store checked", "coop_mat_map", "coop_mat_build", "coop_mat_reduce", "coop_mat_transpose"),
        *("change of use", "conversion and change of use"),
    }
)


@dataclass(frozen=True)
class Key:
    """The subject of a case: an operation, and its values on the relevant axes."""

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
    """A kernel with several cases.

    write: the function that writes one case for each key with a Writer.
    everywhere: whether the row runs with every subgroup size of a target; other rows are distributed over the sizes.
    sub_groups: the number of subgroups in the work-group.
    """

    name: str
    keys: tuple[Key, ...]
    write: Callable[[Writer], None] = field(compare=False)
    everywhere: bool = False
    sub_groups: int = 1

    @property
    def parts(self) -> set[str]:
        """The parts of the language that the row needs, names in `axes.PARTS`."""
        return {part for case in self.keys for part in case.parts}

    @property
    def is_staged(self) -> bool:
        """Whether native modules move matrices through local memory in this row, and the program itself uses none."""
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
    """A check of a case.

    number: the index of the buffer.
    expected: the contents that the buffer must have, every byte included.
    tolerance: the allowed error of the matrix's components.
    look: a function that replaces the comparison, and returns a description of the fault, or "".
    """

    key: Key
    number: int
    component: ComponentType
    expected: Array
    tolerance: Array | float = 0.0
    look: Callable[[Array], str] | None = None

    def fault(self, got: Array) -> str:
        """Return a description of the fault in a buffer, "" if there is none."""
        if self.look is not None:
            return self.look(got)
        wrong = wrong_places(self.component, got, self.expected, self.tolerance)
        if not wrong.any():
            return ""
        some = [f"[{i}] is {got[i]!r}, not {self.expected[i]!r}" for i in np.flatnonzero(wrong)[:4]]
        return f"{np.count_nonzero(wrong)} of {wrong.size} places differ: {', '.join(some)}"


@dataclass(frozen=True)
class Plan:
    """A kernel's text (with @ for its name), its buffers, and the checks of the buffers after the launch."""

    text: str
    buffers: list[Array]
    checks: list[Check]

    def named(self, name: str) -> str:
        return self.text.replace("@", name)


class Writer:
    """A writer of a kernel, line by line. Each matrix has a buffer, with padding and guards."""

    def __init__(self, rng: np.random.Generator, target: Target) -> None:
        self.rng = rng
        self.target = target
        # Whether the next result is staged in local memory, which every second one is: a device's compiler may lose
        # values across barriers.
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
        """Return an expression with a value that the compiler does not know."""
        return f"{self.buffer(np.array([value], component.numpy), component.opencl_c)}[0]"

    def number(self, value: int) -> str:
        """Return an int expression, a constant or a value that the compiler does not know."""
        if self.rng.random() < 0.5:
            return str(value)
        return f"{self.buffer(np.array([value], np.int32), 'int')}[0]"

    def type(self, name: str, matrix: MatrixType) -> str:
        """Write a typedef before the kernel, and return its name, which begins with the kernel's."""
        self.outside.append(f"typedef {spelled(matrix)} @{name};")
        return f"@{name}"

    def matrix(self, name: str, matrix: MatrixType, values: Array, layout: Layout = Layout.ROW_MAJOR) -> str:
        """Write a variable with these values, and return the name of its type, `@T<name>`."""
        stride = self.stride(matrix, layout)
        memory = self.pattern(self.room(matrix, layout, stride), matrix.component)
        reference_store(memory, values, matrix, layout, stride)
        pointer = self.buffer(memory, matrix.component.opencl_c)
        t = self.type(f"T{name}", matrix)
        self.line(f"{t} {name} = coop_mat_load({pointer}, {LAYOUTS[layout]}, {stride});")
        return t

    def stride(self, matrix: MatrixType, layout: Layout) -> int:
        """Return a stride that suffices, with up to three components of padding."""
        pack = max(1, 4 // matrix.component.size) if layout == Layout.PACKED else 1
        width = matrix.rows if layout == Layout.COLUMN_MAJOR else matrix.columns * pack
        return width + int(self.rng.integers(4))

    @staticmethod
    def room(matrix: MatrixType, layout: Layout, stride: int) -> int:
        return int(numpy_reference.offsets(matrix.shape, matrix.component, layout, stride).max()) + 1

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
        """Write a store of a matrix to a new buffer, and add a check for `case`.

        The matrix must be right, in all copies that lanes hold, and the other memory of the buffer must not change.
        """
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
            places = before + numpy_reference.offsets(matrix.shape, matrix.component, layout, stride)
            near[places] = tolerance
        self.checks.append(Check(case, number, matrix.component, memory, near))

    def staged(self, number: int, expression: str, matrix: MatrixType) -> str:
        """Return the expression, every other time stored to local memory and loaded again."""
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
        """Add a check by the function `look`, which describes the fault in the buffer, "" if there is none."""
        self.checks.append(Check(case, number, component, np.empty(0), 0.0, look))

    def plan(self) -> Plan:
        head = f"kernel void @({', '.join(self.parameters)})"
        text = "\n".join([*self.outside, head, "{", *self.lines, "}", ""])
        return Plan(text, self.buffers, self.checks)


def reference_store(memory: Array, values: Array, matrix: MatrixType, layout: Layout, stride: int) -> None:
    memory[numpy_reference.offsets(matrix.shape, matrix.component, layout, stride)] = values


def count(rows: Iterable[Row]) -> int:
    return sum(len(row.keys) for row in rows)
