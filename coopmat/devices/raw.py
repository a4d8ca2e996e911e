"""Queries that pyopencl does not provide, to the loader or directly to a driver.

The loader's functions come from pyopencl's own library, so that both use the same loader.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

_EXTENSION_FUNCTION = b"clGetDeviceCooperativeMatrixInfoKHR"
# The type of the function in the draft, after OpenCL-CTS #2655. The parameters are device, query, size and address of
# the input, size and address of the answer, and the address for the size of the answer.
_MATRIX_INFO = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_uint,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_size_t),
)

# The type of clIcdGetPlatformIDsKHR (cl_khr_icd): capacity and address of the array, address for the count.
_PLATFORM_IDS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint))


def library() -> Any:
    """Return the OpenCL loader that pyopencl is linked to; None if the library cannot be loaded."""
    import pyopencl._cl

    try:
        return ctypes.CDLL(pyopencl._cl.__file__)
    except OSError:
        return None


def raw_device_info(device: Any, parameter: int) -> bytes:
    """Return the answer of clGetDeviceInfo for a pyopencl device; empty if the device rejects the query."""
    try:
        get_info = library().clGetDeviceInfo
    except AttributeError:
        return b""
    handle = ctypes.c_void_p(device.int_ptr)
    return _answer(lambda size, place, needed: get_info(handle, ctypes.c_uint(parameter), size, place, needed)) or b""


def raw_matrix_info(device: Any, parameter: int, sub_group_size: int | None = None) -> bytes | None:
    """Return the answer of clGetDeviceCooperativeMatrixInfoKHR for a pyopencl device.

    If `sub_group_size` is given, it is the input of the query. If the platform does not have the function, or the
    device rejects the query, return None.
    """
    try:
        look_up = library().clGetExtensionFunctionAddressForPlatform
    except AttributeError:
        return None
    look_up.restype = ctypes.c_void_p
    address = look_up(ctypes.c_void_p(device.platform.int_ptr), ctypes.c_char_p(_EXTENSION_FUNCTION))
    if not address:
        return None
    get_info, handle = _MATRIX_INFO(address), ctypes.c_void_p(device.int_ptr)
    size_input = None if sub_group_size is None else ctypes.c_uint(sub_group_size)
    size_in, place_in = (0, None) if size_input is None else (ctypes.sizeof(size_input), ctypes.addressof(size_input))
    return _answer(lambda size, place, needed: get_info(handle, parameter, size_in, place_in, size, place, needed))


def platforms_of(driver: Path) -> list[int]:
    """Return the platforms of one driver as addresses, like pyopencl's `int_ptr`.

    The driver is queried as loaders do (cl_khr_icd), and every loader accepts the addresses. If the library is no
    driver, or has no platforms, the list is empty.
    """
    try:
        look_up = ctypes.CDLL(str(driver)).clGetExtensionFunctionAddress
    except (OSError, AttributeError):
        return []
    look_up.restype = ctypes.c_void_p
    address = look_up(ctypes.c_char_p(b"clIcdGetPlatformIDsKHR"))
    count = ctypes.c_uint()
    if not address or _PLATFORM_IDS(address)(0, None, ctypes.pointer(count)) != 0:
        return []
    ids = (ctypes.c_void_p * count.value)()
    return [p for p in ids if p] if _PLATFORM_IDS(address)(count, ids, None) == 0 else []


class _Symbol(ctypes.Structure):
    """The structure in which dladdr returns the library and symbol of an address (Dl_info)."""

    _fields_ = (
        ("library", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def driver_of(device: Any) -> str:
    """Return the path of the driver's library of a pyopencl device; empty if the system cannot determine the path.

    An OpenCL object begins with the address of its driver's function table (cl_khr_icd).
    """
    try:
        look_up = ctypes.CDLL(None).dladdr
    except (OSError, AttributeError, TypeError):  # not on Windows
        return ""
    table = ctypes.c_void_p.from_address(device.int_ptr).value
    function = ctypes.c_void_p.from_address(table).value if table else None
    symbol = _Symbol()
    if not function or not look_up(ctypes.c_void_p(function), ctypes.byref(symbol)):
        return ""
    return os.fsdecode(symbol.library or b"")


def _answer(ask: Callable[[Any, Any, Any], int]) -> bytes | None:
    """Query the size of an answer, then the answer.

    `ask` makes the query for a size, a buffer and the address of the needed size, and returns the status. If a status
    reports an error, return None.
    """
    size = ctypes.c_size_t()
    if ask(ctypes.c_size_t(0), None, ctypes.pointer(size)) != 0:
        return None
    if size.value == 0:
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    return buffer.raw if ask(size, buffer, None) == 0 else None
