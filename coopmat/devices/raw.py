"""Queries that pyopencl does not know, through its own library, so that it is the same loader's; and a driver's own."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

_EXTENSION_FUNCTION = b"clGetDeviceCooperativeMatrixInfoKHR"
# The draft's, after OpenCL-CTS #2655: device, parameter, size and place of the input, size and place of the answer, and
# where the answer's size goes.
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

# cl_khr_icd: how many have room, where they go, where their number goes.
_PLATFORM_IDS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint))


def library() -> Any:
    """The OpenCL loader that pyopencl is linked to, None where it is not found."""
    import pyopencl._cl

    try:
        return ctypes.CDLL(pyopencl._cl.__file__)
    except OSError:
        return None


def raw_device_info(device: Any, parameter: int) -> bytes:
    """clGetDeviceInfo for a pyopencl device; empty where the device does not know the parameter."""
    try:
        get_info = library().clGetDeviceInfo
    except AttributeError:
        return b""
    handle = ctypes.c_void_p(device.int_ptr)
    return _answer(lambda size, place, needed: get_info(handle, ctypes.c_uint(parameter), size, place, needed)) or b""


def raw_matrix_info(device: Any, parameter: int, sub_group_size: int | None = None) -> bytes | None:
    """clGetDeviceCooperativeMatrixInfoKHR, with a subgroup size as its input if one is given.

    None where the platform does not have the function, or the device refuses the query.
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
    """The platforms of one driver, asked as loaders ask (cl_khr_icd): addresses, as pyopencl's `int_ptr` has them.
    Every loader takes them. Empty where the library is no driver, or has none."""
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
    """What dladdr tells of an address."""

    _fields_ = (
        ("library", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def driver_of(device: Any) -> str:
    """Return the path of the library that has the functions of a pyopencl device; empty where the system does not tell.

    An OpenCL object begins with the address of its driver's table of functions (cl_khr_icd).
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
    """Asks for the size, then for the answer. `ask` returns the status; None where that is an error."""
    size = ctypes.c_size_t()
    if ask(ctypes.c_size_t(0), None, ctypes.pointer(size)) != 0:
        return None
    if size.value == 0:
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    return buffer.raw if ask(size, buffer, None) == 0 else None
