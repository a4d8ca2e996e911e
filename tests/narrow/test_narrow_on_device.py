"""Matrices with components of fewer than 8 bits, on every route: memory, conversions, functions, multiply-adds."""

from __future__ import annotations

from typing import Any

import numpy as np
import optimizer
import pytest
from differential import Launch, execute

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.matrices.numpy_reference import convert, decode_bits, encode_bits, from_memory, in_memory, mul_add, offsets
from coopmat.matrices.variants import (
    COMPONENT_TYPES,
    EVERY_COMPONENT_TYPE,
    NARROW_TYPES,
    ComponentType,
    Layout,
    MatrixShape,
    default_operands,
)

Array = np.ndarray[Any, Any]
# route -> subgroup size
ROUTES = {
    **{"one": 1, "lanes": 16, "scratch": 8, "x86:emulated": 1, "mma:emulated": 32, "wmma:emulated": 32},
    **{"wmma:emulated@gfx12": 32, "mfma:emulated": 64, "dpas:emulated": 16},
}
F16, F32 = COMPONENT_TYPES["f16"], COMPONENT_TYPES["f32"]
SHAPE = MatrixShape(8, 8)
LAYOUTS = {Layout.ROW_MAJOR: (8, 10, 13), Layout.COLUMN_MAJOR: (8, 11), Layout.PACKED: (64, 67)}
HEAD = """
#define TYPE(T, rows, columns, use) \\
    T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, rows, columns, CLK_COOPERATIVE_MATRIX_##use)))
#define LAYOUT(name) CLK_COOPERATIVE_MATRIX_LAYOUT_##name
#define KERNEL kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
"""
MEMORY = """
KERNEL void {name}(const global {t} *p, global {t} *out)
{{
    TYPE({t}, 8, 8, B) m = coop_mat_load(p, LAYOUT({layout}), {stride}ul);
    coop_mat_store(out, m, LAYOUT({layout}), {stride}ul);
    local {t} tile[256];
    for (uint i = get_local_id(0); i < 256; i += LANES)
        tile[i] = as_{t}((uchar)0);
    barrier(CLK_LOCAL_MEM_FENCE);
    coop_mat_store(tile, m, LAYOUT({layout}), {stride}ul);
    m = coop_mat_load(tile, LAYOUT({layout}), {stride}ul);
    coop_mat_store(out + {behind}, m, LAYOUT(ROW_MAJOR), 8ul);
    TYPE({t}, 8, 8, B) part = coop_mat_load_checked(p, LAYOUT({layout}), {stride}ul, 2u, 3u, 8u, 8u);
    coop_mat_store_checked(out + {behind} + 64, part, LAYOUT(ROW_MAJOR), 8ul, 0u, 1u, 6u, 7u);
}}
"""


def compiled(source: str, route: str) -> coopmat.Module:
    size = ROUTES[route]
    options = ["-w", f"-DLANES={size}", "--matrices", route, *(["--sub-group-size", str(size)] if size > 1 else [])]
    return coopmat.compile(HEAD + source, options)


def codes_of(component: ComponentType, seed: int, count: int) -> Array:
    """Return random codes; integers are extended to bytes."""
    codes = np.random.default_rng(seed).integers(0, 1 << component.width, count).astype(np.uint8)
    return from_memory(component, in_memory(component, codes), count)


@pytest.mark.covering
@pytest.mark.parametrize("name", NARROW_TYPES)
@pytest.mark.parametrize("route", ROUTES)
def test_memory(device: DeviceInfo, route: str, name: str) -> None:
    t, source, launches, wanted = NARROW_TYPES[name], "", [], []
    unit = 2 if t.is_nibble else 1
    for number, layout in enumerate(Layout(n) for n in range(3)):
        stride = LAYOUTS[layout][len(route + name) % len(LAYOUTS[layout])]
        behind = 256 // unit
        source += MEMORY.format(
            name=f"k{number}", t=t.opencl_c, layout=layout.name, stride=stride, behind=behind
        ).replace("+ 64", f"+ {64 // unit}")
        places = offsets(SHAPE, t, layout, stride)
        p, before = codes_of(t, number, 256), codes_of(t, 7 + number, 512)
        m, expected = p[places], before.copy()
        expected[places] = m
        expected[256:320] = m.reshape(-1)
        part = np.zeros((8, 8), np.uint8)
        part[:6, :5] = m[2:, 3:]
        bounded = expected[320:384].reshape(8, 8)
        bounded[:6, 1:7] = part[:6, :6]
        launches.append(
            Launch(f"k{number}", [in_memory(t, p), in_memory(t, before)], (ROUTES[route],), (ROUTES[route],))
        )
        wanted.append(expected)
    for buffers, expected in zip(execute(device, compiled(source, route).spirv, launches), wanted, strict=True):
        np.testing.assert_array_equal(from_memory(t, buffers[1], 512), expected)


VALUES = """
static {t} negated(uint r, uint c, {t} x) {{ return ({t})-(float)x; }}
static {t} place(uint r, uint c, uint n) {{ return ({t})(float)(r + c * n); }}
KERNEL void values(const global {t} *p, const global float *x, global float *out, global {t} *codes)
{{
    TYPE({t}, 16, 16, A) m = coop_mat_load(p, LAYOUT(ROW_MAJOR), 16ul);
    TYPE(float, 16, 16, ACCUMULATOR) f = coop_mat_convert(m);
    coop_mat_store(out, f, LAYOUT(ROW_MAJOR), 16ul);
    f = coop_mat_load(x, LAYOUT(ROW_MAJOR), 16ul);
    TYPE({t}, 16, 16, A) n = coop_mat_convert_sat_rte(f);
    coop_mat_store(codes, n, LAYOUT(ROW_MAJOR), 16ul);
    n = (TYPE({t}, 16, 16, A))f;
    coop_mat_store(codes + {step}, n, LAYOUT(ROW_MAJOR), 16ul);
    n = coop_mat_map(m, negated);
    coop_mat_store(codes + 2 * {step}, n, LAYOUT(ROW_MAJOR), 16ul);
    n = coop_mat_build(place, 3u);
    n[0] = n[0];
    coop_mat_store(codes + 3 * {step}, n, LAYOUT(ROW_MAJOR), 16ul);
    TYPE({t}, 16, 16, B) turned = coop_mat_transpose(m);
    coop_mat_store(codes + 4 * {step}, turned, LAYOUT(ROW_MAJOR), 16ul);
    n = coop_mat_init(-2.5f);
    coop_mat_store(codes + 5 * {step}, n, LAYOUT(ROW_MAJOR), 16ul);
    TYPE(half, 16, 16, A) h = coop_mat_convert(m);
    coop_mat_store(out + 256, (TYPE(float, 16, 16, A))h, LAYOUT(ROW_MAJOR), 16ul);
}}
"""


@pytest.mark.covering
@pytest.mark.parametrize("name", NARROW_TYPES)
@pytest.mark.parametrize("route", ROUTES)
def test_values(device: DeviceInfo, route: str, name: str) -> None:
    t, size = NARROW_TYPES[name], ROUTES[route]
    step = 128 if t.is_nibble else 256
    codes = codes_of(t, 3, 256)
    x = (np.random.default_rng(4).standard_normal(256) * t.largest / 2).astype(np.float32)
    x[:6] = [np.nan, np.inf, -np.inf, 1e30, -0.0, 0.5]
    source = VALUES.format(t=t.opencl_c, step=step)
    arguments = [in_memory(t, codes), x, np.zeros(512, np.float32), np.zeros(6 * step, np.uint8)]
    (buffers,) = execute(device, compiled(source, route).spirv, [Launch("values", arguments, (size,), (size,))])
    numbers = decode_bits(t, codes)
    np.testing.assert_array_equal(buffers[2].reshape(2, 256), [numbers, numbers])
    rows, columns = np.indices((16, 16))
    wanted = [
        encode_bits(t, x, "rte", True),
        encode_bits(t, x),
        encode_bits(t, -numbers),
        encode_bits(t, (rows + columns * 3).reshape(-1).astype(np.float32)),
        codes.reshape(16, 16).T.reshape(-1),
        np.full(256, encode_bits(t, np.float32([-2.5]))[0]),
    ]
    found = [from_memory(t, part, 256) for part in buffers[3].reshape(6, step)]
    np.testing.assert_array_equal(found, wanted)


PRODUCT = """
KERNEL void {name}(const global {a} *p, const global {b} *q, const global {c} *r, global {c} *out)
{{
    TYPE({a}, {m}, {k}, A) x = coop_mat_load(p, LAYOUT(ROW_MAJOR), {k}ul);
    TYPE({b}, {k}, {n}, B) y = coop_mat_load(q, LAYOUT(ROW_MAJOR), {n}ul);
    TYPE({c}, {m}, {n}, ACCUMULATOR) z = coop_mat_load(r, LAYOUT(ROW_MAJOR), {n}ul);
    coop_mat_store(out, coop_mat_mulAdd(x, y, z{mask}), LAYOUT(ROW_MAJOR), {n}ul);
}}
"""
PAIRS = (("s4", "s4"), ("s4", "u4"), ("u4", "s4"), ("u4", "u4"), ("s4", "s8"), ("u8", "u4"))
SATURATING = "CLK_COOPERATIVE_MATRIX_OPERAND_SATURATING_ACCUMULATION"


@pytest.mark.parametrize("shape", [(16, 16, 32), (3, 5, 7)], ids=str)
@pytest.mark.parametrize("route", ROUTES)
def test_products(device: DeviceInfo, route: str, shape: tuple[int, int, int]) -> None:
    """Test two of the pairs for each route and shape; all with --all: some devices need a minute for a kernel."""
    (m, n, k), size = shape, ROUTES[route]
    source, launches, wanted = "", [], []
    first = (list(ROUTES).index(route) + k) % 3
    for number, (a, b) in enumerate(PAIRS):
        if not optimizer.ALWAYS and number % 3 != first:
            continue
        c = COMPONENT_TYPES["u32" if a == b == "u4" else "s32"]
        types = EVERY_COMPONENT_TYPE[a], EVERY_COMPONENT_TYPE[b], c
        mask = default_operands(*types)
        words = ""
        if number % 2:
            mask |= 16
            signs = " | ".join(
                f"CLK_COOPERATIVE_MATRIX_OPERAND_MATRIX_{word}_SIGNED"
                for bit, word in enumerate(("A", "B", "C", "RESULT"))
                if mask >> bit & 1
            )
            words = f", {' | '.join(filter(None, (SATURATING, signs)))}"
        names = dict(zip("abc", (t.opencl_c for t in types), strict=True))
        source += PRODUCT.format(name=f"k{number}", m=m, n=n, k=k, mask=words, **names)
        rng = np.random.default_rng(number)
        x, y = (
            codes_of(t, number + seed, rows * columns)
            if t.is_nibble
            else rng.integers(0, 256, rows * columns).astype(np.uint8).view(t.numpy)
            for seed, (t, rows, columns) in enumerate(((types[0], m, k), (types[1], k, n)))
        )
        info = np.iinfo(c.numpy)
        z = rng.integers(info.min, info.max, m * n, c.numpy, endpoint=True)
        z[:4] = [info.max, info.min, 0, info.max]
        arrays = x.reshape(m, k), y.reshape(k, n), z.reshape(m, n)
        wanted.append(mul_add(types, *arrays, mask)[0])
        buffers = [in_memory(types[0], x), in_memory(types[1], y), z, np.zeros(m * n, c.numpy)]
        launches.append(Launch(f"k{number}", buffers, (size,), (size,)))
    for buffers, expected in zip(execute(device, compiled(source, route).spirv, launches), wanted, strict=True):
        np.testing.assert_array_equal(buffers[3].reshape(m, n), expected)


def test_conversion_reference() -> None:
    """The reference reads what it writes: every code of every type, by way of half, too."""
    for t in NARROW_TYPES.values():
        codes = codes_of(t, 0, 512)
        np.testing.assert_array_equal(encode_bits(t, decode_bits(t, codes)), codes)
        np.testing.assert_array_equal(convert(convert(codes, t, F16), F16, t), codes)
        assert convert(codes, t, F32).max() == t.largest and convert(codes, t, F32).min() == t.least
