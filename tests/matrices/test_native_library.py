"""The functions that native matrices call, which no device here runs natively: their text, with lowered matrices.

What they stage through local memory must be what the reference loads and stores.
"""

from __future__ import annotations

import numpy as np
import pytest

from coopmat.devices import DeviceInfo
from coopmat.matrices import numpy_reference
from coopmat.matrices.memory_rules import MemoryRules
from coopmat.matrices.native_library import (
    TILE_ALIGN,
    ClampedConvert,
    ComponentWise,
    Function,
    RoundedConvert,
    StagedLoad,
    StagedMap,
    StagedMove,
    StagedReduce,
    StagedStore,
    instantiate,
    spelled,
    tile_components,
)
from coopmat.matrices.numpy_reference import Array, numpy_convert
from coopmat.matrices.variants import (
    COMPONENT_TYPES,
    OPENCL_C_LAYOUTS,
    ComponentType,
    Conversion,
    Layout,
    MatrixShape,
    MatrixType,
    Use,
)
from coopmat.runtime import parse_header, run_source

SUB_GROUP, SUB_GROUPS = 16, 2
MEMORY = (20, 24)
# Tiles inside, over each edge and corner, outside, and so far outside that their places do not fit a uint.
STARTS = [(0, 0), (3, 5), (15, 2), (2, 19), (16, 20), (19, 23), (20, 0), (0, 24), (2**32 - 1, 0), (3, 2**32 - 2)]
KERNEL = """
// run: kernel=k global=(32, {count}) local=(32, 1) a={t}[{size}]:zeros b={t}[{all}]:zeros starts=u32[{count},2]:zeros
{library}
typedef {matrix} TILE;
kernel __attribute__((reqd_work_group_size(32, 1, 1))) __attribute__((intel_reqd_sub_group_size(16)))
void k(global {c} *a, global {c} *b, global const uint *starts)
{{
    local {c} tiles[{tiles}];
    {prepare}
    const uint i = get_group_id(1), row = starts[2 * i], column = starts[2 * i + 1];
    // The first subgroup loads and stores whole tiles, the second one's staging must not touch it.
    const size_t from = get_sub_group_id();
    TILE m = {load}(a, {stride}ul, row, column, {rows}u - (uint)from, {columns}u, tiles);
    {store}(b + (2 * i + from) * {size}, m, {stride}ul, row, column, {rows}u - (uint)from, {columns}u, tiles);
}}
"""


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 6), (1, 16), (8, 8), (16, 16), (3, 43)])
def test_every_tile_is_aligned(rows: int, columns: int) -> None:
    for component in COMPONENT_TYPES.values():
        pitch = tile_components(MatrixType(component, rows, columns, Use.A))
        assert pitch * component.size % TILE_ALIGN == 0
        assert 0 <= pitch - rows * columns < TILE_ALIGN


def test_rows_of_tiles_lie_as_a_device_wants_them() -> None:
    matrix, rules = MatrixType(COMPONENT_TYPES["s8"], 8, 12, Use.A), MemoryRules(16, 32)
    assert (rules.pitch(matrix.component, 12), tile_components(matrix, rules)) == (32, 256)
    text = instantiate([StagedLoad(matrix, "global", Layout.ROW_MAJOR, False, rules)])
    assert "#define CM_ROW 32\n" in text and "(ulong)(p) % 16 == 0 && stride % 32 == 0" in text
    assert "%" not in instantiate([StagedLoad(matrix, "global", Layout.ROW_MAJOR)]).partition("#define CM_FIRST")[0]


@pytest.mark.covering
@pytest.mark.parametrize("rules", (MemoryRules(), MemoryRules(16, 4), MemoryRules(1, 64)))
@pytest.mark.parametrize("layout", OPENCL_C_LAYOUTS)
@pytest.mark.parametrize("component", ("f32", "s8", "u16"))
def test_staged_tiles(device: DeviceInfo, component: str, layout: Layout, rules: MemoryRules) -> None:
    if SUB_GROUP not in device.sub_group_sizes:
        pytest.skip("the device has no subgroups of 16")
    t, matrix = COMPONENT_TYPES[component], MatrixType(COMPONENT_TYPES[component], 4, 6, Use.B)
    rows, columns = MEMORY
    stride = {Layout.ROW_MAJOR: columns, Layout.COLUMN_MAJOR: rows, Layout.PACKED: columns * 4}[layout] + 3
    size = rows * stride + columns * 4
    load, store = (kind(matrix, "global", layout, False, rules) for kind in (StagedLoad, StagedStore))
    source = KERNEL.format(
        count=len(STARTS),
        t={"f32": "f32", "s8": "i8", "u16": "u16"}[component],
        c=t.opencl_c,
        size=size,
        all=size * 2 * len(STARTS),
        library=instantiate([load, store]),
        matrix=spelled(matrix),
        tiles=tile_components(matrix, rules) * SUB_GROUPS,
        prepare="",
        load=load.function_name,
        store=store.function_name,
        stride=stride,
        rows=rows,
        columns=columns,
    )
    before = np.arange(1, size + 1).astype(t.numpy)
    starts = np.array(STARTS, np.uint32)
    (run,) = parse_header(source, "staged.cl")
    arrays = {"a": before, "starts": starts}
    options = ["--matrices", "lanes", "-w"]
    result = run_source(source.encode(), "staged.cl", run, device, options, arrays=arrays).after["b"]
    found = np.asarray(result).reshape(len(STARTS), 2, size)
    for number, (row, column) in enumerate(STARTS):
        for less in range(2):
            expected = np.zeros(size, t.numpy)
            for r, c in np.ndindex(matrix.rows, matrix.columns):
                if row + r < rows - less and column + c < columns:
                    at = _place(layout, row + r, column + c, stride, t.size)
                    expected[at] = before[at]
            np.testing.assert_array_equal(found[number, less], expected, err_msg=f"tile at {row}, {column}, {less}")


def _place(layout: Layout, r: int, c: int, stride: int, size: int) -> int:
    pack = max(1, 4 // size)
    return {
        Layout.ROW_MAJOR: r * stride + c,
        Layout.COLUMN_MAJOR: c * stride + r,
        Layout.PACKED: r // pack * stride + c * pack + r % pack,
    }[layout]


MOVE = """
// run: kernel=k global=(32) local=(32) a={source}[2,4,6]:zeros b={source}[2,{shape}]:zeros
{library}
typedef {matrix} FROM;
typedef {wanted} TO;
kernel __attribute__((reqd_work_group_size(32, 1, 1))) __attribute__((intel_reqd_sub_group_size(16)))
void k(global {t} *a, global {t} *b)
{{
    local {t} tiles[{tiles}];
    FROM m = coop_mat_load(a + get_sub_group_id() * 24, 0, 6ul);
    TO n = {name}(m, tiles);
    coop_mat_store(b + get_sub_group_id() * 24, n, 0, {columns}ul);
}}
"""


@pytest.mark.parametrize("use", Use)
@pytest.mark.parametrize("component", ["s8", "u16", "f32"])
@pytest.mark.parametrize("transposed", [False, True])
def test_staged_changes_of_use_and_transposes(device: DeviceInfo, component: str, use: Use, transposed: bool) -> None:
    if SUB_GROUP not in device.sub_group_sizes:
        pytest.skip("the device has no subgroups of 16")
    t = COMPONENT_TYPES[component]
    matrix = MatrixType(t, 4, 6, Use.B)
    rules = MemoryRules(16, 4)
    function = StagedMove(matrix, use, transposed, rules)
    rows, columns = (6, 4) if transposed else (4, 6)
    source = MOVE.format(
        source={"f32": "f32", "s8": "i8", "u16": "u16"}[component],
        library=instantiate([function]),
        matrix=spelled(matrix),
        wanted=spelled(MatrixType(t, rows, columns, use)),
        shape=f"{rows},{columns}",
        columns=columns,
        t=t.opencl_c,
        tiles=tile_components(matrix, rules) * SUB_GROUPS,
        name=function.function_name,
    )
    (run,) = parse_header(source, "move.cl")
    a = np.arange(48).astype(t.numpy).reshape(2, 4, 6)
    options = ["--matrices", "lanes", "-w"]
    result = run_source(source.encode(), "move.cl", run, device, options, arrays={"a": a}).after["b"]
    np.testing.assert_array_equal(np.asarray(result), a.transpose(0, 2, 1) if transposed else a)


OPERANDS = """
// run: kernel=k global=(32) local=(32) a={source}[2,4,6]:zeros c={source}[2,4,6]:zeros b={source}[2,{shape}]:zeros
{library}
typedef {matrix} FROM;
typedef {wanted} TO;
kernel __attribute__((reqd_work_group_size(32, 1, 1))) __attribute__((intel_reqd_sub_group_size(16)))
void k(global {t} *a, global {t} *c, global {t} *b)
{{
    local {t} tiles[{tiles}];
    FROM x = coop_mat_load(a + get_sub_group_id() * 24, 0, 6ul);
    FROM y = coop_mat_load(c + get_sub_group_id() * 24, 0, 6ul);
    TO n = {name}({arguments});
    coop_mat_store(b + get_sub_group_id() * {size}, n, 0, {columns}ul);
}}
"""
HOW = {1: (4, 3), 2: (5, 6), 3: (2, 7), 4: (2, 3)}
RULES = MemoryRules(16, 4)


@pytest.mark.covering
@pytest.mark.parametrize("operation", ("build", "map", "map2", "reduce1", "reduce2", "reduce3", "reduce4", "clamp"))
@pytest.mark.parametrize("component", ("s8", "u16", "f32"))
def test_functions_of_components(device: DeviceInfo, component: str, operation: str) -> None:
    """With the text of a program's function in the place of its stand-in."""
    if SUB_GROUP not in device.sub_group_sizes:
        pytest.skip("the device has no subgroups of 16")
    t = COMPONENT_TYPES[component]
    rng = np.random.default_rng(2)
    x, y = (rng.integers(10, 100, (2, 4, 6)).astype(t.numpy) for _ in range(2))
    r, c = np.indices((4, 6))
    matrix = MatrixType(t, 4, 6, Use.ACCUMULATOR)
    shape = MatrixShape(4, 6)
    function: Function
    if operation == "clamp":
        function = ComponentWise(matrix, "clamp", (True, False, True), t)
        arguments, body, expected = "x, 9, y", "", np.minimum(np.maximum(x, np.dtype(t.numpy).type(9)), y)
    elif operation.startswith("reduce"):
        how = int(operation[-1])
        shape = MatrixShape(*HOW[how])
        function = StagedReduce(matrix, "f", how, shape.rows, shape.columns, RULES)
        arguments, body = "x, tiles", "x0 + x1"
        expected = np.array([numpy_reference.reduce(np.add, how, value, shape) for value in x])
    else:
        count = {"build": 0, "map": 1, "map2": 2}[operation]
        function = StagedMap(matrix, "f", count, RULES)
        arguments = "".join(f"{name}, " for name in "xy"[:count]) + "tiles"
        values = [np.broadcast_to(10 * r + c, x.shape), np.where(r < c, x, 3), np.where(r < c, x, y)]
        body, expected = ("10 * x0 + x1", "x0 < x1 ? x2 : 3", "x0 < x1 ? x2 : x3")[count], values[count]
    library = instantiate([function]).replace(f"{t.opencl_c} x; return x;", f"return {body};")
    assert not body or f"return {body};" in library
    source = OPERANDS.format(
        source={"f32": "f32", "s8": "i8", "u16": "u16"}[component],
        library=library,
        matrix=spelled(matrix),
        wanted=spelled(MatrixType(t, shape.rows, shape.columns, Use.ACCUMULATOR)),
        shape=f"{shape.rows},{shape.columns}",
        columns=shape.columns,
        size=shape.rows * shape.columns,
        t=t.opencl_c,
        tiles=max(1, function.tile * SUB_GROUPS),
        name=function.function_name,
        arguments=arguments,
    )
    (run,) = parse_header(source, "operands.cl")
    options = ["--matrices", "lanes", "-w"]
    result = run_source(source.encode(), "operands.cl", run, device, options, arrays={"a": x, "c": y}).after["b"]
    np.testing.assert_array_equal(np.asarray(result), expected.astype(t.numpy))


CONVERT = """
// run: kernel=k global=(16) local=(16) a={source}[8,8]:zeros b={target}[8,8]:zeros
{library}
typedef {matrix} FROM;
typedef {wanted} TO;
kernel __attribute__((intel_reqd_sub_group_size(16))) void k(global {s} *a, global {t} *b)
{{
    FROM m = coop_mat_load(a, 0, 8ul);
    TO n = {name}(m);
    coop_mat_store(b, n, 0, 8ul);
}}
"""
HEADER = {"s8": "i8", "u8": "u8", "s16": "i16", "u16": "u16", "s32": "i32", "u32": "u32", "s64": "i64", "u64": "u64"}


def converted(device: DeviceInfo, function: Function, to: ComponentType, values: Array) -> Array:
    """Return what the function converts the components of a matrix to."""
    if SUB_GROUP not in device.sub_group_sizes:
        pytest.skip("the device has no subgroups of 16")
    matrix = function.matrix
    text = CONVERT.format(
        source=HEADER.get(matrix.component.name, matrix.component.name),
        target=HEADER.get(to.name, to.name),
        s=matrix.component.opencl_c,
        t=to.opencl_c,
        library=instantiate([function]),
        matrix=spelled(matrix),
        wanted=spelled(MatrixType(to, 8, 8, Use.ACCUMULATOR)),
        name=function.function_name,
    )
    (run,) = parse_header(text, "convert.cl")
    options = ["--matrices", "lanes", "-w"]
    result: Array = run_source(text.encode(), "convert.cl", run, device, options, arrays={"a": values}).after["b"]
    return result


@pytest.mark.parametrize(
    ("source", "target"), [("s32", "u8"), ("u32", "s32"), ("s8", "u64"), ("u64", "s64"), ("s64", "u64"), ("u16", "s8")]
)
def test_clamped_conversions(device: DeviceInfo, source: str, target: str) -> None:
    matrix, to = MatrixType(COMPONENT_TYPES[source], 8, 8, Use.ACCUMULATOR), COMPONENT_TYPES[target]
    limits = np.iinfo(matrix.component.numpy)
    values: Array = np.random.default_rng(3).integers(limits.min, limits.max, (8, 8), limits.dtype, endpoint=True)
    values.flat[:8] = [limits.min, limits.max, 0, 1, 127, limits.max // 2, limits.max // 2 + 1, limits.min // 2]
    result = converted(device, ClampedConvert(matrix, to), to, values)
    np.testing.assert_array_equal(result, numpy_convert(values, to, saturate=True))


@pytest.mark.parametrize("rounding", ["", "rte", "rtz", "rtp", "rtn"])
@pytest.mark.parametrize(
    ("source", "target"),
    [("f64", "s64"), ("f64", "s32"), ("f32", "u64"), ("f32", "s16"), ("f32", "f16"), ("f16", "u16"), ("f16", "s64")],
)
def test_rounded_conversions(device: DeviceInfo, source: str, target: str, rounding: str) -> None:
    """A float may have no number for the largest integer, and an infinity is beyond all integers."""
    matrix, to = MatrixType(COMPONENT_TYPES[source], 8, 8, Use.ACCUMULATOR), COMPONENT_TYPES[target]
    values: Array = np.random.default_rng(3).uniform(-99, 99, 64)
    values[:8] = 0.5, 1.5, -0.5, -1.5, np.nan, np.inf, -np.inf, 65519
    ends = [2.0**bits - less for bits in (15, 16, 31, 32) for less in (0, 0.5, 1, 9)]
    values[8:40] = *ends, *(-end for end in ends)
    values[40:44] = 2.0**63, -(2.0**63), 2.0**64, 1e30
    with np.errstate(over="ignore"):
        values = values.astype(matrix.component.numpy).reshape(8, 8)
    how = Conversion(rounding, to.is_integer)
    result = converted(device, RoundedConvert(matrix, to, how), to, values)
    np.testing.assert_array_equal(result, numpy_convert(values, to, rounding, to.is_integer))


def test_rules_of_a_line() -> None:
    component, rules = COMPONENT_TYPES["s8"], MemoryRules(16, 16, by_line=True)
    assert [rules.pitch(component, columns) for columns in (8, 16, 24)] == [8, 16, 32]
    assert rules.for_line(8).alignment(component) == 8
    assert rules.for_line(64) == MemoryRules(16, 16)
    assert MemoryRules(16, 16).for_line(8) == MemoryRules(16, 16)
