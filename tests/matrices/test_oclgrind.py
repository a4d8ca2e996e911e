"""The lowerings whose subgroups are not the device's, under Oclgrind: nothing races, nothing is read that nobody wrote.

Several subgroups of a work-group run together, each on its own data; what they give must be the reference's, too.
Every section of the library's files is there. Oclgrind has no half.
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from on_device import ROW, Builder
from opencl_devices import device_of

from coopmat.matrices import lowering, maps, narrow, numpy_reference
from coopmat.matrices.library_functions import Transpose
from coopmat.matrices.lowering import LOWERED_ROUTES, LibraryFunction, Target
from coopmat.matrices.numpy_reference import Array, numpy_binary, numpy_convert, numpy_mul_add, numpy_negate
from coopmat.matrices.small_float_functions import functions_called
from coopmat.matrices.variants import (
    EVERY_COMPONENT_TYPE,
    OPENCL_C_LAYOUTS,
    Conversion,
    Layout,
    MatrixShape,
    MatrixType,
    Operands,
    Use,
)

RUNNER = Path(__file__).with_name("oclgrind_runner.py")
C = EVERY_COMPONENT_TYPE


@dataclass(frozen=True)
class Situation:
    """`sub_group_size` of a route, in a work-group of `local`; `limit`: work-items that local memory is made for."""

    route: str
    sub_group_size: int
    local: tuple[int, int, int]
    limit: int

    @property
    def target(self) -> Target:
        return Target(LOWERED_ROUTES[self.route], self.sub_group_size, self.limit)

    @property
    def items(self) -> int:
        return math.prod(self.local)

    @property
    def sub_groups(self) -> int:
        return -(-self.items // self.sub_group_size)

    def __str__(self) -> str:
        return f"{self.route}{self.sub_group_size}-{'x'.join(map(str, self.local))}of{self.limit}"


SITUATIONS = [
    Situation("one", 1, (3, 1, 1), 256),
    Situation("scratch", 4, (2, 3, 2), 256),
    Situation("scratch", 5, (5, 1, 3), 15),
    Situation("scratch", 16, (4, 4, 2), 256),
]
# Without matrices the last subgroup may have fewer work-items.
TAILS = [Situation("scratch", 4, (5, 2, 1), 10), Situation("scratch", 8, (3, 1, 1), 256), SITUATIONS[0], SITUATIONS[2]]


@dataclass
class Case:
    """A kernel's body for one subgroup, as `Builder` writes it: the pointers are to what is the subgroup's own.

    `expected` maps the number of a buffer to what each subgroup must find there; `operands` are the values of the
    functions that are operands, by their names, of their parameters x0, x1 and so on.
    """

    build: Builder
    inputs: dict[int, Array]
    expected: dict[int, Array]
    operands: dict[str, str]


class Maker:
    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.target = situation.target
        self.rng = np.random.default_rng(5)
        self.build = Builder(self.target.route, situation.sub_group_size)
        self.inputs: dict[int, Array] = {}
        self.expected: dict[int, Array] = {}
        self.operands: dict[str, str] = {}

    def draw(self, component: str, *shape: int) -> Array:
        dtype = np.dtype(C[component].numpy)
        full = (self.situation.sub_groups, *shape)
        if dtype.kind == "f":
            return (self.rng.integers(-64, 64, full) / 8).astype(dtype)
        limits = np.iinfo(dtype)
        return self.rng.integers(limits.min, limits.max, full, dtype, endpoint=True)

    def buffer(self, values: Array, component: str | None = None) -> str:
        """One for each subgroup, all behind each other."""
        name = self.build.buffer(values[0].ravel(), C[component].library_c if component else "uint")
        self.inputs[int(name[1:])] = values
        return name

    def matrix(self, name: str, matrix: MatrixType, values: Array) -> str:
        pointer = self.buffer(values, matrix.component.name)
        self.build.declare(name, matrix)
        self.build.call(lowering.Load(matrix, "global", ROW), name, pointer, str(matrix.columns))
        return name

    def stored(self, name: str, matrix: MatrixType, expected: Array) -> None:
        pointer = self.buffer(np.ones_like(expected), matrix.component.name)
        self.build.call(lowering.Store(matrix, "global", ROW), pointer, name, str(matrix.columns))
        self.expected[int(pointer[1:])] = expected

    def case(self) -> Case:
        return Case(self.build, self.inputs, self.expected, self.operands)


def each(function: Callable[..., Array], *values: Array) -> Array:
    """Of every subgroup's matrices."""
    return np.array([function(*parts) for parts in zip(*values, strict=True)])


# --- cases ------------------------------------------------------------------------------------------


def memory(s: Situation, t: str, layout: Layout, space: str, volatile: bool, checked: bool) -> Case:
    """From memory of some kind to global memory, in the same layout; a part of what is checked lies outside."""
    make = Maker(s)
    matrix = MatrixType(C[t], 6, 7, Use.B)
    bounds = [f"{n}u" for n in (2, 5, 7, 11)] if checked else []
    stride = 13
    size = stride * 16
    values = make.draw(t, size)
    source = make.buffer(values, t)
    if space != "global":
        copies, at = (s.sub_groups, "sub_group") if space == "local" else (1, "0")
        first, step = ("lane", s.sub_group_size) if space == "local" else ("0", 1)
        make.build.lines += [
            f"{space} {matrix.component.library_c} copies[{copies * size}];",
            f"{space} {matrix.component.library_c} *copy = copies + {at} * {size};",
            f"for (int i = {first}; i < {size}; i += {step}) copy[i] = {source}[i];",
            "barrier(CLK_LOCAL_MEM_FENCE);",
        ]
        source = "copy"
    make.build.declare("m", matrix)
    kind = (space, layout, volatile, checked)
    make.build.call(lowering.Load(matrix, *kind), "m", source, str(stride), *bounds)
    before = make.draw(t, size)
    out = make.buffer(before, t)
    store = lowering.Store(matrix, "global", layout, volatile, checked)
    make.build.call(store, out, "m", str(stride), *bounds)
    shape = MatrixShape(7, 11) if checked else matrix.shape
    places = numpy_reference.offsets(shape, matrix.component, layout, stride)
    places = places[2:8, 5:12] if checked else places
    expected = before.copy()
    expected[:, places.ravel()] = values[:, places.ravel()]
    make.expected[1] = expected
    whole = np.zeros((s.sub_groups, *(matrix.rows, matrix.columns)), values.dtype)
    whole[:, : places.shape[0], : places.shape[1]] = values[:, places]
    make.stored("m", matrix, whole)
    return make.case()


def nibbles(s: Situation, t: str, layout: Layout, side: int, stride: int, checked: bool) -> Case:
    """Two components in a byte: from memory to memory that has other numbers; and to float and back.

    With an odd side as the stride, two lines share a byte.
    """
    make = Maker(s)
    matrix, count = MatrixType(C[t], side, side, Use.A), 256
    values, before = (make.rng.integers(0, 256, (s.sub_groups, count // 2), np.uint8) for _ in range(2))
    make.build.declare("m", matrix)
    bounds = ["1u", "2u", "6u", "9u"] if checked else []
    load = narrow.load(matrix, "global", layout, False, checked)
    make.build.call(load, "m", make.buffer(values, "u8"), str(stride), *bounds)
    out = make.buffer(before, "u8")
    make.build.call(narrow.store(matrix, "global", layout, False, checked), out, "m", str(stride), *bounds)
    numbers = MatrixType(C["f32"], side, side, Use.A)
    make.build.declare("x", numbers), make.build.declare("y", matrix)
    make.build.call(lowering.Convert(matrix, C["f32"], Conversion("", False)), "x", "m")
    make.build.call(lowering.Convert(numbers, C[t], Conversion("rte", True)), "y", "x")
    back = make.buffer(np.zeros((s.sub_groups, -(-side * side // 2)), np.uint8), "u8")
    make.build.call(narrow.store(matrix, "global", ROW), back, "y", str(side))
    places = numpy_reference.offsets(MatrixShape(7, 10) if checked else matrix.shape, matrix.component, layout, stride)
    places = places[1:6, 2:9] if checked else places
    found, written, whole = [], [], np.zeros((s.sub_groups, side, side), np.uint8)
    for group in range(s.sub_groups):
        codes, others = (numpy_reference.from_memory(C[t], x[group], count) for x in (values, before))
        others[places] = codes[places]
        whole[group, : places.shape[0], : places.shape[1]] = codes[places]
        written.append(numpy_reference.in_memory(C[t], others))
        found.append(numpy_reference.in_memory(C[t], whole[group].ravel()))
    make.expected |= {1: np.array(written), 2: np.array(found)}
    return make.case()


def through(s: Situation, t: str, space: str, checked: bool) -> Case:
    """A store to local or private memory; of the latter, every work-item tells what it has."""
    make = Maker(s)
    matrix = MatrixType(C[t], 3, 9, Use.A)
    values = make.draw(t, 3, 9)
    make.matrix("m", matrix, values)
    c = matrix.component.library_c
    copies = s.sub_groups if space == "local" else 1
    make.build.lines.append(f"{space} {c} copies[{copies * 27}];")
    make.build.lines.append(f"{space} {c} *copy = copies + {'sub_group * 27' if space == 'local' else '0'};")
    make.build.lines.append("for (int i = 0; i < 27; ++i) copy[i] = 0;" if space == "private" else "")
    bounds = ["0u", "0u", "2u", "9u"] if checked else []
    make.build.call(lowering.Store(matrix, space, ROW, False, checked), "copy", "m", "9", *bounds)
    make.build.lines.append("barrier(CLK_LOCAL_MEM_FENCE);")
    out = make.buffer(np.zeros((s.sub_groups, s.sub_group_size, 27), values.dtype), t)
    make.build.lines.append(f"for (int i = 0; i < 27; ++i) {out}[lane * 27 + i] = copy[i];")
    expected = np.where(np.arange(3)[:, None] < (2 if checked else 3), values, values.dtype.type(0))
    make.expected[1] = np.repeat(expected.reshape(s.sub_groups, 1, 27), s.sub_group_size, 1)
    return make.case()


def arithmetic(s: Situation, t: str) -> Case:
    """Fill, every operator, and elements through their coordinates, one after another."""
    make = Maker(s)
    component = C[t]
    matrix = MatrixType(component, 5, 6, Use.ACCUMULATOR)
    x, y = (make.draw(t, 5, 6) for _ in range(2))
    y[(y == 0) | (y == np.array(-1).astype(y.dtype))] = 2
    make.matrix("x", matrix, x), make.matrix("y", matrix, y)
    for operator in ("add", "sub", "mul", "div"):
        make.build.declare(operator, matrix)
        make.build.call(lowering.Binary(matrix, operator), operator, "x", "y")
        if operator != "div" or component.is_integer:
            make.stored(operator, matrix, each(lambda a, b, o=operator: numpy_binary(o, a, b), x, y))
    make.build.call(lowering.Negate(matrix), "x", "x")
    make.stored("x", matrix, each(numpy_negate, x))
    make.build.call(lowering.ScalarMultiply(matrix), "x", "y", "3")
    make.stored("x", matrix, each(lambda a: numpy_reference.scalar_mul(a, 3), y))
    make.build.call(lowering.Fill(matrix), make.build.declare("f", matrix), "7")
    make.stored("f", matrix, np.full(x.shape, 7, x.dtype))
    lengths = make.buffer(np.zeros((s.sub_groups, s.sub_group_size), np.uint32))
    seen = make.buffer(np.zeros_like(y), t)
    length, coord = make.build.expression(lowering.Length(matrix)), make.build.expression(lowering.Coord(matrix), "i")
    make.build.lines += [
        f"{lengths}[lane] = {length};",
        f"for (uint i = 0; i < {length}; ++i) {{",
        f"    const uint2 at = {coord};",
        f"    {seen}[at.x * 6 + at.y] = y[i];",
        "    f[i] = y[i];",
        "}",
    ]
    make.expected[int(seen[1:])] = y
    make.stored("f", matrix, y)
    turned = MatrixType(component, 6, 5, Use.A)
    make.build.call(Transpose(turned, matrix.use), make.build.declare("turned", turned), "y")
    make.stored("turned", turned, np.swapaxes(y, -1, -2))
    return make.case()


def by_columns(s: Situation, t: str, rows: int, columns: int) -> Case:
    """From global memory by columns, in vectors where a work-item has all."""
    make = Maker(s)
    matrix = MatrixType(C[t], rows, columns, Use.B)
    stride = rows + 3
    values = make.draw(t, stride * columns)
    make.build.declare("m", matrix)
    load = lowering.Load(matrix, "global", Layout.COLUMN_MAJOR)
    make.build.call(load, "m", make.buffer(values, t), str(stride))
    expected = values.reshape(-1, columns, stride)[:, :, :rows].transpose(0, 2, 1)
    make.stored("m", matrix, np.ascontiguousarray(expected))
    return make.case()


def further(s: Situation, t: str) -> Case:
    """Builtins and functions of components, and everything that reduces."""
    make = Maker(s)
    component = C[t]
    matrix = MatrixType(component, 6, 10, Use.ACCUMULATOR)
    x, y = (make.draw(t, 6, 10) for _ in range(2))
    low, high = (x.dtype.type(n) for n in (3, 50))
    make.matrix("x", matrix, x), make.matrix("y", matrix, y)

    def operation(
        name: str, function: LibraryFunction, arguments: Sequence[str], result: MatrixType, expected: Array
    ) -> None:
        make.build.declare(name, result)
        make.build.call(function, name, *arguments)
        make.stored(name, result, expected)

    clamped = lowering.ComponentWise(matrix, "clamp", (True, False, False))
    operation("clamped", clamped, ["x", "3", "50"], matrix, np.clip(x, low, high))
    larger = lowering.ComponentWise(matrix, "max", (False, True))
    operation("larger", larger, ["50", "y"], matrix, np.maximum(high, y))
    r, c = np.indices((6, 10))
    places = np.broadcast_to((16 * r + c).astype(x.dtype), x.shape)
    make.operands = {
        "cm_place": "16 * x0 + x1",
        "cm_choice": "x0 < x1 ? x2 : x3",
        "cm_sum": "x0 + x1",
        "cm_other": "x0 == 4 ? x2 : x3",
        "cm_other_sum": "x0 + x1",
        "cm_sum_2": "x0 + x1",
    }
    operation("built", lowering.Map(matrix, "cm_place"), [], matrix, places)
    operation(
        "mapped", lowering.Map(matrix, "cm_choice", operands=2), ["x", "built"], matrix, np.where(r < c, x, places)
    )
    if s.target.route.has_one_work_item:
        other = lowering.Map(matrix, "cm_other", operands=2, width=s.target.width(matrix))
        operation("wide", other, ["x", "y"], matrix, np.where(r == 4, x, y))
    for how, rows, columns in (
        (maps.ROW, 6, 3),
        (maps.COLUMN, 7, 10),
        (maps.ROW_AND_COLUMN, 2, 3),
        (maps.BLOCKS, 3, 5),
    ):
        result = MatrixType(component, rows, columns, Use.ACCUMULATOR)
        expected = np.array([numpy_reference.reduce(np.add, how, value, result.shape) for value in x])
        function = lowering.Reduce(matrix, "cm_sum", how, rows, columns)
        operation(f"reduced{how}", function, ["x"], result, expected)
        if s.target.route.has_one_work_item and how != maps.BLOCKS:
            function = lowering.Reduce(matrix, "cm_other_sum", how, rows, columns, ("cm_sum_2",))
            operation(f"wide{how}", function, ["x"], result, expected)
    return make.case()


def converted(s: Situation, t: str, to: str, rounding: str, saturate: bool) -> Case:
    make = Maker(s)
    matrix = MatrixType(C[t], 3, 10, Use.A)
    result = MatrixType(C[to], 3, 10, Use.A)
    values = make.draw(t, 3, 10)
    if t == "bf16":
        values &= 0xBF7F if saturate else 0x3F7F
    if t == "e4m3":
        values &= 0x37
    make.matrix("x", matrix, values)
    make.build.call(
        lowering.Convert(matrix, C[to], Conversion(rounding, saturate)), make.build.declare("y", result), "x"
    )
    if to == "bf16":
        numbers = values.astype(np.float32)
        bits = numbers.view(np.uint32)
        expected = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    elif C[t].bits == C[to].bits == 8 or "e5m2" in (t, to):
        expected = numpy_reference.convert(values, C[t], C[to], rounding, saturate)
    else:
        numbers = (values.astype(np.uint32) << 16).view(np.float32) if t == "bf16" else values
        expected = numpy_convert(numbers, C[to], rounding, saturate)
    make.stored("y", result, expected)
    return make.case()


def mul_add(s: Situation, a: str, b: str, c: str, mask: int, shape: tuple[int, int, int]) -> Case:
    """Twice, so that one multiply-add's exchange follows another's at once; the first's result is also A's place."""
    make = Maker(s)
    m, n, k = shape
    matrices = [MatrixType(C[a], m, k, Use.A), MatrixType(C[b], k, n, Use.B), MatrixType(C[c], m, n, Use.ACCUMULATOR)]
    values = [make.draw(matrix.component.name, *(matrix.rows, matrix.columns)) for matrix in matrices]
    if c == "bf16":
        values = [rounded_small(v) for v in values]
    for name, matrix, value in zip("abc", matrices, values, strict=True):
        make.matrix(name, matrix, value)
    function = lowering.MultiplyAdd(*matrices, Operands(mask))
    make.build.declare("d", matrices[2])
    make.build.call(function, "d", "a", "b", "c")
    make.build.call(function, "c", "a", "b", "d")
    if c == "bf16":
        wide = [(v.astype(np.uint32) << 16).view(np.float32) for v in values]
        once = np.matmul(wide[0], wide[1]) + wide[2]
        for name, exact in (("d", once), ("c", np.matmul(wide[0], wide[1]) + once)):
            make.stored(name, matrices[2], (exact.view(np.uint32) >> 16).astype(np.uint16))
        return make.case()
    once = each(lambda *v: numpy_mul_add(*v, Operands(mask)), *values)
    make.stored("d", matrices[2], once)
    make.stored("c", matrices[2], each(lambda *v: numpy_mul_add(*v, Operands(mask)), *values[:2], once))
    return make.case()


def rounded_small(bits: Array) -> Array:
    """Numbers in bfloat16 of which sums of products are exact there."""
    return ((bits % 3).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def matrix_cases(s: Situation) -> Iterator[Case]:
    spaces = ("global", "local", "private")
    for number, layout in enumerate((*OPENCL_C_LAYOUTS, *OPENCL_C_LAYOUTS)):
        t = ("u8", "f32", "s16", "s64", "bf16", "f64")[number]
        yield memory(s, t, layout, spaces[number % 3], number == 4, False)
        yield memory(s, t, layout, spaces[(number + 1) % 3], number == 5, True)
    yield memory(s, "s8", Layout.PACKED, "global", False, True)
    yield through(s, "s16", "private", True)
    for number, t in enumerate(("s4", "u4", "e2m1")):
        yield nibbles(s, t, OPENCL_C_LAYOUTS[number % 2], (8, 7, 7)[number], (8, 7, 7)[number], False)
        yield nibbles(s, t, ROW, 8, (13, 16, 17)[number], True)
    for t in ("u8", "f64"):
        yield through(s, t, "private", False)
        yield through(s, t, "local", False)
    for t in ("s8", "u32", "s64", "f32"):
        yield arithmetic(s, t)
    for t in ("u8", "s16", "f32"):
        yield further(s, t)
    yield by_columns(s, "s16", 16, 32)
    yield by_columns(s, "f32", 32, 1)
    for t, to, rounding, saturate in (
        ("s32", "u8", "", True),
        ("f32", "s16", "", False),
        ("f64", "f32", "", False),
        ("bf16", "s32", "", True),
        ("s32", "bf16", "", False),
        ("e4m3", "s8", "", False),
        ("f32", "e5m2", "rtp", True),
        ("f32", "bf16", "rte", False),
    ):
        yield converted(s, t, to, rounding, saturate)
    for types, mask, shape in (
        (("s8", "u8", "s32"), 13, (3, 9, 19)),
        (("u8", "s8", "s8"), 29, (7, 4, 6)),
        (("s16", "s16", "s64"), 15, (2, 17, 3)),
        (("f32", "f32", "f32"), 0, (9, 5, 7)),
        (("f64", "f32", "f64"), 0, (11, 3, 5)),
        (("bf16", "bf16", "bf16"), 0, (4, 3, 5)),
        (("f32", "f64", "f64"), 0, (30, 8, 4)),
    ):
        yield mul_add(s, *types, mask, shape)


# --- subgroup builtins ------------------------------------------------------------------------------

Lanes = list[int]
Row = tuple[str, str | None, str, Callable[[Lanes, int], Any]]


def builtin_cases(s: Situation, group: int) -> Iterator[Row]:
    """A builtin, the type of its values, its arguments, and what lane i gets where x are the values of the lanes of
    subgroup `group`."""
    mask = 5 if s.sub_group_size > 1 else 1
    ballot = f"(uint4)({mask}, 0, 0, 0)"
    yield "get_sub_group_size", None, "", lambda x, i: len(x)
    yield "get_max_sub_group_size", None, "", lambda x, i: s.sub_group_size
    yield "get_sub_group_local_id", None, "", lambda x, i: i
    yield "get_sub_group_id", None, "", lambda x, i: group
    yield "get_num_sub_groups", None, "", lambda x, i: s.sub_groups
    yield "get_enqueued_num_sub_groups", None, "", lambda x, i: s.sub_groups
    yield "sub_group_broadcast", "s32", "x, 0", lambda x, i: x[0]
    yield "sub_group_shuffle_xor", "s64", "x, 0", lambda x, i: x[i]
    yield "sub_group_rotate", "s8", "x, (uint)-1", lambda x, i: x[(i - 1) % len(x)]
    yield "sub_group_reduce_add", "s32", "x", lambda x, i: sum(x)
    yield "sub_group_reduce_min", "f32", "x", lambda x, i: min(x)
    yield "sub_group_scan_inclusive_max", "s8", "x", lambda x, i: max(x[: i + 1])
    yield "sub_group_scan_exclusive_add", "s64", "x", lambda x, i: sum(x[:i])
    yield "sub_group_scan_exclusive_max", "s32", "x", lambda x, i: max([-(2**31), *x[:i]])
    logical = "sub_group_non_uniform_scan_exclusive_logical_"
    yield f"{logical}and", "s32", "x > 4", lambda x, i: all(v > 4 for v in x[:i])
    yield f"{logical}or", "s32", "x > 4", lambda x, i: any(v > 4 for v in x[:i])
    yield "sub_group_any", "s32", "x > 7", lambda x, i: max(x) > 7
    yield "sub_group_all", "s32", "x > 0", lambda x, i: min(x) > 0
    yield "sub_group_non_uniform_all_equal", "f32", "x", lambda x, i: len(set(x)) == 1
    yield "sub_group_elect", None, "", lambda x, i: i == 0
    yield "sub_group_inverse_ballot", None, ballot, lambda x, i: mask >> i & 1
    yield "sub_group_ballot_bit_count", None, ballot, lambda x, i: mask.bit_count()
    yield "sub_group_ballot_exclusive_scan", None, ballot, lambda x, i: (mask & (1 << i) - 1).bit_count()
    yield "sub_group_ballot", None, "x > 4", lambda x, i: sum((v > 4) << lane for lane, v in enumerate(x))
    yield "get_sub_group_eq_mask", None, "", lambda x, i: 1 << i
    yield "get_sub_group_lt_mask", None, "", lambda x, i: (1 << i) - 1
    if s.items % s.sub_group_size == 0:
        # What a lane gets that looks at one that is not there is not defined.
        yield "intel_sub_group_shuffle_up", "s32", "x + 100, x, 1", lambda x, i: x[i - 1] if i else x[-1] + 100
        yield "intel_sub_group_shuffle_down", "s32", "x, x + 100, 1", lambda x, i: [*x, x[0] + 100][i + 1]


def builtin_call(s: Situation, row: Row) -> tuple[LibraryFunction, str]:
    name, component, arguments, _ = row
    function = lowering.substitute_builtin(s.target.route, name, C[component] if component else None)
    assert function is not None, name
    given = [arguments] if arguments.startswith("(uint4)") else arguments.split(", ") * bool(arguments)
    given = given[: len(function.signature.parameters)] + ["scratch"] * bool(function.scratch_bytes(s.target))
    part = ".x" if function.signature.returns == "uint4" else ""
    return function, f"{function.function_name}({', '.join(given)}){part}"


def block_builtins(s: Situation) -> list[LibraryFunction]:
    """A barrier, and what copies two components for each work-item."""
    names = ("sub_group_barrier", "intel_sub_group_block_read2", "intel_sub_group_block_write2")
    found = [lowering.substitute_builtin(s.target.route, name, C["u32"]) for name in names]
    return [function for function in found if function is not None]


def builtin_kernel(s: Situation) -> tuple[str, list[LibraryFunction]]:
    """One kernel that calls them all, and what it calls."""
    calls = [builtin_call(s, row) for row in builtin_cases(s, 0)]
    barrier, read, write = block_builtins(s)
    found = [function for function, _ in calls] + [barrier, read, write]
    at = f"sub_group * {s.sub_group_size * 2}"
    lines = [
        "kernel void k(global const int *xs, global int *k, global const uint *from, global uint *to)",
        "{",
        prologue(s, found),
        "const int x = xs[linear];",
        *(f"k[linear * {len(calls)} + {number}] = (int){text};" for number, (_, text) in enumerate(calls)),
        f"{barrier.function_name}(CLK_GLOBAL_MEM_FENCE);",
        f"{write.function_name}(to + {at}, {read.function_name}(from + {at}));",
        "}",
    ]
    return "\n".join(lines), found


# --- running ----------------------------------------------------------------------------------------


def prologue(s: Situation, library_functions: Sequence[LibraryFunction]) -> str:
    size = max((i.scratch_bytes(s.target) for i in library_functions), default=0)
    items = "(get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0)"
    return "\n".join(
        [
            f"local ulong scratch[{-(-size // 8)}];" if size else "",
            f"const int linear = (int)({items}), sub_group = linear / {s.sub_group_size};",
            f"const int lane = linear % {s.sub_group_size};",
        ]
    )


def library(s: Situation, case: Case) -> str:
    """The functions that a case calls, with the operands that it says in the places of their stand-ins."""
    text = lowering.instantiate(s.target, case.build.library_functions)
    for function in (needed for i in case.build.library_functions for needed in i.needs(s.target)):
        if isinstance(function, maps.OperandFunction):
            stand_in = function.text(s.target)
            head = stand_in.partition("{")[0]
            text = text.replace(stand_in, f"{head}{{\n    return {case.operands[function.name]};\n}}\n")
    return text


def kernel(s: Situation, case: Case) -> str:
    heads = [p.replace("*p", "*q") for p in case.build.parameters]
    pointers = [f"{p} = q{i} + sub_group * {case.inputs[i][0].size};" for i, p in enumerate(case.build.parameters)]
    body = "\n".join([prologue(s, case.build.library_functions), *pointers, *case.build.lines])
    return f"kernel void k({', '.join(heads)})\n{{\n{body}\n}}\n"


def run(job: Any, tmp_path: Path) -> list[list[Array]]:
    """All launches' buffers afterwards; AssertionError with what Oclgrind says, if it says anything."""
    environment = os.environ | {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_UNINITIALIZED": "1", "OCLGRIND_MAX_ERRORS": "5"}
    # The wheel's own is found beside the loader; no other device is needed.
    (tmp_path / "vendors").mkdir()
    environment["OCL_ICD_VENDORS"] = f"{tmp_path / 'vendors'}{os.sep}"
    sent, got = tmp_path / "job", tmp_path / "result"
    sent.write_bytes(pickle.dumps(job))
    command = [sys.executable, str(RUNNER), str(sent), str(got)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    said = (done.stdout + done.stderr).strip()
    assert done.returncode == 0 and not said, said[:4000]
    result: list[list[Array]] = pickle.loads(got.read_bytes())
    return result


@pytest.fixture(scope="session")
def oclgrind() -> None:
    device_of("oclgrind")


OPTIONS = ["-cl-std=CL1.2", "-cl-opt-disable"]


@pytest.mark.usefixtures("oclgrind")
@pytest.mark.parametrize("situation", SITUATIONS, ids=str)
def test_matrices(situation: Situation, tmp_path: Path) -> None:
    s = situation
    cases = list(matrix_cases(s))
    # A program each: Oclgrind counts the local memory of all kernels.
    jobs = [
        (
            library(s, case) + kernel(s, case),
            OPTIONS,
            [("k", s.local, s.local, [case.inputs[i] for i in range(len(case.inputs))])],
        )
        for case in cases
    ]
    after = run(jobs, tmp_path)
    for case, buffers in zip(cases, after, strict=True):
        for i, expected in case.expected.items():
            np.testing.assert_array_equal(buffers[i], expected, err_msg=f"{s}: buffer {i} of\n{kernel(s, case)}")


@pytest.mark.usefixtures("oclgrind")
@pytest.mark.parametrize("situation", TAILS, ids=str)
def test_subgroup_builtins(situation: Situation, tmp_path: Path) -> None:
    s = situation
    source, library_functions = builtin_kernel(s)
    x = np.random.default_rng(3).integers(1, 9, s.items, np.int32)
    count = len(list(builtin_cases(s, 0)))
    blocks = np.arange(1, s.sub_groups * s.sub_group_size * 2 + 1, dtype=np.uint32)
    buffers = [x, np.zeros((s.items, count), np.int32), blocks, np.zeros_like(blocks)]
    text = lowering.instantiate(s.target, library_functions) + source
    _, found, _, copied = run([(text, OPTIONS, [("k", s.local, s.local, buffers)])], tmp_path)[0]
    held = np.zeros((s.sub_groups, 2, s.sub_group_size), bool)
    for group in range(s.sub_groups):
        first = group * s.sub_group_size
        lanes = x[first : first + s.sub_group_size].tolist()
        held[group, :, : len(lanes)] = True
        for lane in range(len(lanes)):
            wanted = {row[0]: int(row[3](lanes, lane)) for row in builtin_cases(s, group)}
            assert dict(zip(wanted, found[first + lane].tolist(), strict=True)) == wanted, f"{s}: {group}, {lane}"
    np.testing.assert_array_equal(copied, np.where(held.ravel(), blocks, 0))


def test_every_section_of_the_library_is_there() -> None:
    """What Oclgrind looks at is all that there is."""
    for route in ("one", "scratch"):
        wanted: set[tuple[str, str]] = set()
        called: list[tuple[Situation, LibraryFunction]] = []
        for s in (*SITUATIONS, *TAILS):
            if s.route == route:
                called += [(s, i) for case in matrix_cases(s) for i in case.build.library_functions]
                called += [(s, i) for i in builtin_kernel(s)[1]]
        files: set[tuple[str, ...]] = set()
        for s, function in called:
            called_by = functions_called(function.definitions(s.target).values())
            for i in (function, *function.needs(s.target), *called_by):
                if isinstance(i, maps.OperandFunction):
                    continue
                files.add(i.files(s.target.route))
                wanted.add(lowering.section(i.files(s.target.route), i.definitions(s.target)["OP"]))
        there = {lowering.section(names, name) for names in files for file in names for name in _sections(file)}
        assert wanted == there - _OF_OTHERS[route] - _OF_SCALARS


def _sections(file: str) -> set[str]:
    return set(lowering.library_sections(file)) - {"PROLOGUE"}


# No matrix has components of these types: test_microscaling_on_device.py runs their conversions.
_OF_SCALARS = {("small_floats.cl", name) for name in ("POWER_TO_FLOAT", "POWER_FROM_FLOAT")}
# A single work-item stores as any other to private memory, and has its own ways to load and store; only where there are
# instructions do A, B and C lie in different ways. Of the sums of MUL_ADD_COLUMN, Oclgrind says that nobody wrote them.
_OF_OTHERS: dict[str, set[tuple[str, str]]] = {
    "one": {("subgroup_of_one.cl", "MUL_ADD_COLUMN")}
    | {("general.cl", name) for name in ("LOAD", "STORE", "STORE_ALL", "MUL_ADD_MIXED", "COMPONENT_WISE")},
    "scratch": {("general.cl", "MUL_ADD_MIXED")},
}
