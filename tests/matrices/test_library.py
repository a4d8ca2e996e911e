"""Every library function, built by the device's own OpenCL C compiler, against the reference.

Shapes, types, layouts and address spaces are drawn with a fixed seed; all component types occur for every operation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from on_device import ROW, Builder, Case, run

from coopmat.devices import DeviceInfo
from coopmat.matrices import library_functions, lowering, numpy_reference
from coopmat.matrices.numpy_reference import Array, numpy_binary, numpy_convert, numpy_mul_add, numpy_negate
from coopmat.matrices.variants import (
    COMPONENT_TYPES,
    ComponentType,
    Conversion,
    Layout,
    MatrixShape,
    MatrixType,
    Operands,
    Use,
)

SIZES = (1, 2, 3, 4, 5, 7, 8, 16, 32)
ALL_TYPES = list(COMPONENT_TYPES.values())
BF16, F64 = COMPONENT_TYPES["bf16"], COMPONENT_TYPES["f64"]
TYPES = [row for row in COMPONENT_TYPES.values() if not row.is_bits]
INTEGERS = [t for t in TYPES if t.is_integer]
FLOATS = [t for t in TYPES if not t.is_integer]
# The table of cases (`matrix_table`) has the other sizes, scratch, which Oclgrind runs too (`test_oclgrind`), and each
# operation with lanes, which run here with --all only.
TARGETS = [("one", 1), pytest.param(("lanes", 16), marks=pytest.mark.slow)]


@pytest.fixture(params=TARGETS, ids=lambda target: f"{target[0]}{target[1]}")
def target(request, device: DeviceInfo):
    route, sub_group_size = lowering.LOWERED_ROUTES[request.param[0]], request.param[1]
    if route.name == "lanes" and sub_group_size not in device.sub_group_sizes:
        pytest.skip(f"the device has no subgroups of {sub_group_size}")
    return route, sub_group_size


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def draw_matrix(rng, component: ComponentType, largest: int = 32) -> MatrixType:
    rows, columns = rng.choice([size for size in SIZES if size <= largest], 2)
    return MatrixType(component, int(rows), int(columns), Use(int(rng.integers(3))))


def draw(rng, component: ComponentType, *shape: int) -> Array:
    """Integers over their whole range; numbers of either sign, with a few specials among them."""
    dtype = np.dtype(component.numpy)
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    values = rng.standard_normal(shape).astype(dtype)
    specials = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).max], dtype)
    where = rng.random(shape) < 0.1
    return np.where(where, rng.choice(specials, shape), values)


def equal(got: Array, expected: Array, tolerance: Array | float = 0.0) -> None:
    """Bit for bit but for NaNs, or as near as `tolerance` (absolute)."""
    got = got.reshape(expected.shape)
    same = got == expected
    if expected.dtype.kind == "f":
        both_zero = (got == 0) & (expected == 0)
        same &= ~both_zero | (np.signbit(got) == np.signbit(expected)) | (np.asarray(tolerance) > 0)
        same |= np.isnan(got) & np.isnan(expected)
        with np.errstate(all="ignore"):
            distance = np.abs(got.astype(np.float64) - expected.astype(np.float64))
            same |= np.isfinite(expected) & (distance <= tolerance)
    assert same.all(), f"differs at {np.argwhere(~same)[:8].tolist()}:\n{got[~same][:8]} is not\n{expected[~same][:8]}"


# --- memory ----------------------------------------------------------------------------------------


def memory_case(
    target, rng, component: ComponentType, layout: Layout, out_layout: Layout, space: str, volatile: bool = False
) -> Case:
    """Load with one layout from one address space, store with another to global memory; padding stays as it was."""
    matrix = draw_matrix(rng, component)
    stride = int(rng.choice([0, 1, 4])) + 4 * max(matrix.rows, matrix.columns)
    load_stride = stride * int(rng.random() > 0.2)
    size = stride * max(matrix.rows, matrix.columns) + 7
    memory, out = draw(rng, component, size), draw(rng, component, size)
    build = Builder(*target)
    # The matrix begins 3 components into the buffer: no more alignment than a component's is promised.
    source = build.buffer(memory, component.library_c, "constant" if space == "constant" else "global")
    if space in ("local", "private"):
        build.lines.append(f"{space} {component.library_c} copy[{size}];")
        build.lines.append(f"for (int i = 0; i < {size}; ++i) copy[i] = {source}[i];")
        build.lines.append("barrier(CLK_LOCAL_MEM_FENCE);")
        source = "copy"
    m = build.declare("m", matrix)
    build.call(lowering.Load(matrix, space, layout, volatile), m, f"{source} + 3", str(load_stride))
    to = build.buffer(out, component.library_c)
    build.call(lowering.Store(matrix, "global", out_layout, volatile), f"{to} + 3", m, str(stride))
    expected = out.copy()
    loaded = numpy_reference.load(memory[3:], matrix.shape, layout, load_stride)
    numpy_reference.store(expected[3:], loaded, out_layout, stride)
    name = f"{matrix} {space} {layout.short} stride {load_stride} -> {out_layout.short} stride {stride}"
    return build.case(name, lambda results: equal(results[1], expected))


def test_load_and_store(device, target, rng):
    layouts = list(itertools.product(Layout, Layout))
    spaces = ("global", "local", "constant", "private")
    cases = [
        memory_case(target, rng, component, *layouts[(9 * i + 5 * j) % 16], spaces[(i + j) % 4])
        for i, component in enumerate(ALL_TYPES)
        for j in range(9 if component.name in ("f32", "s8") else 2)
    ]
    run(device, *target, cases)


def checked_case(target, rng, component: ComponentType, layout: Layout, space: str, volatile: bool) -> Case:
    """A tile at a place where some of it, or all, or nothing lies in a matrix in memory; what is outside stays."""
    matrix = draw_matrix(rng, component, 16)
    rows, columns = (int(n) for n in rng.integers(1, 30, 2))
    row, column = (int(rng.choice([0, 1, 2, 4, end - 1, end, 5, 2**32 - 1])) for end in (rows, columns))
    stride = 4 * max(rows, columns) + int(rng.choice([0, 3]))
    memory, out = (draw(rng, component, stride * max(rows, columns) + 7) for _ in range(2))
    build = Builder(*target)
    source = build.buffer(memory, component.library_c)
    if space != "global":
        build.lines.append(f"{space} {component.library_c} copy[{memory.size}];")
        build.lines.append(f"for (int i = 0; i < {memory.size}; ++i) copy[i] = {source}[i];")
        build.lines.append("barrier(CLK_LOCAL_MEM_FENCE);")
        source = "copy"
    m = build.declare("m", matrix)
    # Elsewhere in memory lies what the tile has no part of.
    bounds = [f"{n}u" for n in (row, column, rows, columns)]
    build.call(lowering.Load(matrix, space, layout, volatile, True), m, f"{source} + 3", str(stride), *bounds)
    build.store(m, matrix)
    to = build.buffer(out, component.library_c)
    build.call(lowering.Store(matrix, "global", layout, volatile, True), f"{to} + 3", m, str(stride), *bounds)
    places = numpy_reference.offsets(MatrixShape(rows, columns), component, layout, stride)
    tile, written = np.zeros((matrix.rows, matrix.columns), memory.dtype), out.copy()
    for r in range(min(matrix.rows, rows - row)):
        for c in range(min(matrix.columns, columns - column)):
            tile[r, c] = memory[3 + places[row + r, column + c]]
            written[3 + places[row + r, column + c]] = tile[r, c]

    def check(results):
        equal(results[1], tile)
        equal(results[2], written)

    name = f"{matrix} at {row}, {column} of {rows} x {columns}, {space} {layout.short}{' volatile' * volatile}"
    return build.case(name, check)


def test_checked_load_and_store(device, target, rng):
    spaces = ("global", "local", "private")
    cases = [
        checked_case(
            target, rng, component, Layout(number % 3), spaces[number % 2 + (number % 5 == 0)], number % 4 == 3
        )
        for number, component in enumerate(ALL_TYPES * 2)
    ]
    run(device, *target, cases)


def test_volatile_load_and_store(device, target, rng):
    cases = [
        memory_case(target, rng, t, Layout(i % 3), Layout((i + 1) % 3), ("global", "local")[i % 2], True)
        for i, t in enumerate(ALL_TYPES[::2])
    ]
    run(device, *target, cases)


def store_space_case(target, rng, component: ComponentType, space: str) -> Case:
    matrix = draw_matrix(rng, component)
    values = draw(rng, component, matrix.rows, matrix.columns)
    build = Builder(*target)
    m = build.matrix("m", matrix, values)
    build.lines.append(f"{space} {component.library_c} copy[{values.size}];")
    build.call(lowering.Store(matrix, space, ROW), "copy", m, str(matrix.columns))
    out = build.buffer(np.zeros_like(values), component.library_c)
    build.lines.append("barrier(CLK_LOCAL_MEM_FENCE);")
    build.declare("again", matrix)
    # A private array holds only what its own work-item stored.
    build.call(lowering.Load(matrix, space, ROW), "again", "copy", str(matrix.columns))
    build.call(lowering.Store(matrix, "global", ROW), out, "again", str(matrix.columns))
    return build.case(f"{matrix} through {space}", lambda results: equal(results[1], values))


def test_store_to_local_and_private(device, target, rng):
    cases = [store_space_case(target, rng, t, space) for t in (*ALL_TYPES[::2], BF16) for space in ("local", "private")]
    run(device, *target, cases)


# --- components ------------------------------------------------------------------------------------


def fill_case(target, rng, component: ComponentType) -> Case:
    matrix = draw_matrix(rng, component)
    scalar = draw(rng, component, 1)
    build = Builder(*target)
    value = build.buffer(scalar, component.library_c)
    build.call(lowering.Fill(matrix), build.declare("m", matrix), f"{value}[0]")
    build.store("m", matrix)
    expected = numpy_reference.fill(matrix.shape, component, scalar[0])
    return build.case(f"fill {matrix}", lambda results: equal(results[1], expected))


def test_fill(device, target, rng):
    run(device, *target, [fill_case(target, rng, component) for component in TYPES])


def operator_case(target, rng, operator: str, component: ComponentType) -> Case:
    matrix = draw_matrix(rng, component, 16)
    x, y = (draw(rng, component, matrix.rows, matrix.columns) for _ in range(2))
    if operator == "div" and component.is_integer:
        y[(y == 0) | (y == np.array(-1).astype(y.dtype))] = 3
    build = Builder(*target)
    build.matrix("x", matrix, x), build.matrix("y", matrix, y)
    # The result may be one of the operands.
    out = str(rng.choice(["x", "y", build.declare("z", matrix)]))
    build.call(lowering.Binary(matrix, operator), out, "x", "y")
    build.store(out, matrix)
    expected = numpy_binary(operator, x, y)
    ulps = {"half": 1.0, "float": 2.5}.get(component.library_c, 0.0) if operator == "div" else 0.0
    with np.errstate(all="ignore"):
        tolerance = ulps * np.spacing(np.abs(expected)) if ulps else 0.0
    return build.case(f"{operator} {matrix}", lambda results: equal(results[2], expected, tolerance))


def test_operators(device, target, rng):
    operators = ("add", "sub", "mul", "div")
    run(device, *target, [operator_case(target, rng, o, t) for o in operators for t in TYPES])


def negate_case(target, rng, component: ComponentType) -> Case:
    matrix = draw_matrix(rng, component)
    x = draw(rng, component, matrix.rows, matrix.columns)
    build = Builder(*target)
    build.matrix("x", matrix, x)
    build.call(lowering.Negate(matrix), "x", "x")
    build.store("x", matrix)
    return build.case(f"negate {matrix}", lambda results: equal(results[1], numpy_negate(x)))


def scalar_mul_case(target, rng, component: ComponentType) -> Case:
    matrix = draw_matrix(rng, component)
    x, scalar = draw(rng, component, matrix.rows, matrix.columns), draw(rng, component, 1)
    build = Builder(*target)
    build.matrix("x", matrix, x)
    value = build.buffer(scalar, component.library_c)
    build.call(lowering.ScalarMultiply(matrix), build.declare("y", matrix), "x", f"{value}[0]")
    build.store("y", matrix)
    expected = numpy_reference.scalar_mul(x, scalar[0])
    return build.case(f"scalar_mul {matrix}", lambda results: equal(results[2], expected))


def test_negate_and_scalar_mul(device, target, rng):
    run(device, *target, [case(target, rng, t) for case in (negate_case, scalar_mul_case) for t in TYPES])


def convert_case(
    target, rng, source: ComponentType, to: ComponentType, rounding: str = "", saturate: bool = False
) -> Case:
    matrix = draw_matrix(rng, source, 8)
    x = draw(rng, source, matrix.rows, matrix.columns)
    if not source.is_integer and to.is_integer and not saturate:
        # What does not fit is undefined.
        x = rng.uniform(0 if not to.signed else -120, 120, x.shape).astype(x.dtype)
    build = Builder(*target)
    build.matrix("x", matrix, x)
    result = MatrixType(to, matrix.rows, matrix.columns, matrix.use)
    build.call(lowering.Convert(matrix, to, Conversion(rounding, saturate)), build.declare("y", result), "x")
    build.store("y", result)
    expected = numpy_convert(x, to, rounding, saturate)
    name = f"convert {matrix} to {to} {rounding} {'sat' if saturate else ''}"
    return build.case(name, lambda results: equal(results[1], expected))


def test_convert(device, target, rng):
    pairs = list(itertools.product(TYPES, TYPES))
    if target[0].name != "one":
        # A third of them for each subgroup size: only the compiler differs.
        pairs = pairs[(8, 16, 32).index(target[1]) :: 3]
    cases = [convert_case(target, rng, source, to) for source, to in pairs]
    for number, (source, to) in enumerate(pairs):
        rounding = ("rte", "rtz", "rtp", "rtn")[number % 4]
        if to.is_integer and number % 3 == 0:
            cases.append(convert_case(target, rng, source, to, "" if source.is_integer else rounding, True))
        elif not to.is_integer and not source.is_integer and source.bits > to.bits:
            cases.append(convert_case(target, rng, source, to, rounding))
    run(device, *target, cases)


def test_conversions_saturate_in_subgroups_of_32(device, rng):
    """Intel's CPU runtime has no convert_char32_sat and the like."""
    if 32 not in device.sub_group_sizes:
        pytest.skip("the device has no subgroups of 32")
    target = lowering.LOWERED_ROUTES["lanes"], 32
    pairs = list(itertools.product(TYPES, INTEGERS))[::3]
    roundings = itertools.cycle(("", "rte", "rtz", "rtp", "rtn"))
    cases = [
        convert_case(target, rng, source, to, "" if source.is_integer else rounding, True)
        for (source, to), rounding in zip(pairs, roundings, strict=False)
    ]
    run(device, *target, cases)


# --- bfloat16 --------------------------------------------------------------------------------------


def rounded(x: Array, rounding: str = "rte") -> Array:
    """The bits of the bfloat16 that a number rounds to; exact: of all that lie around it, by rational arithmetic."""
    return np.array([_rounded(value, rounding) for value in x.ravel().tolist()], np.uint16).reshape(x.shape)


def _rounded(value: float, rounding: str) -> int:
    if value != value:
        return 0x7FC0
    if isinstance(value, float) and np.isinf(value):
        return 0x7F80 if value > 0 else 0xFF80
    exact, sign = abs(Fraction(value)), 0x8000 if np.signbit(value) else 0
    low, high = 0, 0x7F80
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if magnitude(middle) <= exact else (low, middle)
    below, above = exact - magnitude(low), magnitude(high) - exact
    up = {"rtz": False, "rtp": not sign, "rtn": bool(sign)}.get(rounding, (above, high & 1) < (below, low & 1))
    return sign | (high if below and up else low)


def magnitude(bits: int) -> Fraction:
    """Infinity counts as the power of two that comes after the greatest number."""
    exponent, fraction = bits >> 7, bits & 0x7F
    return Fraction(fraction + 128 * (exponent > 0)) * Fraction(2) ** (max(exponent, 1) - 134)


def widened(bits: Array) -> Array:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def same_bfloat16(got: Array, expected: Array) -> None:
    got, expected = widened(got.reshape(expected.shape)), widened(expected)
    equal(got, expected)


def draw_bfloat16(rng, *shape: int) -> Array:
    return rounded(draw(rng, COMPONENT_TYPES["f32"], *shape))


def to_bfloat16_case(target, rng, source: ComponentType, rounding: str) -> Case:
    matrix = MatrixType(source, 8, int(rng.choice([3, 8, 16])), Use.A)
    x = draw(rng, source, matrix.rows, matrix.columns)
    if source.bits >= 32:
        # Just beside the middle between two bfloat16: what rounds twice goes wrong.
        near = (x.ravel()[:20] if source.is_integer else rng.standard_normal(20).astype(x.dtype)).astype(np.float64)
        near = widened(rounded(near)).astype(np.float64) * (1 + 2.0**-8) * (1 + rng.integers(-1, 2, 20) * 2.0**-40)
        if source.is_integer:
            limits = np.iinfo(x.dtype)
            near = np.clip(near, float(limits.min) / 2, float(limits.max) / 2)
        x.ravel()[:20] = near.astype(x.dtype)
    build = Builder(*target)
    build.matrix("x", matrix, x)
    result = MatrixType(BF16, matrix.rows, matrix.columns, matrix.use)
    build.call(lowering.Convert(matrix, BF16, Conversion(rounding)), build.declare("y", result), "x")
    build.store("y", result)
    expected = rounded(x, rounding)
    return build.case(f"convert {matrix} to bf16 {rounding}", lambda results: same_bfloat16(results[1], expected))


def from_bfloat16_case(target, rng, to: ComponentType, rounding: str, saturate: bool) -> Case:
    matrix = MatrixType(BF16, 4, int(rng.choice([4, 5, 8])), Use.B)
    x = draw_bfloat16(rng, matrix.rows, matrix.columns)
    if to.is_integer:
        x = rounded(rng.uniform(0 if not to.signed and not saturate else -120, 120, x.shape))
    build = Builder(*target)
    build.matrix("x", matrix, x)
    result = MatrixType(to, matrix.rows, matrix.columns, matrix.use)
    build.call(lowering.Convert(matrix, to, Conversion(rounding, saturate)), build.declare("y", result), "x")
    build.store("y", result)
    expected = numpy_convert(widened(x), to, rounding, saturate)
    return build.case(f"convert {matrix} to {to} {rounding}", lambda results: equal(results[1], expected))


def test_bfloat16_conversions(device, target, rng):
    modes = ("", "rte", "rtz", "rtp", "rtn")
    cases = [to_bfloat16_case(target, rng, t, modes[i % 5]) for i, t in enumerate(TYPES)]
    wide = [t for t in TYPES if t.bits >= 32]
    if target[1] == 1:  # a component is converted alike, wherever it lies
        cases += [to_bfloat16_case(target, rng, t, mode) for t in wide for mode in modes[1:]]
    cases += [
        from_bfloat16_case(target, rng, t, modes[i % 5] if t.is_integer else "", t.is_integer and target[1] < 32)
        for i, t in enumerate(TYPES)
    ]
    run(device, *target, cases)


def bfloat16_operator_case(target, rng, operator: str) -> Case:
    matrix = MatrixType(BF16, 5, int(rng.choice([3, 8, 16])), Use.ACCUMULATOR)
    x, y = (draw_bfloat16(rng, matrix.rows, matrix.columns) for _ in range(2))
    build = Builder(*target)
    build.matrix("x", matrix, x), build.matrix("y", matrix, y)
    if operator == "negate":
        build.call(lowering.Negate(matrix), "x", "x")
        expected = x ^ 0x8000
    elif operator == "scale":
        build.call(lowering.ScalarMultiply(matrix), "x", "x", "(ushort)0x4040")
        expected = rounded(widened(x) * np.float32(3))
    else:
        build.call(lowering.Binary(matrix, operator), "x", "x", "y")
        with np.errstate(all="ignore"):
            expected = rounded(numpy_binary(operator, widened(x), widened(y)))
    build.store("x", matrix)
    if operator != "div":
        return build.case(f"bf16 {operator}", lambda results: same_bfloat16(results[2], expected))
    with np.errstate(all="ignore"):
        tolerance = np.nan_to_num(np.abs(widened(expected)), posinf=0.0) / 128
    return build.case("bf16 div", lambda r: equal(widened(r[2].reshape(expected.shape)), widened(expected), tolerance))


def bfloat16_mul_add_case(target, rng, b: ComponentType, c: ComponentType) -> Case:
    shapes = [(8, 16), (16, 12), (8, 12)]
    types = [MatrixType(t, *shape, use) for t, shape, use in zip((BF16, b, c), shapes, Use, strict=True)]
    numbers = [(rng.integers(-8, 9, shape) / 4).astype(np.float32) for shape in shapes]
    stored = [
        rounded(n) if t.component == BF16 else n.astype(t.component.numpy) for n, t in zip(numbers, types, strict=True)
    ]
    build = Builder(*target)
    for name, matrix, value in zip("abc", types, stored, strict=True):
        build.matrix(name, matrix, value)
    build.call(lowering.MultiplyAdd(*types, Operands.NONE), "c", "a", "b", "c")
    build.store("c", types[2])
    exact = numbers[0] @ numbers[1] + numbers[2]

    def check(results):
        if c == BF16:
            same_bfloat16(results[3], rounded(exact))
        else:
            equal(results[3], exact.astype(c.numpy))

    return build.case(f"bf16 x {b} + {c}", check)


def test_bfloat16_arithmetic(device, target, rng):
    cases = [bfloat16_operator_case(target, rng, o) for o in ("add", "sub", "mul", "div", "negate", "scale")]
    f32, f16 = COMPONENT_TYPES["f32"], COMPONENT_TYPES["f16"]
    cases += [bfloat16_mul_add_case(target, rng, *pair) for pair in ((BF16, f32), (f16, BF16), (BF16, BF16))]
    run(device, *target, cases)


# --- elements --------------------------------------------------------------------------------------


def element_case(target, rng, component: ComponentType) -> Case:
    """Writes m[i] of every component this work-item holds through its coordinates, and doubles it in place."""
    sub_group_size = target[1]
    matrix = draw_matrix(rng, component)
    x = draw(rng, component, matrix.rows, matrix.columns)
    build = Builder(*target)
    m = build.matrix("m", matrix, x)
    t = component.library_c
    seen = build.buffer(np.zeros_like(x), t)
    lengths = build.buffer(np.zeros(sub_group_size, np.uint32), "uint")
    length, coord = build.expression(lowering.Length(matrix)), build.expression(lowering.Coord(matrix), "i")
    build.lines += [
        f"{lengths}[get_local_id(0) % {sub_group_size}] = {length};",
        f"for (uint i = 0; i < {length}; ++i) {{",
        f"    const uint2 at = {coord};",
        f"    {seen}[at.x * {matrix.columns} + at.y] = {m}[i];",
        f"    {m}[i] = ({t})({m}[i] + ({t})1);",
        "}",
    ]
    build.store(m, matrix)
    plus_one = numpy_binary("add", x, np.ones_like(x))

    def check(results):
        equal(results[1], x)
        assert int(results[2].sum()) == x.size
        equal(results[3], plus_one)

    return build.case(f"elements of {matrix}", check)


def test_elements(device, target, rng):
    run(device, *target, [element_case(target, rng, component) for component in TYPES for _ in range(2)])


@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_lanes_of_other_sizes(device, size, rng):
    """Shapes that the size does not divide, and that do not divide it."""
    target, c = (lowering.LOWERED_ROUTES["lanes"], size), COMPONENT_TYPES
    device_size = min((n for n in device.sub_group_sizes if n % size == 0), default=None)
    if device_size is None:
        pytest.skip(f"the device has no subgroups of a multiple of {size}")
    cases = [element_case(target, rng, c[name]) for name in ("f32", "u8", "s64")]
    cases += [
        memory_case(target, rng, c[name], layout, Layout.ROW_MAJOR, "global")
        for name in ("s16", "f16")
        for layout in Layout
    ]
    cases += [checked_case(target, rng, c["s8"], Layout.PACKED, "global", False)]
    cases += [store_space_case(target, rng, c["s8"], "private")]
    for shape in ((5, 13, 9), (3, 1, 70), (2, 67, 1)):
        types = (c["s8"], c["u8"], c["s16"]), (c["f32"],) * 3
        cases += [
            mul_add_case(target, rng, *item, shape) for item in zip(types, (Operands(13), Operands(0)), strict=True)
        ]
    run(device, *target, cases, device_size=device_size if device_size != size else None)


# --- multiply-add ----------------------------------------------------------------------------------


def mul_add_case(
    target, rng, types: tuple[ComponentType, ComponentType, ComponentType], mask: Operands, shape: tuple[int, ...]
) -> Case:
    m, n, k = shape
    matrices = [
        MatrixType(types[0], m, k, Use.A),
        MatrixType(types[1], k, n, Use.B),
        MatrixType(types[2], m, n, Use.ACCUMULATOR),
    ]
    values = [draw(rng, matrix.component, matrix.rows, matrix.columns) for matrix in matrices]
    if not types[0].is_integer:
        # Infinities and NaNs now and then; never numbers whose products overflow, because then the order matters.
        special = rng.random() < 0.2
        values = [np.where((np.abs(v) < 10) | (special & ~np.isfinite(v)), v, v.dtype.type(1)) for v in values]
    build = Builder(*target)
    for name, matrix, value in zip("abc", matrices, values, strict=True):
        build.matrix(name, matrix, value)
    out = str(rng.choice(["c", build.declare("d", matrices[2])]))
    build.call(lowering.MultiplyAdd(*matrices, mask), out, "a", "b", "c")
    build.store(out, matrices[2])
    expected, bound = numpy_mul_add(*values, mask), numpy_reference.mul_add_bound(*values)
    name = f"{m}x{n}x{k} {types[0]}x{types[1]}_{types[2]} mask {int(mask)}"
    return build.case(name, lambda results: equal(results[3], expected, np.where(np.isfinite(bound), bound, 0.0)))


def mul_add_cases(target, rng) -> Iterator[Case]:
    """For lanes every second: the table has the rest."""
    cases = _mul_add_cases(target, rng)
    return cases if target[0].name == "one" else itertools.islice(cases, 0, None, 2)


def _mul_add_cases(target, rng) -> Iterator[Case]:
    small = [size for size in SIZES if size <= 16]
    if target[0].name == "one":
        # C in several blocks of registers, along both axes: the runner found the second ones to take the first's B.
        integers = COMPONENT_TYPES["s32"], COMPONENT_TYPES["s64"], COMPONENT_TYPES["u16"]
        for types, shape in ((integers, (7, 64, 5)), ((FLOATS[0],) * 3, (14, 112, 3)), (FLOATS[:3], (26, 96, 2))):
            yield mul_add_case(target, rng, types, Operands.NONE, shape)
    for types in itertools.product(FLOATS, repeat=3):
        yield mul_add_case(target, rng, types, Operands.NONE, tuple(map(int, rng.choice(small, 3))))
    for mask in range(32):
        # Narrow accumulators overflow, so that wrapping and saturation are seen; all types occur in every place.
        types = tuple(INTEGERS[(mask * step + mask // 8) % 8] for step in (1, 3, 5))
        yield mul_add_case(target, rng, types, Operands(mask), tuple(map(int, rng.choice(small, 3))))
        narrow = (INTEGERS[mask % 2 * 4], INTEGERS[mask // 2 % 2 * 4], INTEGERS[mask % 8])
        yield mul_add_case(target, rng, narrow, Operands(31 - mask), tuple(map(int, rng.choice(small[:6], 3))))
    for shape in [(8, 32, 16), (32, 16, 32), (16, 16, 16), (1, 1, 32), (32, 1, 7), (16, 5, 8)]:
        yield mul_add_case(target, rng, (COMPONENT_TYPES["f32"],) * 3, Operands.NONE, shape)


def test_mul_add(device, target, rng):
    run(device, *target, list(mul_add_cases(target, rng)))


def test_wide_operands_of_a_narrow_accumulator(device, target, rng):
    """Products that fit, of factors that do not."""
    cases = []
    for name in ("f16", "f32", "bf16"):
        types = [MatrixType(t, 2, 2, use) for t, use in zip((F64, F64, COMPONENT_TYPES[name]), Use, strict=True)]
        values = [np.array([[1e200, 0.0], [0.0, -1e-60]]), np.array([[1e-200, 1.5e-200], [-1e60, 0.0]])]
        build = Builder(*target)
        build.matrix("a", types[0], values[0]), build.matrix("b", types[1], values[1])
        build.matrix("c", types[2], np.zeros((2, 2), types[2].component.numpy))
        build.call(lowering.MultiplyAdd(*types, Operands.NONE), "c", "a", "b", "c")
        build.store("c", types[2])
        exact = np.array([[1.0, 1.5], [1.0, 0.0]])
        expected = rounded(exact) if name == "bf16" else exact.astype(types[2].component.numpy)
        cases.append(build.case(f"f64 + {name}", lambda r, e=expected: equal(r[3], e)))
    run(device, *target, cases)


def test_loops_that_stay_loops(device, target, rng, monkeypatch):
    c = COMPONENT_TYPES
    types = (c["s8"], c["u8"], c["s16"])
    for unroll, body in ((16, 256), (16, 16)):
        # As for large shapes, but quick to compile.
        monkeypatch.setattr(library_functions, "UNROLL_LIMIT", unroll)
        monkeypatch.setattr(library_functions, "BODY_LIMIT", body)
        run(device, *target, [mul_add_case(target, rng, types, Operands(29), (8, 19, 5))])


def test_a_large_multiply_add(device, rng):
    target = (lowering.LOWERED_ROUTES["one"], 1)
    run(device, *target, [mul_add_case(target, rng, (COMPONENT_TYPES["f32"],) * 3, Operands.NONE, (64, 64, 64))])


# --- subgroup builtins -----------------------------------------------------------------------------


def test_subgroup_of_one_builtins(device):
    route = lowering.LOWERED_ROUTES["one"]
    plain = ["size", "local_id", "id"]
    calls = [(f"get_sub_group_{name}", None, "") for name in plain]
    calls += [("get_max_sub_group_size", None, ""), ("get_num_sub_groups", None, "")]
    calls += [("get_enqueued_num_sub_groups", None, "")]
    calls += [(f"sub_group_reduce_{op}", "s32", "x") for op in ("add", "min", "max")]
    calls += [(f"sub_group_scan_inclusive_{op}", "s32", "x") for op in ("add", "min", "max")]
    calls += [(f"sub_group_scan_exclusive_{op}", "s32", "x") for op in ("add", "min", "max")]
    calls += [
        ("sub_group_broadcast", "s32", "x"),
        ("sub_group_shuffle", "s32", "x"),
        ("sub_group_any", "s32", "x"),
    ]
    build = Builder(route, 1)
    out = build.buffer(np.zeros((12, len(calls)), np.int32), "int")
    build.lines.append("const int x = 100 + (int)get_global_linear_id();")
    build.call(lowering.substitute_builtin(route, "sub_group_barrier"), "CLK_LOCAL_MEM_FENCE")
    for number, (name, component, arguments) in enumerate(calls):
        function = lowering.substitute_builtin(route, name, COMPONENT_TYPES[component] if component else None)
        call = build.expression(function, *arguments.split(", ") if arguments else ())
        build.lines.append(f"{out}[get_local_linear_id() * {len(calls)} + {number}] = {call};")

    def check(results):
        x = 100 + np.arange(12)
        lows_and_highs = [0, 2**31 - 1, -(2**31)]
        expected = [[1, 0, i, 1, 12, 12, *[x[i]] * 6, *lows_and_highs, *[x[i]] * 2, 1] for i in range(12)]
        assert results[0].tolist() == expected

    run(device, route, 1, [build.case("builtins", check)], local_size=(2, 3, 2))


@pytest.mark.parametrize("component", TYPES, ids=str)
def test_exclusive_scans_begin_with_the_identity(device, component):
    route = lowering.LOWERED_ROUTES["one"]
    build = Builder(route, 1)
    out = build.buffer(np.ones(3, component.numpy), component.library_c)
    for number, operation in enumerate(("add", "min", "max")):
        function = lowering.substitute_builtin(route, f"sub_group_scan_exclusive_{operation}", component)
        build.lines.append(f"{out}[{number}] = {build.expression(function, '1')};")
    dtype = np.dtype(component.numpy)
    limits = np.iinfo(dtype) if component.is_integer else None
    low, high = (limits.min, limits.max) if limits else (-np.inf, np.inf)
    run(device, route, 1, [build.case(str(component), lambda r: equal(r[0], np.array([0, high, low], dtype)))])
