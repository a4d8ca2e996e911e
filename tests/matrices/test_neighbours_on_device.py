"""Matrices from functions of neighbours, on every route: the same as from functions of single components."""

from __future__ import annotations

import numpy as np
import pytest
from differential import Launch, execute

import coopmat
from coopmat.devices import DeviceInfo

# route -> subgroup size
ROUTES = {
    **{"one": 1, "lanes": 16, "scratch": 16, "x86:emulated": 1, "mma:emulated": 32, "wmma:emulated": 32},
    **{"mfma:emulated": 64, "dpas:emulated": 16, "native": 16},
}
TYPES = (np.float16, np.float32, np.int8)
SOURCE = """
#define SG CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef T A __attribute__((coop_mat(SG, 16, 16, CLK_COOPERATIVE_MATRIX_A)));
typedef T B __attribute__((coop_mat(SG, 16, 16, CLK_COOPERATIVE_MATRIX_B)));
typedef T C __attribute__((coop_mat(SG, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
"""
BUILD = """
static {t}{n} row{n}(uint r, uint c, const global {t} *p) {{ return vload{n}(0, p + r * 16 + c); }}
static {t}{n} column{n}(uint r, uint c, const global {t} *p)
{{
    {t} x[{n}];
    for (uint i = 0; i < {n}; i++)
        x[i] = p[(r + i) * 16 + c];
    return vload{n}(0, x);
}}
static {t}{n} mapped{n}(uint r, uint c, {t}{n} x, {t}{n} y, const global {t} *p)
{{
    return x + y * vload{n}(0, p + r * 16 + c);
}}
kernel __attribute__((reqd_work_group_size({size}, 1, 1))) void k{n}(const global {t} *p, global {t} *o)
{{
    {use} m = coop_mat_build(row{n}, p);
    coop_mat_store(o, m, ROW_MAJOR, 16ul);
    {use} l = coop_mat_build_columns(column{n}, p + 32);
    coop_mat_store(o + 256, l, ROW_MAJOR, 16ul);
    m = coop_mat_map(m, l, mapped{n}, p);
    coop_mat_store(o + 512, m, ROW_MAJOR, 16ul);
}}
"""


@pytest.mark.covering
@pytest.mark.parametrize("use", ["A", "B", "C"])
@pytest.mark.parametrize("route", ROUTES)
def test_neighbours(device: DeviceInfo, route: str, use: str) -> None:
    size, number = ROUTES[route], "ABC".index(use) + len(route)
    # Each use has other widths and types. The device's compiler needs long for kernels of many lanes.
    widths = (2, 4, 8, 16) if size == 1 else (2 << number % 4,)
    t = TYPES[number % len(TYPES)]
    name = {"float16": "half", "float32": "float", "int8": "char"}[t.__name__]
    source = SOURCE + "".join(BUILD.format(n=n, t=name, use=use, size=size) for n in widths)
    options = ["-w", f"-DT={name}", "--matrices", route, *(["--sub-group-size", str(size)] if size > 1 else [])]
    module = coopmat.compile(source, options)
    if route == "native":
        module = coopmat.compile(module.spirv, ["-w", "--matrices", "lanes", *options[4:]], language="spv")
    p = (np.arange(18 * 16) * 7 % 23 - 5).astype(t)
    rows, columns = (p[first : first + 256].reshape(16, 16) for first in (0, 32))
    launches = [Launch(f"k{n}", [p, np.zeros(3 * 256, t)], (size,), (size,)) for n in widths]
    for buffers in execute(device, module.spirv, launches):
        np.testing.assert_array_equal(buffers[1].reshape(3, 16, 16), [rows, columns, rows + columns * rows])


SCALARS = """
#define SCOPE CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
typedef char M __attribute__((coop_mat(SCOPE, 9, 20, CLK_COOPERATIVE_MATRIX_B)));
char value(uint r, uint c, global const char *p) { return p[r * 20 + c]; }
kernel void k(global const char *p, global char *o) {
    M m = coop_mat_build_columns(value, p);
    coop_mat_store(o, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 20);
}
"""


@pytest.mark.parametrize("route", ["one", "x86:emulated", "scratch"])
def test_columns_of_scalars(device: DeviceInfo, route: str) -> None:
    """The function of scalars is vectorized along rows, though the builtin asks for columns (found by the table)."""
    module = coopmat.compile(SCALARS, ["-w", "--matrices", route])
    size = module.kernels["k"].sub_group_size or 1
    p = (np.arange(180) * 7 % 251 - 120).astype(np.int8)
    (buffers,) = execute(device, module.spirv, [Launch("k", [p, np.zeros(180, np.int8)], (size,), (size,))])
    np.testing.assert_array_equal(buffers[1], p)
