"""What a lowering does otherwise on devices that lack a builtin, or load what a condition guards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import coopmat
from coopmat.devices import DeviceInfo, opencl, route_for
from coopmat.matrices.routes import LISTED_ROUTES, LOWERED_ROUTES, OPENCL_C_ONLY, Tuning
from coopmat.options import CompileOptions
from coopmat.runtime import Program
from coopmat.runtime.launch import resolve_options

SOURCE = """
#define M(R, C, U) coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##U)
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef float A __attribute__((M(4, 4, A)));
typedef float B __attribute__((M(4, 8, B)));
typedef float C __attribute__((M(4, 8, ACCUMULATOR)));
kernel void multiply(global const float *a, global const float *b, global float *c, uint rows, uint columns)
{
    A x = coop_mat_load_checked(a, ROW, 4, 0, 0, rows, columns);
    B y = coop_mat_load(b, ROW, 8);
    C z = coop_mat_load(c, ROW, 8);
    coop_mat_store(c, coop_mat_mulAdd(x, y, z), ROW, 8);
}
"""
MATRIX_TYPE = """
typedef float M __attribute__((matrix_type(16, 16)));
kernel void multiply(global M *m) { m[0] = m[1] * m[2] + m[0]; }
"""
LACKING = CompileOptions(fma=False, guarded_loads=False)

ROUTES = [name for name in LISTED_ROUTES[1:] if name not in OPENCL_C_ONLY]


def texts(options: CompileOptions, route: str) -> dict[str, str]:
    """The code for a device, from each language and in each form."""
    options = replace(options, matrices=route)
    native = coopmat.compile(SOURCE, name="a.cl")
    return {
        "cl": coopmat.compile(SOURCE, options, name="a.cl").spirv_text,
        "c": coopmat.compile(SOURCE, replace(options, code="c"), name="a.cl").opencl_c,
        "ir": coopmat.compile(native.llvm_ir, options, name="a.ll", language="ir").spirv_text,
        "spv": coopmat.compile(native.spirv, options, name="a.spv", language="spv").spirv_text,
    }


@pytest.mark.parametrize("route", ROUTES)
def test_devices_without_fma_get_mad_and_those_that_load_all_get_places_that_exist(route: str) -> None:
    """On devices that load what a condition guards, the place of a checked load depends on the work-item."""
    usual, lacking = (texts(options, route) for options in (CompileOptions(), LACKING))
    for language, text in usual.items():
        assert "fma" in text, language
    for language, text in lacking.items():
        assert "mad" in text and "fma" not in text, language
    for found, differs in ((usual, False), (lacking, True)):
        assert ("GlobalInvocationId" in found["cl"]) == differs
        assert ("get_global_id(0) >>" in found["c"]) == differs


def test_expressions_of_matrix_types_are_not_contracted_without_fma() -> None:
    assert "fma" in coopmat.compile(MATRIX_TYPE, name="a.cl").spirv_text
    for code in ("auto", "c"):
        module = coopmat.compile(MATRIX_TYPE, replace(LACKING, code=code), name="a.cl")
        assert "fma" not in (module.opencl_c if code == "c" else module.spirv_text)


def test_a_work_groups_matrices_keep_the_tuning() -> None:
    from coopmat.matrices.routes import Target

    tuning = Tuning(fma=False)
    assert Target(LOWERED_ROUTES["lanes"].tuned(tuning), 16).of_work_group().route.tuning == tuning


def test_rusticls_row(device: DeviceInfo) -> None:
    rusticl = replace(device, platform="rusticl", kind="CPU", extensions=frozenset())
    found = resolve_options(CompileOptions(matrices="auto"), rusticl)
    assert (found.matrices, found.fma, found.guarded_loads) == ("lanes", False, False)
    found = resolve_options(CompileOptions(matrices="auto"), replace(rusticl, platform="Another"))
    assert (found.matrices, found.fma, found.guarded_loads) == ("one", True, True)
    assert route_for(replace(rusticl, kind="GPU", sub_groups=False)).fma


@pytest.mark.parametrize("code", ["spirv", "c"])
def test_what_is_done_otherwise_is_right(code: str, device: DeviceInfo) -> None:
    options = resolve_options(replace(LACKING, matrices="one", code=code), device)
    options = replace(options, fma=False, guarded_loads=False)
    program = Program(coopmat.compile(SOURCE, options, name="a.cl"), device)
    cl, rng = opencl(), np.random.default_rng(1)
    a, b, c = (rng.integers(-8, 9, shape).astype(np.float32) for shape in ((4, 4), (4, 8), (4, 8)))
    inside = np.zeros((4, 4), np.float32)
    inside[:3, :2] = a[:3, :2]
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(program.context, flags, hostbuf=x) for x in (a, b, c)]
    program.kernel("multiply").handle(program.queue, (1,), (1,), *buffers, np.uint32(3), np.uint32(2))
    got = np.empty_like(c)
    cl.enqueue_copy(program.queue, got, buffers[2])
    assert (got == inside @ b + c).all()
