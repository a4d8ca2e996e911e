"""The matrices that a device with cl_khr_cooperative_matrix lists.

Source: the draft's queries, as OpenCL-CTS #2655 asks them. The list for the default subgroups is asked of the extension
function first, and of clGetDeviceInfo where a platform has only that.
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
    """The multiply-adds that a pyopencl device has, in its order, for subgroups of this size (None: the default one).

    None where it does not tell, or where what it tells are no records. Records that mean nothing (another extension's
    component types) are left out.
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
    try:
        return Variant.from_record(record)
    except ValueError:
        return None


def bytes_of(device: Any, parameter: int) -> int | None:
    """A query that answers with one cl_uint, the number of bytes; None where the device does not tell."""
    answer = raw_device_info(device, parameter)
    return int.from_bytes(answer, sys.byteorder) if len(answer) == 4 else None
