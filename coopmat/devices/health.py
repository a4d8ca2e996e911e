"""The check that a device builds anything at all: an empty kernel, built and run in a process of its own.

A driver may list a device that its compiler knows no code for, such as a processor newer than the compiler.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import probe
from .environment import opencl, quietly
from .query import DeviceInfo

CANNOT_BUILD = "cannot build an empty kernel"
logger = logging.getLogger("coopmat.devices")

_FUNCTION = "coopmat.devices.health:try_empty_kernel"
_NAME = "empty"
_SOURCE = b"kernel void empty(void) {}\n"
_SPIRV_MAGIC = 0x07230203
# Instructions are lists of words, the first of them the opcode, as in SPIR-V's specification; identifiers are 1 to 4.
_VOID, _FUNCTION_TYPE, _KERNEL, _LABEL, _BOUND = 1, 2, 3, 4, 5


def build_failure(device: DeviceInfo, *, anew: bool = False) -> str | None:
    """Return the error of an empty kernel on the device: its log, or how the process ended. Return None where it
    builds, and where that is unknown. The answer is stored (`probe`); `anew` asks all the same."""
    if device.handle is None:
        return None  # known from a file only
    try:
        answer = probe.ask(device, _FUNCTION, anew=anew)
    except probe.NotAsked as error:
        logger.warning("%s could not be tried: %s", device.label, error)
        return None
    return answer.failure or answer.value or None


def build_failures(devices: Iterable[DeviceInfo], *, anew: bool = False) -> list[str | None]:
    """`build_failure` of each, all at the same time."""
    all_devices = list(devices)
    with ThreadPoolExecutor(max_workers=max(len(all_devices), 1)) as pool:
        return list(pool.map(lambda device: build_failure(device, anew=anew), all_devices))


# --- in the process of its own ---------------------------------------------------------------------


def try_empty_kernel(device: DeviceInfo, _argument: str) -> str:
    """Return the error of an empty kernel on the device; an empty string where there is none."""
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
        return f"it is built, but does not run: {error}"
    return ""


def _log(program: Any, handle: Any) -> str:
    cl = opencl()
    try:
        return str(program.get_build_info(handle, cl.program_build_info.LOG)).strip("\0 \n")
    except cl.Error:
        return ""


def empty_module(address_bits: int) -> bytes:
    """SPIR-V 1.0 of the kernel `empty`, which does nothing; `address_bits` is 32 or 64."""
    addresses, kernel, physical, opencl_memory, kernel_model = 4, 6, 2 if address_bits == 64 else 1, 2, 6
    name = struct.unpack("<2I", _NAME.encode().ljust(8, b"\0"))
    instructions: list[tuple[int, ...]] = [
        (17, addresses),  # OpCapability
        (17, kernel),
        (14, physical, opencl_memory),  # OpMemoryModel
        (15, kernel_model, _KERNEL, *name),  # OpEntryPoint
        (19, _VOID),  # OpTypeVoid
        (33, _FUNCTION_TYPE, _VOID),  # OpTypeFunction
        (54, _VOID, _KERNEL, 0, _FUNCTION_TYPE),  # OpFunction
        (248, _LABEL),  # OpLabel
        (253,),  # OpReturn
        (56,),  # OpFunctionEnd
    ]
    words = [_SPIRV_MAGIC, 0x10000, 0, _BOUND, 0]
    for opcode, *operands in instructions:
        words += [(len(operands) + 1) << 16 | opcode, *operands]
    return struct.pack(f"<{len(words)}I", *words)
