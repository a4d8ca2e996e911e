"""The health check of a device: an empty kernel, built and run in a separate process.

A driver may list a device for which its compiler cannot generate code, such as a processor newer than the compiler.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from coopmat.spirv.module import ENUM, Module, encode_string, instruction, numbers

from . import probe
from .environment import opencl, quietly
from .query import DeviceInfo

CANNOT_BUILD = "cannot build an empty kernel"
logger = logging.getLogger("coopmat.devices")

_NAME = "empty"
_SOURCE = b"kernel void empty(void) {}\n"
# The ids of the empty module, and their bound.
_VOID, _FUNCTION_TYPE, _KERNEL, _LABEL, _BOUND = 1, 2, 3, 4, 5


def build_failure(device: DeviceInfo, *, anew: bool = False) -> str | None:
    """Return why an empty kernel fails on the device; None if the kernel works, or if the outcome is unknown.

    The text is the build log, or a description of how the process ended. The answer is cached (`probe`). `anew` repeats
    the check in any case.
    """
    if not device.health_check:
        return None
    try:
        answer = probe.ask(device, device.health_check, anew=anew)
    except probe.NotAsked as error:
        logger.warning("%s could not be tried: %s", device.label, error)
        return None
    return answer.failure or answer.value or None


def build_failures(devices: Iterable[DeviceInfo], *, anew: bool = False) -> list[str | None]:
    """Return `build_failure` of each device in order, from parallel checks."""
    all_devices = list(devices)
    with ThreadPoolExecutor(max_workers=max(len(all_devices), 1)) as pool:
        return list(pool.map(lambda device: build_failure(device, anew=anew), all_devices))


# --- in the separate process -----------------------------------------------------------------------


def try_empty_kernel(device: DeviceInfo, _argument: str) -> str:
    """Build and run an empty kernel on the device, and return the error; an empty string if there is none."""
    cl = opencl()
    context = cl.Context([device.handle])
    code = empty_module(device.handle.address_bits) if device.takes_spirv else _SOURCE
    make = cl._cl._create_program_with_il if device.takes_spirv else cl._cl._Program
    program = make(context, code.decode() if make is cl._cl._Program else code)
    try:
        quietly(program, (), [device.handle])
    except cl.Error as error:
        return _log(program, device.handle) or str(error)
    try:
        queue = cl.CommandQueue(context)
        cl.enqueue_nd_range_kernel(queue, cl.Kernel(program, _NAME), (1,), (1,))
        queue.finish()
    except cl.Error as error:
        return f"the kernel is built, but its launch fails: {error}"
    return ""


def _log(program: Any, handle: Any) -> str:
    """Return the build log of a program; empty if the driver rejects the query."""
    cl = opencl()
    try:
        return str(program.get_build_info(handle, cl.program_build_info.LOG)).strip("\0 \n")
    except cl.Error:
        return ""


def empty_module(address_bits: int) -> bytes:
    """Return a SPIR-V 1.0 module with the kernel `empty`, which does nothing.

    `address_bits` is 32 or 64.
    """
    code = [
        *(instruction("OpCapability", number) for number in numbers("Capability.*", "Addresses Kernel")),
        instruction("OpMemoryModel", ENUM[f"AddressingModel.Physical{address_bits}"], ENUM["MemoryModel.OpenCL"]),
        instruction("OpEntryPoint", ENUM["ExecutionModel.Kernel"], _KERNEL, *encode_string(_NAME)),
        instruction("OpTypeVoid", _VOID),
        instruction("OpTypeFunction", _FUNCTION_TYPE, _VOID),
        instruction("OpFunction", _VOID, _KERNEL, ENUM["FunctionControl.None"], _FUNCTION_TYPE),
        instruction("OpLabel", _LABEL),
        instruction("OpReturn"),
        instruction("OpFunctionEnd"),
    ]
    return Module(0x00010000, _BOUND, code).to_bytes()
