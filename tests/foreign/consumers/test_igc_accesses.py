"""Accesses that the profile igc lacks go through local memory, and give what the instruction would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.foreign.consumers.parts import Parts
from coopmat.matrices.native_library import access_name
from coopmat.matrices.variants import Layout
from coopmat.native_profiles import NATIVE_PROFILES
from coopmat.spirv.module import OP, Module

HEAD = """
#define MATRIX(T, R, C, USE) T __attribute__((coop_mat(memory_scope_sub_group, R, C, CLK_COOPERATIVE_MATRIX_##USE)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
"""
# body -> the result of the matrices a (16 x 16) and b (32 x 32); sizes of subgroups in which it needs local memory.
CASES = {
    "load": ("MATRIX(half, 8, 16, A) m = coop_mat_load(a, COLUMN, 16); coop_mat_store(q, m, ROW, 32);", (8,)),
    "wide": ("MATRIX(half, 16, 16, A) m = coop_mat_load(a, COLUMN, 16); coop_mat_store(q, m, ROW, 32);", (8, 16)),
    "checked": (
        "MATRIX(half, 8, 16, A) m = coop_mat_load_checked(a, COLUMN, 16, 8, 0, 16, 16); coop_mat_store(q, m, ROW, 32);",
        (8, 16),
    ),
    "store": ("MATRIX(half, 16, 16, A) m = coop_mat_load(a, ROW, 16); coop_mat_store(q, m, COLUMN, 32);", (8, 16)),
    "accumulator": (
        "MATRIX(half, 32, 32, ACCUMULATOR) m = coop_mat_load(b, COLUMN, 32); coop_mat_store(q, m, COLUMN, 32);",
        (8,),
    ),
    "transpose": (
        "MATRIX(half, 16, 16, B) m = coop_mat_load(a, ROW, 16); MATRIX(half, 16, 16, A) t = coop_mat_transpose(m);"
        "coop_mat_store(q, t, ROW, 32);",
        (8, 16),
    ),
    "direct": ("MATRIX(half, 16, 16, B) m = coop_mat_load(a, COLUMN, 16); coop_mat_store(q, m, ROW, 32);", ()),
}


def expected(name: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    result = np.zeros((32, 32), np.float16)
    if name == "accumulator":
        return b
    rows = {"load": slice(0, 8), "checked": slice(8, 16)}.get(name, slice(0, 16))
    part = a.T[rows]
    result[: part.shape[0], :16] = part
    return result


def native(name: str, size: int | None, *options: str) -> coopmat.Module:
    attribute = f"__attribute__((intel_reqd_sub_group_size({size})))" if size is not None else ""
    head = f"{HEAD}kernel {attribute} void k(global half *a, global half *b, global half *q)"
    return coopmat.compile(f"{head} {{ {CASES[name][0]} }}", ["-w", "--native-profile", "igc", *options])


def accesses(spirv: bytes) -> set[str]:
    parts = Parts.of(Module.parse(spirv))
    parts.types.read_matrices({})
    found = set()
    for item in (item for body in parts.functions for item in body):
        for opcode, word, at in (("Load", "load", 1), ("Store", "store", 2)):
            if item.opcode == OP[f"OpCooperativeMatrix{opcode}KHR"]:
                matrix = parts.types.matrices[item.result_type or parts.types.of(item.operands[1])]
                layout = Layout(parts.types.constants.value(item.operands[at]))
                found.add(access_name(word, matrix, layout))
    return found


@pytest.mark.parametrize("name", CASES)
def test_no_access_is_left_that_the_consumer_lacks(name: str) -> None:
    profile = NATIVE_PROFILES["igc"]
    for size in (8, 16, None):
        spirv = native(name, size).spirv
        assert all(profile.has_access(access, size) for access in accesses(spirv)), accesses(spirv)
        assert (b"coop_mat_tiles" in spirv) == (bool(CASES[name][1]) if size is None else size in CASES[name][1])
    assert b"coop_mat_tiles" not in native(name, 16, "--native-profile", "khr").spirv or name in (
        "checked",
        "transpose",
    )


@pytest.mark.parametrize("name", CASES)
def test_results(device: DeviceInfo, name: str) -> None:
    cl = opencl()
    lowered = coopmat.compile(native(name, 8).spirv, ["--matrices", "one"], language="spv")
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-9, 9, (n, n)).astype(np.float16) for n in (16, 32))
    q = np.zeros((32, 32), np.float16)
    buffers = [cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=array) for array in (a, b, q)]
    cl.Program(context, lowered.spirv).build().k(queue, (1,), (1,), *buffers)
    cl.enqueue_copy(queue, q, buffers[2])
    np.testing.assert_array_equal(q, expected(name, a, b))
