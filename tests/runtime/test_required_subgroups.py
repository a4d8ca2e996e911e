"""Kernels that require subgroups: a compiler that would run their work-items one by one, silently, has to report it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coopmat
from coopmat.cache import CACHE_DIRECTORY, NO_CACHE
from coopmat.devices import DeviceInfo, may_crash, opencl
from coopmat.runtime import driver, guarded
from coopmat.runtime.build_server import scalar_kernels
from coopmat.runtime.program import BuildError, Program
from coopmat.runtime.required_subgroups import required_sizes

ATTRIBUTE = "__attribute__((intel_reqd_sub_group_size(16)))"
# Intel's CPU compiler vectorizes no kernel with an endless loop.
ENDLESS = f"""
{ATTRIBUTE} kernel void k(global int *out, int n) {{
    out[get_global_id(0)] = sub_group_broadcast((int)get_sub_group_local_id(), 3) + 1000 * get_sub_group_size();
    if (n == 12345) for (;;);
}}
"""
# A loop that ends at once, whose counter is in memory if nothing is optimized.
COUNTER = f"""
{ATTRIBUTE} kernel void k(global int *out, int n) {{
    int lane = get_sub_group_local_id();
    for (int s = 0;; s++) {{ if (s >= (int)(2u & 1u)) break; }}
    out[get_global_id(0)] = sub_group_broadcast(lane, 3) + 1000 * get_sub_group_size();
}}
"""


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with an empty cache."""
    monkeypatch.setenv(CACHE_DIRECTORY, str(tmp_path / "cache"))
    monkeypatch.delenv(NO_CACHE, raising=False)
    monkeypatch.setattr(guarded, "_known", {})


@pytest.fixture
def vectorizing(device: DeviceInfo) -> DeviceInfo:
    if not may_crash(device):
        pytest.skip("the device's compiler is not known to leave kernels without subgroups")
    return device


def run(device: DeviceInfo, source: str, options: str, *, contained: bool = False) -> Any:
    """Build the kernel, launch two subgroups, and return what they write."""
    cl = opencl()
    context = cl.Context([device.handle])
    program = driver.build(context, coopmat.compile(source, options), device, contained=contained)
    out = np.zeros(32, np.int32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffer = cl.Buffer(context, flags, hostbuf=out)
    queue = cl.CommandQueue(context)
    cl.Program(program).k(queue, (32,), (32,), buffer, np.int32(3))
    cl.enqueue_copy(queue, out, buffer)
    return out


@pytest.mark.parametrize("contained", [False, True])
def test_a_kernel_without_subgroups_is_built_again(
    vectorizing: DeviceInfo, contained: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the next process, which finds the binary in the cache."""
    for _ in range(2):
        assert (run(vectorizing, ENDLESS, "--code c", contained=contained) == 16003).all()
        monkeypatch.setattr(guarded, "_known", {})
        monkeypatch.setattr(guarded._Server, "build", lambda *_: pytest.fail("built again"))


@pytest.mark.parametrize("contained", [False, True])
def test_a_kernel_that_gets_no_subgroups_is_an_error(vectorizing: DeviceInfo, contained: bool) -> None:
    for _ in range(2):
        with pytest.raises(driver.DriverError, match="does not run k in subgroups"):
            run(vectorizing, ENDLESS, "--code spirv", contained=contained)


def test_a_program_that_spirv_gives_no_subgroups_is_built_from_opencl_c(
    vectorizing: DeviceInfo, caplog: pytest.LogCaptureFixture
) -> None:
    """Unless its form is asked for."""
    program = Program(coopmat.compile(ENDLESS), vectorizing)
    assert program.module.code == "c" and "instead of SPIR-V" in caplog.text
    with pytest.raises(BuildError, match="does not run k in subgroups"):
        Program(coopmat.compile(ENDLESS, "--code spirv"), vectorizing)


def test_a_program_inside_the_hook_is_built_from_opencl_c_too(vectorizing: DeviceInfo) -> None:
    cl = opencl()
    context = cl.Context([vectorizing.handle])
    out = np.zeros(32, np.int32)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=out)
    queue = cl.CommandQueue(context)
    with coopmat.hook(everything=True):
        cl.Program(context, ENDLESS).build().k(queue, (32,), (32,), buffer, np.int32(3))
    cl.enqueue_copy(queue, out, buffer)
    assert (out == 16003).all()


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_counters_are_no_ids(vectorizing: DeviceInfo, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter that is hidden as ids are may never reach its end, for all that the compiler can tell."""
    monkeypatch.setattr(guarded, "first_build", lambda *_, **__: pytest.fail("built again"))
    assert (run(vectorizing, COUNTER, f"--code spirv {level}", contained=True) == 16003).all()


def test_a_log_tells_of_subgroups() -> None:
    log = 'Kernel "a" was not vectorized\nKernel "b" was successfully vectorized (8)\nDone.'
    assert scalar_kernels(log, [("a", 16), ("b", 8)]) == ("a",)
    assert scalar_kernels(log, [("a", 1), ("b", 16), ("other", 16)]) == ("b",)


@pytest.mark.parametrize("code", ["c", "spirv"])
def test_required_sizes_are_read_from_code(code: str) -> None:
    source = ENDLESS + COUNTER.replace("k(", "other(").replace("16", "8") + "kernel void free() {}"
    module = coopmat.compile(source, f"--code {code}")
    text = module.opencl_c.encode() if code == "c" else module.spirv
    assert set(required_sizes([(code, text, "")])) == {("k", 16), ("other", 8)}


WORK_GROUP = """
typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_WORKGROUP, 3, 1, CLK_COOPERATIVE_MATRIX_A)));
kernel __attribute__((reqd_work_group_size(32, 1, 1))) void k(global float *p) {
    M m = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 1);
    BARRIER
    coop_mat_store(p, m + m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 1);
}
"""


@pytest.mark.parametrize("code", ["c", "spirv"])
@pytest.mark.parametrize(
    ("statement", "uses"),
    [
        ("barrier(CLK_LOCAL_MEM_FENCE);", False),
        ("sub_group_barrier(CLK_LOCAL_MEM_FENCE);", True),
        ("p[4] = get_sub_group_local_id();", True),
        ("p[4] = sub_group_reduce_add(p[5]);", True),
    ],
)
def test_matrices_of_work_groups_need_no_subgroups(statement: str, uses: bool, code: str) -> None:
    source = WORK_GROUP.replace("BARRIER", statement)
    module = coopmat.compile(source, f"-w --matrices lanes --sub-group-size 16 --code {code}")
    text = module.opencl_c.encode() if code == "c" else module.spirv
    assert required_sizes([(code, text, "")]) == ((("k", 16),) if uses else ())
