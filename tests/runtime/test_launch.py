"""Launches on a real device, from LLVM IR that knows nothing of the front end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opencl_devices import spirv_device

from coopmat.devices import from_key_values, unit_for
from coopmat.diagnostics import CompileError, SourceMap
from coopmat.ir.kernel_info import KernelInfo, KernelParameter
from coopmat.options import CompileOptions
from coopmat.runtime import BuildError, Program, launch, parse_header, resolve_options
from coopmat.runtime.launch_rules import LaunchRules
from coopmat.spirv.emit import EmitOptions, emit

SAXPY = """
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:64-G1"
target triple = "spirv64v1.2-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)
define spir_kernel void @saxpy(ptr addrspace(1) %y, ptr addrspace(1) %x, float %alpha, ptr addrspace(3) %scratch) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %px = getelementptr float, ptr addrspace(1) %x, i64 %i
  %py = getelementptr float, ptr addrspace(1) %y, i64 %i
  %vx = load float, ptr addrspace(1) %px, align 4
  %vy = load float, ptr addrspace(1) %py, align 4
  %m = fmul float %vx, %alpha
  %s = fadd float %m, %vy
  store float %s, ptr addrspace(1) %py, align 4
  ret void
}
"""
POINTER = KernelParameter("y", "float *", "global", "float", True, 8)
INFO = KernelInfo(
    "saxpy",
    (
        POINTER,
        replace(POINTER, name="x"),
        KernelParameter("alpha", "float", "private", "float", False, 4),
        KernelParameter("scratch", "float *", "local", "float", True, 8),
    ),
    None,
    None,
    False,
)
HEADER = """\
// run: kernel=saxpy global=N local=16 N=64 y=f32[N]:range x=f32[N]:uniform(-1,1) alpha=f32:0.5 scratch=f32[16]
// check: y ~ y + alpha * x  atol=1e-6
"""


@dataclass
class FakeModule:
    """What a launch asks of a compiled module."""

    spirv: bytes
    kernels: dict[str, KernelInfo]
    matrices: str = "one"
    code: str = "spirv"
    options: CompileOptions = field(default_factory=CompileOptions)
    device_options: tuple[str, ...] = ()
    diagnostics: list[Any] = field(default_factory=list)
    sources: SourceMap = field(default_factory=SourceMap)

    def advise(self, kernel: str, arguments: dict[str, int]) -> None:
        """The module has no matrices to give advice about."""


@pytest.fixture(scope="module")
def device():
    return spirv_device()


@pytest.fixture(scope="module")
def spirv():
    return emit(SAXPY, EmitOptions("1.2")).spirv


@pytest.fixture(scope="module")
def program(device, spirv):
    return Program(FakeModule(spirv, {"saxpy": INFO}), device)


def run(program, header=HEADER, **options):
    return launch(program, parse_header(header, "saxpy.cl")[0], **options)


def with_info(program, **changes):
    """The same built program, described otherwise."""
    other = object.__new__(Program)
    other.__dict__.update(program.__dict__)
    other.module = FakeModule(program.module.spirv, {"saxpy": replace(INFO, **changes)})
    return other


def test_a_launch_computes_and_is_checked(program):
    result = run(program)
    assert result.ok and result.kernel == "saxpy"
    assert (result.global_size, result.local_size) == ((64,), (16,))
    assert np.ptp(result.after["y"]) > 50
    (time,) = result.times
    assert 0 < time < 10


def test_a_wrong_result_is_found(program):
    result = run(program, HEADER.replace("alpha * x", "2 * alpha * x"))
    assert not result.ok
    assert result.checks[0].wrong > 32 and 0.1 < result.max_error < 0.5


def test_repetitions_are_timed_and_do_not_disturb_the_check(program):
    result = run(program, repeat=4)
    assert result.ok and len(result.times) == 4
    assert min(result.times) <= result.median_time <= max(result.times)


def test_arrays_from_outside_replace_the_headers(program):
    y = np.full(64, 7, np.float32)
    result = run(program, HEADER.replace("y + alpha * x  atol=1e-6", "7 + alpha * x atol=1e-6"), arrays={"y": y})
    assert result.ok
    assert (y == 7).all()


def test_the_sub_group_size_is_the_devices_unless_the_kernel_was_compiled_for_one(program):
    header = "// run: global=sg y=f32[sg]:zeros x=f32[sg]:ones alpha=f32:1 scratch=f32[1]\n// check: y == 1\n"
    asked = run(program, header)
    assert asked.ok and asked.sub_group_size in program.device.sub_group_sizes
    fixed = run(with_info(program, sub_group_size=1, uses_matrices=True), header)
    assert fixed.ok and fixed.global_size == (1,)


def test_partial_sub_groups_are_refused_with_the_sizes(program):
    size = run(program).sub_group_size
    matrices = with_info(program, sub_group_size=size, uses_matrices=True)
    kernel = matrices.kernel()
    assert kernel.local_size_for((4 * size,), (2 * size,)) == (2 * size,)
    assert kernel.local_size_for((4 * size, 3), None) == (size, 1)
    for global_size, local_size, told in (
        ((4 * size,), (size // 2,), f"({size // 2},)"),
        ((size, 2), (size // 2, 2), f"out of {size}"),
        ((size + 1,), (size,), f"({size + 1},)"),
        ((size,), (size, 1), "differ in dimensions"),
    ):
        with pytest.raises(CompileError) as caught:
            kernel.local_size_for(global_size, local_size)
        assert told in str(caught.value)


def test_a_device_with_another_sub_group_size_is_refused(program):
    size = run(program).sub_group_size
    with pytest.raises(CompileError, match=f"in subgroups of {size}"):
        with_info(program, sub_group_size=2 * size, uses_matrices=True).kernel().local_size_for((64,), (64,))


def test_a_required_local_size_is_used_or_contradicted(program):
    fixed = with_info(program, reqd_work_group_size=(8, 1, 1))
    assert run(fixed, HEADER.replace("local=16 ", "")).local_size == (8,)
    with pytest.raises(CompileError, match=r"\(16,\).*requires \(8,\)"):
        run(fixed)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kernel=saxpy", "kernel=nosuch", "no kernel 'nosuch'; the kernels are: saxpy"),
        ("global=N ", "", "no global="),
        ("local=16", "local=(4,4)", "dimensions"),
        ("local=16", "local=2**20", "local size (1048576,)"),
        (" alpha=f32:0.5", "", "needs an argument 'alpha' (float)"),
        ("alpha=f32:0.5", "alpha=f64:0.5", "it needs f32, not float64"),
        ("alpha=f32:0.5", "alpha=f32[2]:ones", "has 4 bytes, and its value has 8"),
        ("x=f32[N]", "x=f16[N]", "it needs f32, not float16"),
        ("x=f32[N]:uniform(-1,1)", "x=f32:1", "give an array"),
        ("x=f32[N]:uniform(-1,1)", "x=f32[N]", "needs a fill"),
        ("scratch=f32[16]", "scratch=f32[16]:zeros", "give its size only"),
        ("scratch=f32[16]", "scratch=f32[16] extra=f32:1", "no parameter 'extra'"),
        ("N=64", "N=64 M=N/3", "not a whole number"),
    ],
)
def test_what_does_not_fit_the_kernel_is_an_error(program, old, new, message):
    assert old in HEADER
    with pytest.raises(CompileError) as caught:
        run(program, HEADER.replace(old, new))
    assert message in str(caught.value)


def test_a_module_that_the_device_refuses_is_kept(device, spirv):
    with pytest.raises(BuildError) as caught:
        Program(FakeModule(spirv[:40], {}), device)
    error = caught.value
    assert error.device == device.label and error.log
    assert Path(error.source_path).read_bytes() == spirv[:40]


def test_a_device_without_spirv_is_refused(device):
    with pytest.raises(CompileError, match="takes no SPIR-V"):
        Program(FakeModule(b"", {}), replace(device, spirv_versions=()))


def test_options_are_resolved_for_the_device(device):
    old = replace(device, spirv_versions=("1.0", "1.2"), vector_bits=0)
    expected = CompileOptions(matrices="one", spirv_version="1.2", unit=unit_for(old))
    assert resolve_options(CompileOptions(matrices="auto"), old) == expected
    wide = replace(old, vector_bits=512)
    assert resolve_options(CompileOptions(matrices="auto"), wide).matrix_registers == (512, 32)
    asked = CompileOptions(matrices="auto", matrix_registers=(128, 16))
    assert resolve_options(asked, wide).matrix_registers == (128, 16)
    assert resolve_options(CompileOptions(matrices="lanes", spirv_version="1.2"), device).matrices == "lanes"
    with pytest.raises(CompileError, match=r"up to 1\.2, not 1\.6"):
        resolve_options(CompileOptions(spirv_version="1.6"), old)
    with pytest.raises(CompileError, match="takes no SPIR-V"):
        resolve_options(CompileOptions(code="spirv"), replace(device, spirv_versions=()))


def test_options_for_a_device_with_its_own_compiler_only(device):
    plain = replace(device, spirv_versions=(), opencl_c="CL1.2", extensions=frozenset({"cl_khr_fp64"}))
    options = resolve_options(CompileOptions(matrices="auto", extensions={"cl_khr_subgroups": False}), plain)
    assert (options.code, options.matrices, options.cl_std) == ("c", "one", "CL1.2")
    assert options.extensions == {"cl_khr_fp16": False, "cl_khr_kernel_clock": False, "cl_khr_subgroups": False}
    with pytest.raises(CompileError, match="OpenCL C has no native matrices"):
        resolve_options(CompileOptions(), plain)
    own = resolve_options(CompileOptions(matrices="lanes", code="c"), replace(device, opencl_c="CL3.0"))
    assert (own.code, own.matrices, own.cl_std) == ("c", "lanes", "CL3.0")


@pytest.mark.parametrize("handle", [("image2d_t", "read_only"), ("sampler_t", "none")])
def test_images_and_samplers_are_refused_with_their_name(program, handle):
    type_name, access = handle
    parameter = KernelParameter("picture", type_name, "global", None, False, 8, access)
    with pytest.raises(CompileError, match=f"'picture' is {type_name}: images and samplers .* not supported yet"):
        run(with_info(program, parameters=(parameter, *INFO.parameters)))


def test_subgroups_of_one_have_as_much_room_as_was_made_for_native_ones(device) -> None:
    """IR that stages tiles for native matrices has local memory for so many subgroups, whatever they become."""
    info = replace(INFO, sub_group_size=1, uses_matrices=True, max_work_items=16)
    rules = LaunchRules(info, device, None)
    assert rules.local_size_for((64, 2), None) == (1, 1)
    assert rules.local_size_for((64,), (16,)) == (16,)
    with pytest.raises(CompileError, match="has more than the 16 work-items"):
        rules.local_size_for((64,), (32,))


@pytest.mark.parametrize(
    ("platform", "name", "unit"),
    [
        ("NVIDIA CUDA", "NVIDIA H200", "mma"),
        ("AMD Accelerated Parallel Processing", "gfx1100", "wmma"),
        ("AMD Accelerated Parallel Processing", "gfx942", "mfma"),
    ],
)
def test_auto_takes_the_matrix_unit_of_devices_that_take_opencl_c_only(platform, name, unit, monkeypatch):
    monkeypatch.delenv("COOPMAT_ROUTE", raising=False)
    text = f'CL_DEVICE_TYPE="GPU"\nCL_PLATFORM_NAME="{platform}"\nCL_DEVICE_NAME="{name}"'
    gpu = replace(from_key_values(text, "gpu.txt"), spirv_versions=())
    options = resolve_options(CompileOptions(matrices="auto"), gpu)
    assert (options.unit, options.code) == (unit, "c")
    monkeypatch.setenv("COOPMAT_ROUTE", "scratch")
    options = resolve_options(CompileOptions(matrices="auto"), gpu)
    assert (options.matrices, options.unit, options.code) == ("scratch", "", "c")
