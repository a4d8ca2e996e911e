"""cl_khr_kernel_clock: the clock as kernels read it, and devices without one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from differential import Launch, execute

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.options import CompileOptions
from coopmat.runtime.launch import resolve_options

# The builtins by SPIR-V's number of their scope.
SCOPES = {
    1: ("clock_read_device", "clock_read_hilo_device"),
    2: ("clock_read_work_group", "clock_read_hilo_work_group"),
    3: ("clock_read_sub_group", "clock_read_hilo_sub_group"),
}
_READ = """
kernel void read(global ulong *p, global uint2 *q) {
    p[0] = WHOLE();
    for (volatile int i = 0; i < 10000; ++i) p[2] += i;
    q[0] = HALVES();
    p[1] = WHOLE();
}
"""


def reading(scope: int = 1) -> str:
    whole, halves = SCOPES[scope]
    return _READ.replace("WHOLE", whole).replace("HALVES", halves)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("route", ["native", "one", "lanes", "scratch"])
def test_the_instruction(scope: int, route: str) -> None:
    text = coopmat.compile(reading(scope), ["--matrices", route]).spirv_text
    assert "OpCapability ShaderClockKHR" in text and 'OpExtension "SPV_KHR_shader_clock"' in text
    assert text.count(f"OpReadClockKHR %ulong %uint_{scope}") == 2
    assert text.count(f"OpReadClockKHR %v2uint %uint_{scope}") == 1


def test_macros_and_what_turns_it_off() -> None:
    asked = """
#if defined cl_khr_kernel_clock && defined __opencl_c_kernel_clock_scope_device \\
    && defined __opencl_c_kernel_clock_scope_work_group && defined __opencl_c_kernel_clock_scope_sub_group
ulong f(void) { return clock_read_device(); }
#else
#error off
#endif
"""
    assert coopmat.compile(asked).spirv
    for option in ("-cl-ext=-cl_khr_kernel_clock", "-cl-ext=-__opencl_c_kernel_clock_scope_device"):
        with pytest.raises(coopmat.CompileError, match="off"):
            coopmat.compile(asked, [option])
        with pytest.raises(coopmat.CompileError, match=r"'clock_read_device' needs .*kernel_clock") as caught:
            coopmat.compile("ulong f(void) { return clock_read_device(); }", [option])
        assert caught.value.diagnostics[0].code == "extension-off"


def test_the_text_of_opencl_c_asks_for_it() -> None:
    text = coopmat.compile(reading()).opencl_c
    assert "#pragma OPENCL EXTENSION cl_khr_kernel_clock : enable" in text and text.count("clock_read_device()") == 2


def test_a_device_without_it(device: DeviceInfo) -> None:
    lacking = replace(device, extensions=device.extensions - {"cl_khr_kernel_clock"})
    for code in ("spirv", "c"):
        options = resolve_options(CompileOptions(matrices="one", code=code), lacking)
        with pytest.raises(coopmat.CompileError, match="needs cl_khr_kernel_clock"):
            coopmat.compile(reading(), options)
        assert coopmat.compile("#ifdef cl_khr_kernel_clock\n#error on\n#endif\nkernel void k(void) {}", options).spirv
    having = replace(device, extensions=device.extensions | {"cl_khr_kernel_clock"})
    assert coopmat.compile(reading(), resolve_options(CompileOptions(), having)).kernels


def test_the_clock_goes_on(device: DeviceInfo) -> None:
    if "cl_khr_kernel_clock" not in device.extensions:
        pytest.skip(f"{device.label} has no cl_khr_kernel_clock")
    for scope in SCOPES:
        spirv = coopmat.compile(reading(scope), ["--matrices", "one"]).spirv
        found = execute(device, spirv, [Launch("read", [np.zeros(3, np.uint64), np.zeros(2, np.uint32)])])[0]
        first, last, _ = found[0].tolist()
        low, high = found[1].tolist()
        assert first < last and first < (high << 32 | low) < last
