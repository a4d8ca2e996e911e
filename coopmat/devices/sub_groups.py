"""The subgroup sizes of a device that does not state them: a kernel is built on it and asked.

Only cl_intel_required_subgroup_size has a query for the sizes, and a kernel that asks for one of them gets it.
Elsewhere each kernel runs in the size that its compiler chose, which is known once the kernel is built
(`coopmat.runtime.fitting`). The size of one kernel is taken as the device's habit: others are compiled for it first.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

from coopmat.matrices.strategies import DEFAULT_SUB_GROUP_SIZE

from . import probe
from .environment import opencl, quietly
from .query import REQUIRED_SUB_GROUP_SIZE, DeviceInfo
from .raw import raw_device_info

logger = logging.getLogger("coopmat.devices")

_FUNCTION = "coopmat.devices.sub_groups:measure"
_SOURCE = b"kernel void probe(global uint *out) { out[get_global_id(0)] = 1; }"
# Local sizes that the kernel is asked about.
_LOCAL_SIZES = (64, 128, 256)
# Vendors' numbers of work-items that run in step, by the extensions that have them; what no extension guards last.
_VENDORS = (
    ("cl_nv_device_attribute_query", 0x4003),  # CL_DEVICE_WARP_SIZE_NV
    ("cl_amd_device_attribute_query", 0x4043),  # CL_DEVICE_WAVEFRONT_WIDTH_AMD
    ("", 0x1067),  # CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE
)


def sub_group_sizes(device: DeviceInfo) -> tuple[int, ...]:
    """The sizes, in work-items, of the subgroups that kernels run in: those that the device tells, or else what a
    kernel was found to run in; none where there are no subgroups, or nothing is known. Ascending.

    A device that does not tell is asked in a process of its own, and its answer is kept (`probe`).
    """
    if device.sub_group_sizes or not device.sub_groups or device.handle is None:
        return device.sub_group_sizes
    try:
        answer = probe.ask(device, _FUNCTION)
    except probe.NotAsked as error:
        answer = probe.Answer(failure=str(error))
    if answer.failure:
        logger.info("the subgroups of %s could not be measured: %s", device.label, answer.failure)
    return tuple(answer.value or ())


def usual_size(device: DeviceInfo) -> int:
    """Return the size in work-items for which kernels that name none are compiled: 16 where the device has it, or where
    its sizes are unknown, else the nearest size that it has."""
    sizes = sub_group_sizes(device)
    if not sizes:
        return DEFAULT_SUB_GROUP_SIZE
    return min(sizes, key=lambda size: (abs(size - DEFAULT_SUB_GROUP_SIZE), size))


def chooses_size(device: DeviceInfo) -> bool:
    """Return whether the device, and not the kernel, decides how large subgroups are."""
    return REQUIRED_SUB_GROUP_SIZE not in device.extensions


def kernel_size(handle: Any, device: DeviceInfo, local_size: tuple[int, ...]) -> int:
    """The work-items of the largest subgroups that a pyopencl kernel runs in on a device, in work-groups of this size;
    0 where the device does not tell. Raises pyopencl's errors.

    A device whose OpenCL has no subgroups, as NVIDIA's, runs kernels in step all the same: its vendor's query tells.
    """
    if not device.sub_groups:
        return next(_vendors_sizes(device), 0)
    cl = opencl()
    query = cl.kernel_sub_group_info.MAX_SUB_GROUP_SIZE_FOR_NDRANGE
    # pyopencl's answer, whatever class the kernel is of: the driver's.
    return int(cl.Kernel.get_sub_group_info(handle, device.handle, query, list(local_size)) or 0)


def kernel_count(handle: Any, device: DeviceInfo, local_size: tuple[int, ...]) -> int:
    """The number of subgroups that a pyopencl kernel runs in on a device, in work-groups of this size. Raises
    pyopencl's errors."""
    if not device.sub_groups:
        return -(-math.prod(local_size) // max(1, kernel_size(handle, device, local_size)))
    query = opencl().kernel_sub_group_info.SUB_GROUP_COUNT_FOR_NDRANGE
    return int(handle.get_sub_group_info(device.handle, query, list(local_size)))


# --- in the process of its own ---------------------------------------------------------------------


def measure(device: DeviceInfo, _argument: str = "") -> list[int]:
    """The sizes that a small kernel runs in, whatever its work-groups' size; none where that decides, or cannot be
    asked and no vendor's query tells."""
    cl = opencl()
    context = cl.Context([device.handle])
    program = cl._cl._Program(context, _SOURCE)
    quietly(program, (), [device.handle])
    handle = cl.Kernel(program, "probe")
    most = int(handle.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, device.handle))
    try:
        return habit(lambda local: kernel_size(handle, device, (local,)), most)
    except cl.Error:
        return list(dict.fromkeys(_vendors_sizes(device)))[:1]


def habit(ask: Callable[[int], int], most: int) -> list[int]:
    """The sizes that `ask` gives for work-groups of one and of several subgroups alike; work-groups have up to `most`
    work-items."""
    sizes = {ask(local) for local in _LOCAL_SIZES if local <= most} or {ask(most)}
    return sorted(n for n in sizes if n > 0 and all(ask(k * n) == n for k in (1, 2, 4) if k * n <= most))


def _vendors_sizes(device: DeviceInfo) -> Iterator[int]:
    for extension, parameter in _VENDORS:
        if not extension or extension in device.extensions:
            size = int.from_bytes(raw_device_info(device.handle, parameter), sys.byteorder)
            if size > 1:
                yield size
