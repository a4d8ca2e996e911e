"""Negated matrices that go through local memory, on every way to a device (docs/backend.md)."""

from __future__ import annotations

import numpy as np
import pytest
from differential import Launch, execute

import coopmat
from coopmat.devices import DeviceInfo

SUB_GROUPS = 3
COUNT = SUB_GROUPS * 64
SOURCE = """
#define SG CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef {type} A __attribute__((coop_mat(SG, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel __attribute__((reqd_work_group_size({items}, 1, 1))) void f(global const {type} *p, global {type} *o)
{{
    size_t at = get_sub_group_id() * 64;
    local {type} t[{count}];
    A m = coop_mat_load(p + at, ROW, 8);
    {change}
    coop_mat_store(t + at, m, ROW, 8);
    m = coop_mat_load(t + at, ROW, 8);
    coop_mat_store(o + at, m, ROW, 8);
}}
"""
# matrices of ..., the options of the last compilation, the language that it gets
WAYS = [
    *(("scratch", "cl"), ("lanes", "cl"), ("scratch", "ir"), ("scratch", "spv"), ("lanes", "spv"), ("scratch", "c")),
    ("mma:emulated", "cl"),
]
CHANGES = ["m = -m;", "m = m * -1;", "m = -fabs(m);", "m = copysign(m, -1.0f);"]


@pytest.mark.parametrize("change", [CHANGES[0], *(pytest.param(c, marks=pytest.mark.slow) for c in CHANGES[1:])])
@pytest.mark.parametrize(("route", "language"), WAYS)
def test_negated_matrices_go_through_local_memory(device: DeviceInfo, route: str, language: str, change: str) -> None:
    lanes = 32 if route == "mma:emulated" else 8
    for name, numbers in {"float": np.float32, "half": np.float16, "double": np.float64}.items():
        source = SOURCE.format(type=name, items=SUB_GROUPS * lanes, count=COUNT, change=change)
        program = _program(source, route, language, lanes)
        x = np.arange(COUNT).astype(numbers)
        x[:2] = np.inf, np.nan
        items = (SUB_GROUPS * lanes,)
        (result,) = execute(device, program, [Launch("f", [x, np.zeros_like(x)], items, items)])
        np.testing.assert_array_equal(result[1], -x)


def _program(source: str, route: str, language: str, lanes: int) -> bytes | str:
    size = [] if route == "mma:emulated" else ["--sub-group-size", str(lanes)]
    options = ["-w", "--matrices", route, *size]
    if language == "c":
        return coopmat.compile(source, [*options, "--code", "c"]).opencl_c
    if language == "cl":
        return coopmat.compile(source, options).spirv
    native = coopmat.compile(source, ["-w", "--matrices", "native", *size])
    return coopmat.compile(native.spirv if language == "spv" else native.llvm_ir, options, language=language).spirv


@pytest.mark.parametrize("code", ["spirv", "c"])
def test_negations_keep_the_sign_of_zeros_and_nans(device: DeviceInfo, code: str) -> None:
    source = """kernel void f(global const float *x, global float *o) { size_t i = get_global_id(0); float4 v = -x[i];
    if (x[0] == 3) o[0] = 1; barrier(CLK_GLOBAL_MEM_FENCE); o[i] = v.x; }"""
    x = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, 1e-42, -1.5, 2], np.float32)
    module = coopmat.compile(source, ["-w", "--code", code] if code == "c" else ["-w"])
    program = module.opencl_c if code == "c" else module.spirv
    (result,) = execute(device, program, [Launch("f", [x, np.zeros_like(x)], (8,), (8,))])
    np.testing.assert_array_equal(result[1].view(np.uint32), x.view(np.uint32) ^ np.uint32(1 << 31))
