"""Executors, which run programs: coopmat on OpenCL and Vulkan devices, and the compilers of OpenCL devices."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache

from differential import Launch, Local, execute
from opencl_devices import device_of

import coopmat
from coopmat import CompileError
from coopmat.vulkan import Device, LocalMemory

from .programs import Buffer, Launchable, join

Results = list[list[Buffer | None]]
"""The buffers of each program after its launch."""
EXECUTORS = ("opencl", "one", "c", "pocl", "own", "pocl-own", "vulkan", "vulkan-lanes")
"""coopmat's SPIR-V for Intel's CPU device on the routes native and one; coopmat's OpenCL C for this device and for
PoCL; without coopmat, the compilers of Intel and of PoCL; Vulkan on the routes native and lanes."""
REFUSAL = "not supported with --target-env vulkan1.3: "
OLD = ("-cl-std=CL1.2",)


class Refused(Exception):
    """The compiler reports that the construct is not supported; the text is the reason."""


@cache
def _vulkan() -> Device:
    return Device("llvmpipe")


def open_device(executor: str) -> None:
    """Find and open the executor's device, which takes seconds in a new process."""
    if executor.startswith("vulkan"):
        _vulkan()
    else:
        device_of("pocl" if executor.startswith("pocl") else "cpu")


def run_programs(executor: str, programs: Sequence[Launchable]) -> Results:
    """Run the programs of one source, and return their buffers; raise Refused, or errors of compilers and devices."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _run_on_vulkan(executor, programs) if executor.startswith("vulkan") else _run(executor, programs)


def _run_on_vulkan(executor: str, programs: Sequence[Launchable]) -> Results:
    route = "lanes" if executor.endswith("lanes") else "native"
    try:
        built = _vulkan().program(join(programs), ["-w", "--matrices", route])
    except CompileError as error:
        reasons = [text.split(REFUSAL)[1].split(" [vulkan]")[0] for text in str(error).splitlines() if REFUSAL in text]
        if not reasons:
            raise
        raise Refused(reasons[0]) from error
    results = []
    for each in programs:
        buffers = [LocalMemory(a) if isinstance(a, int) else a.copy() for a in each.arguments]
        built.kernel(each.name)((each.items,), (each.local_size,), *buffers)
        results.append([None if isinstance(buffer, LocalMemory) else buffer for buffer in buffers])
    return results


def _run(executor: str, programs: Sequence[Launchable]) -> Results:
    device, text = device_of("pocl" if executor.startswith("pocl") else "cpu"), join(programs)
    code: bytes | str = text
    options: Sequence[str] = OLD if executor.startswith("pocl") else ()
    if executor in ("opencl", "one"):
        code = coopmat.compile(text, ["-w", "--matrices", "native" if executor == "opencl" else "one"]).spirv
    elif executor in ("c", "pocl"):
        module = coopmat.compile(text, ["-w", *options, "--matrices", "one"])
        code, options = module.opencl_c, module.opencl_c_options
    launches = [
        Launch(
            each.name,
            [Local(a) if isinstance(a, int) else a for a in each.arguments],
            (each.items,),
            (each.local_size,),
        )
        for each in programs
    ]
    found = execute(device, code, launches, options)
    return [[result.get(i) for i in range(len(each.arguments))] for each, result in zip(programs, found, strict=True)]
