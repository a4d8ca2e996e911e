"""Programs as OpenCL C on devices, held to the device's own compiler, and those with matrices to numpy."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import opencl_c_programs as programs
import pytest
from differential import Launch, difference, execute
from opencl_devices import device_of
from repeats import slow_where

import coopmat
from coopmat.compiler import Module
from coopmat.devices import DeviceInfo, opencl
from coopmat.opencl_c import logs
from coopmat.options import CompileOptions
from coopmat.runtime import resolve_options, run_file

ROOT = Path(__file__).resolve().parents[2]


def compiled(device: DeviceInfo, source: str, *options: str) -> Module:
    wanted = CompileOptions.from_arguments(["--code", "c", "--matrices", "auto", "-cl-std=CL1.2", *options])
    return coopmat.compile(source, resolve_options(wanted, device), name="program.cl")


def test_the_language_is_what_the_devices_own_compiler_has(device: DeviceInfo) -> None:
    contract = "#pragma OPENCL FP_CONTRACT OFF\n"
    module = compiled(device, contract + programs.LANGUAGE)
    launches = programs.launches()
    ours = execute(device, module.opencl_c, launches, module.opencl_c_options)
    theirs = execute(device, contract + programs.LANGUAGE, launches, ["-cl-std=CL1.2"])
    found = [
        f"{launch.kernel}, argument {number}: {text}"
        for launch, mine, other in zip(launches, ours, theirs, strict=True)
        for number in mine
        if (text := difference(mine[number], other[number]))
    ]
    assert not found, "\n".join(found)


CASES = [("one", 1), ("scratch", 8), ("lanes", 16)]


@pytest.mark.parametrize(("matrices", "size"), CASES)
def test_matrices_are_what_numpy_says(device: DeviceInfo, matrices: str, size: int) -> None:
    if matrices == "lanes" and not device.sub_groups:
        pytest.skip("the device has no subgroups")
    module = compiled(device, _sized(size), "--matrices", matrices, "--sub-group-size", str(size))
    assert module.kernels["program"].sub_group_size == size
    launches = [programs.matrix_launch(size), programs.operators_launch(size)]
    found = execute(device, module.opencl_c, [launch for launch, _ in launches], module.opencl_c_options)
    for after, (launch, expected) in zip(found, launches, strict=True):
        for number, wanted in expected.items():
            assert not difference(after[number], wanted), (launch.kernel, number)


def _sized(size: int) -> str:
    return programs.MATRICES.replace("SIZE", f"__attribute__((reqd_work_group_size({size}, 1, 1)))")


# That device's compiler takes long over each product: once for each lowering, and for each file.
_ONCE = {("saxpy.cl", "one"), ("gemm_f32.cl", "one"), ("gemm_f16.cl", "scratch")}
_FILES = product(("saxpy.cl", "gemm_f32.cl", "gemm_f16.cl"), ("one", "scratch"))


@pytest.mark.parametrize(
    ("file", "matrices"), slow_where(lambda *pair: "gemm" in pair[0] and pair not in _ONCE, _FILES)
)
def test_kernel_files_run_where_no_spirv_is_taken(file: str, matrices: str) -> None:
    results = run_file(ROOT / "kernels" / file, device_of("pocl"), matrices=matrices)
    assert results and all(result.ok and result.module.code == "c" for result in results)


HALVES = """
#define ACCUMULATOR CLK_COOPERATIVE_MATRIX_ACCUMULATOR
#define C(T) T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 8, ACCUMULATOR)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
kernel void halves(global float *f, global double *d, global int *i, global half *h, global float *back)
{
    C(half) a = (C(half))(C(float))coop_mat_load(f, ROW, 8), b = (C(half))(C(double))coop_mat_load(d, ROW, 8);
    C(half) c = (C(half))(C(int))coop_mat_load(i, ROW, 8);
    coop_mat_store(h, a, ROW, 8);
    coop_mat_store(h + 32, b, ROW, 8);
    coop_mat_store(h + 64, c, ROW, 8);
    coop_mat_store(h + 96, a * b - c, ROW, 8);
    coop_mat_store(back, (C(float))-a, ROW, 8);
}
"""


@pytest.mark.parametrize("extra", ["pocl", "oclgrind"])
def test_matrices_of_half_without_the_extension(extra: str) -> None:
    device = device_of(extra)
    assert not device.fp16
    d = np.random.default_rng(8).standard_normal((4, 8)) * np.exp2(np.arange(-24, 8))[:32].reshape(4, 8)
    d[0, :4] = [1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 65519.99, 1e9]
    i = np.random.default_rng(9).integers(-70000, 70000, (4, 8), np.int32)
    i[0, :3] = [2049, 2051, -(2**31)]
    f = d.astype(np.float32)
    with np.errstate(all="ignore"):
        a, b, c = (x.astype(np.float16) for x in (f, d, i))
        expected = np.array([a, b, c, (a * b).astype(np.float16) - c])
    module = compiled(device, HALVES)
    launch = Launch("halves", [f, d, i, np.zeros((4, 4, 8), np.float16), np.zeros((4, 8), np.float32)])
    (found,) = execute(device, module.opencl_c, [launch], module.opencl_c_options)
    assert not difference(found[3], expected)
    assert not difference(found[4], -a.astype(np.float32))


@pytest.mark.parametrize(("matrices", "size"), CASES[:2])
def test_oclgrind_finds_no_race_and_nothing_uninitialised(matrices: str, size: int, tmp_path: Path) -> None:
    device = device_of("oclgrind")
    module = compiled(device, _sized(size), "--matrices", matrices, "--sub-group-size", str(size))
    job = tmp_path / "job"
    job.write_bytes(pickle.dumps((module.opencl_c, module.opencl_c_options, size)))
    environment = os.environ | {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_UNINITIALIZED": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("simulated.py")), str(job)],
        capture_output=True, text=True, cwd=ROOT, env=environment, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 0 and "right" in ran.stdout, ran.stderr
    assert "Oclgrind" not in ran.stderr and "Invalid" not in ran.stderr and "race" not in ran.stderr, ran.stderr


@pytest.mark.parametrize("extra", ["cpu", "pocl", "oclgrind"])
def test_what_a_driver_says_is_told_of_the_users_source(extra: str) -> None:
    device = device_of(extra)
    source = "kernel void k(global int *o)\n{\n    o[0] = 1;\n    o[1] = 2;\n}\n"
    module = compiled(device, source)
    text = module.opencl_c.replace("o[1] = 2", "o[1] = missing")
    with pytest.raises(Exception, match="BUILD_PROGRAM_FAILURE") as caught:
        execute_once(device, text, module.opencl_c_options)
    found = logs.diagnostics(str(caught.value), module.sources, text)
    assert [(str(item.span), "undeclared" in item.message) for item in found if item.severity.is_error] == [
        ("program.cl:4:5", True)
    ]


def execute_once(device: DeviceInfo, text: str, options: tuple[str, ...]) -> None:
    cl = opencl()
    program = cl._cl._Program(cl.Context([device.handle]), text.encode())
    program.build(" ".join(options).encode(), [device.handle])


def test_the_same_buffers_come_out_of_spirv() -> None:
    device = device_of("cpu")
    launch, expected = programs.matrix_launch(1)
    module = coopmat.compile(_sized(1), ["--matrices", "one", "--no-validate"], name="program.cl")
    (found,) = execute(device, module.spirv, [launch])
    assert all(np.array_equal(found[number], wanted) for number, wanted in expected.items())
