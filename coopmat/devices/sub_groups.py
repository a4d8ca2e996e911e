"""Subgroup sizes of a device that does not report them, measured with a kernel that is built on the device.

Only cl_intel_required_subgroup_size has a query for the sizes, and lets a kernel require a size. On other devices the
compiler chooses the size for each kernel, and the size is known once the kernel is built (`coopmat.runtime.fitting`).
The size of one kernel is taken as the device's usual size, for which other kernels are first compiled.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

from coopmat.matrices.routes import DEFAULT_SUB_GROUP_SIZE

from . import probe
from .environment import opencl, quietly
from .query import REQUIRED_SUB_GROUP_SIZE, DeviceInfo
from .raw import raw_device_info

logger = logging.getLogger("coopmat.devices")

_FUNCTION = "coopmat.devices.sub_groups:measure"
_SOURCE = b"kernel void probe(global uint *out) { out[get_global_id(0)] = 1; }"
# Local sizes, in work-items, for which the kernel's subgroup size is queried.
_LOCAL_SIZES = (64, 128, 256)
# (extension, query) of vendors for the number of work-items that execute in lockstep; the last needs no extension.
_VENDORS = (
    ("cl_nv_device_attribute_query", 0x4003),  # CL_DEVICE_WARP_SIZE_NV
    ("cl_amd_device_attribute_query", 0x4043),  # CL_DEVICE_WAVEFRONT_WIDTH_AMD
    ("", 0x1067),  # CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE
)


def sub_group_sizes(device: DeviceInfo) -> tuple[int, ...]:
    """Return the subgroup sizes in which kernels run on the device, in work-items.

    If the device does not report its sizes, a kernel is measured in a separate process, and the answer is cached
    (`probe`). Measured sizes are ascending. If the device has no subgroups, or its sizes are unknown, the result is
    empty.
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
    """Return the subgroup size, in work-items, for which kernels without a required size are compiled.

    If the device has subgroups of 16 work-items, or its sizes are unknown, return 16. Otherwise, return the nearest
    size that the device has, and the smaller size of two.
    """
    sizes = sub_group_sizes(device)
    if not sizes:
        return DEFAULT_SUB_GROUP_SIZE
    return min(sizes, key=lambda size: (abs(size - DEFAULT_SUB_GROUP_SIZE), size))


def chooses_size(device: DeviceInfo) -> bool:
    """Return whether the device's compiler, and not the kernel, chooses the subgroup size."""
    return REQUIRED_SUB_GROUP_SIZE not in device.extensions


def kernel_size(handle: Any, device: DeviceInfo, local_size: tuple[int, ...]) -> int:
    """Return the size, in work-items, of the largest subgroups of a pyopencl kernel in work-groups of `local_size`.

    If the device does not report the size, return 0. NVIDIA's OpenCL has no subgroups, but its devices execute
    work-items in lockstep; for such a device, return the answer to a query of its vendor. Raises pyopencl's errors.
    """
    if not device.sub_groups:
        return next(_vendors_sizes(device), 0)
    cl = opencl()
    query = cl.kernel_sub_group_info.MAX_SUB_GROUP_SIZE_FOR_NDRANGE
    # Call pyopencl's method, because subclasses of Kernel override the driver's answer.
    return int(cl.Kernel.get_sub_group_info(handle, device.handle, query, list(local_size)) or 0)


def kernel_count(handle: Any, device: DeviceInfo, local_size: tuple[int, ...]) -> int:
    """Return the number of subgroups of a pyopencl kernel in a work-group of `local_size`.

    Raises pyopencl's errors.
    """
    if not device.sub_groups:
        return -(-math.prod(local_size) // max(1, kernel_size(handle, device, local_size)))
    query = opencl().kernel_sub_group_info.SUB_GROUP_COUNT_FOR_NDRANGE
    return int(handle.get_sub_group_info(device.handle, query, list(local_size)))


# --- in the separate process -----------------------------------------------------------------------


def measure(device: DeviceInfo, _argument: str = "") -> list[int]:
    """Return the subgroup sizes, in work-items, in which a small kernel runs for every work-group size.

    If the size depends on the work-group size, the list is empty. If the device rejects the query, return the answer to
    a query of its vendor, or an empty list.
    """
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
    """Return the sizes that `ask` reports for work-groups of one, two and four subgroups alike, ascending.

    `ask` maps a local size to a subgroup size. Work-groups have at most `most` work-items.
    """
    sizes = {ask(local) for local in _LOCAL_SIZES if local <= most} or {ask(most)}
    return sorted(n for n in sizes if n > 0 and all(ask(k * n) == n for k in (1, 2, 4) if k * n <= most))


def _vendors_sizes(device: DeviceInfo) -> Iterator[int]:
    """Yield the answers above 1 to the queries of vendors, in work-items."""
    for extension, parameter in _VENDORS:
        if not extension or extension in device.extensions:
            size = int.from_bytes(raw_device_info(device.handle, parameter), sys.byteorder)
            if size > 1:
                yield size
