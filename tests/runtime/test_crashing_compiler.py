"""A module over which Intel's CPU compiler ends its process: every way to build it ends with an error, and the process
lives. `tests/layer/test_crashes.py` has the cases that need no such compiler."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import coopmat
from coopmat.cache import CACHE_DIRECTORY, NO_CACHE
from coopmat.cli.status import findings
from coopmat.devices import DeviceInfo, may_crash, opencl
from coopmat.runtime import driver, guarded, run_file
from coopmat.spirv.tools import assemble

# `z[i] = fabs(x[2 * i])` in a loop. Without NoSignedWrap at the multiplication, or without NoAlias, it is built.
ASSEMBLY = """
OpCapability Kernel
OpCapability Addresses
OpCapability Int64
%std = OpExtInstImport "OpenCL.std"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %f "f"
OpDecorate %x FuncParamAttr NoAlias
OpDecorate %z FuncParamAttr NoAlias
OpDecorate %twice NoSignedWrap
OpDecorate %next NoSignedWrap
%float = OpTypeFloat 32
%pointer = OpTypePointer CrossWorkgroup %float
%uint = OpTypeInt 32 0
%void = OpTypeVoid
%type = OpTypeFunction %void %pointer %pointer %uint
%ulong = OpTypeInt 64 0
%bool = OpTypeBool
%zero = OpConstantNull %uint
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%f = OpFunction %void None %type
%x = OpFunctionParameter %pointer
%z = OpFunctionParameter %pointer
%n = OpFunctionParameter %uint
%entry = OpLabel
OpBranch %head
%head = OpLabel
%i = OpPhi %uint %zero %entry %next %body
%more = OpSLessThan %bool %i %n
OpBranchConditional %more %body %end
%end = OpLabel
OpReturn
%body = OpLabel
%twice = OpIMul %uint %two %i
%from = OpSConvert %ulong %twice
%source = OpInBoundsPtrAccessChain %pointer %x %from
%value = OpLoad %float %source Aligned 4
%result = OpExtInst %float %std fabs %value
%to = OpSConvert %ulong %i
%target = OpInBoundsPtrAccessChain %pointer %z %to
OpStore %target %result Aligned 4
%next = OpIAdd %uint %i %one
OpBranch %head
OpFunctionEnd
"""
SOURCE = """// run: kernel=f global=(1) x=f32[8]:zeros z=f32[4]:zeros n=4
kernel void f(global const float *restrict x, global float *restrict z, int n) {
    for (int i = 0; i < n; i++) z[i] = fabs(x[2 * i]);
}
"""
_ALONE = """
import sys
from coopmat.devices import opencl, select
cl = opencl()
cl.Program(cl.Context([select(sys.argv[1]).handle]), open(sys.argv[2], "rb").read()).build()
"""


@pytest.fixture(scope="session")
def crash(device: DeviceInfo, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The module, which does end a process that builds it."""
    if not may_crash(device):
        pytest.skip("the device's compiler is not known to crash")
    path = tmp_path_factory.mktemp("crash") / "crash.spv"
    path.write_bytes(code := assemble(ASSEMBLY, "spv1.4"))
    done = subprocess.run([sys.executable, "-c", _ALONE, device.platform, str(path)], capture_output=True, check=False)
    if done.returncode == 0:
        pytest.skip("this version of the device's compiler builds the module")
    return code


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Begin as another process would. Returns how to do so again."""
    monkeypatch.setenv(CACHE_DIRECTORY, str(tmp_path / "cache"))
    monkeypatch.delenv(NO_CACHE, raising=False)

    def begin() -> None:
        monkeypatch.setattr(guarded, "_servers", {})
        monkeypatch.setattr(guarded, "_known", {})

    begin()
    return begin


@pytest.fixture
def compiled_to(crash: bytes, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The module is what every source is compiled to."""
    monkeypatch.setattr(coopmat.Module, "spirv", property(lambda module: crash))
    return crash


@pytest.mark.parametrize("way", ["program", "hook"])
def test_a_crash_is_a_build_error(
    device: DeviceInfo, compiled_to: bytes, way: str, fresh: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next process knows of it, and has nothing built."""
    cl = opencl()
    context = cl.Context([device.handle])
    kind = cl.Program if way == "hook" else coopmat.Program
    for _ in range(2):
        with coopmat.hook(everything=True), pytest.raises(coopmat.BuildError) as caught:
            kind(context, SOURCE).build("-DX=1")
        error: Any = caught.value
        assert "the device's compiler crashed with signal" in error.log and "-DX=1" in error.options
        assert Path(error.source_path).read_bytes() == compiled_to and error.device_failure is None
        assert isinstance(error, cl.RuntimeError) and error.code == cl.status_code.BUILD_PROGRAM_FAILURE
        fresh()
        monkeypatch.setattr(guarded._Server, "build", lambda *_: pytest.fail("another process"))


@pytest.mark.usefixtures("compiled_to")
def test_a_run_survives_a_crash(device: DeviceInfo, tmp_path: Path, fresh: Callable[[], None]) -> None:
    path = tmp_path / "f.cl"
    path.write_text(SOURCE)
    for is_known in (False, True):
        with pytest.raises(coopmat.BuildError, match="crashed with signal") as caught:
            run_file(path, device)
        assert [item.code for item in findings(caught.value)[0]] == ["device-build"]
        assert bool(guarded._servers) != is_known
        fresh()


@pytest.mark.parametrize("name", ["spirv_composite", "spirv_func"])
def test_a_crash_in_code_generation_is_avoided(device: DeviceInfo, name: str) -> None:
    """Intel's compiler crashes on these variants for processors with AVX-512, unless it leaves out an optimization."""
    if not may_crash(device):
        pytest.skip("the device's compiler is not known to crash")
    variant = ["--variant", "5x7.B.s16.sg16", "--route", "dpas:emulated@pvc", "--device", device.index]
    done = subprocess.run([sys.executable, "-m", "coopmat", "cts", name, *variant], capture_output=True, check=False)
    assert done.returncode == 0 and b"1 passed" in done.stdout, done.stdout.decode()


def test_a_program_runs_from_the_binary(device: DeviceInfo, tmp_path: Path, fresh: Callable[[], None]) -> None:
    """The device gives the same binary, in a sub-device's context, too; after that, the program is built here."""
    if not may_crash(device):
        pytest.skip("the device's compiler is not known to crash")
    module = coopmat.compile(SOURCE.replace("fabs(x[2 * i])", "x[i] + 1"), ["--matrices", "one"])
    cl = opencl()
    handles = [device.handle]
    if device.compute_units > 1:
        handles += device.handle.create_sub_devices([cl.device_partition_property.EQUALLY, 1])[:1]
    binaries = set()
    for handle in handles:
        guarded._known.clear()
        context = cl.Context([handle])
        program = driver.build(context, module, coopmat.devices.query.describe(handle))
        binaries.update(program.get_info(cl.program_info.BINARIES))
        assert cl.Kernel(program, "f").num_args == 3
    context = cl.Context([device.handle])
    binaries.update(driver.build(context, module, device, contained=True).get_info(cl.program_info.BINARIES))
    assert len(binaries) == 1


def test_who_is_contained_needs_no_other_process(device: DeviceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "first_build", lambda *_, **__: pytest.fail("another process"))
    module = coopmat.compile(SOURCE.replace("fabs(x[2 * i])", "x[i]"), ["--matrices", "one"])
    driver.build(opencl().Context([device.handle]), module, device, contained=True)
