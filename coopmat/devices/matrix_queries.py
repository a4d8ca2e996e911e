"""Queries for the cooperative matrices that a device with cl_khr_cooperative_matrix supports.

The queries are those of the draft, as OpenCL-CTS #2655 uses them. The list for the default subgroup size comes from the
extension function, or from clGetDeviceInfo if the platform supports only that.
"""

from __future__ import annotations

import struct
import sys
from typing import Any

from coopmat.matrices.variants import (
    CL_DEVICE_COOPERATIVE_MATRIX_DEFAULT_SUB_GROUP_VARIANTS_KHR,
    CL_DEVICE_COOPERATIVE_MATRIX_SUB_GROUP_VARIANTS_KHR,
    Variant,
)

from .raw import raw_device_info, raw_matrix_info

_RECORD = struct.Struct("=8I")


def native_variants(device: Any, sub_group_size: int | None = None) -> tuple[Variant, ...] | None:
    """Return the multiply-adds that a pyopencl device supports, in the device's order.

    `sub_group_size` is in work-items; None means the device's default size. If the device does not answer, or the
    answer is not a list of records, return None. Records with unknown values, such as component types of another
    extension, are left out.
    """
    if sub_group_size is None:
        parameter = CL_DEVICE_COOPERATIVE_MATRIX_DEFAULT_SUB_GROUP_VARIANTS_KHR
        answer = raw_matrix_info(device, parameter)
        if answer is None:
            answer = raw_device_info(device, parameter) or None
    else:
        answer = raw_matrix_info(device, CL_DEVICE_COOPERATIVE_MATRIX_SUB_GROUP_VARIANTS_KHR, sub_group_size)
    if answer is None or len(answer) % _RECORD.size:
        return None
    variants = (_variant(record) for record in _RECORD.iter_unpack(answer))
    return tuple(dict.fromkeys(variant for variant in variants if variant is not None))


def _variant(record: tuple[int, ...]) -> Variant | None:
    """Return the multiply-add of a record of the query; None if a value is unknown."""
    try:
        return Variant.from_record(record)
    except ValueError:
        return None


def bytes_of(device: Any, parameter: int) -> int | None:
    """Return the answer to a query for a number of bytes (cl_uint); None if the device does not answer."""
    answer = raw_device_info(device, parameter)
    return int.from_bytes(answer, sys.byteorder) if len(answer) == 4 else None
