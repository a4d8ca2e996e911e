"""Values of a kernel's arguments, checked against the launch description, as bytes or buffers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.runtime import LocalMemory, launch_error

from .devices import VulkanDevice
from .image_values import check_image, check_sampler
from .modules import Argument

# OpenCL C scalar type -> numpy type
_NUMPY = {row.opencl_c: np.dtype(row.numpy) for row in COMPONENT_TYPES.values()}
_TYPE = re.compile(r"([a-z]\w*?)(2|3|4|8|16)?( ?\*)?$")
_QUALIFIERS = frozenset(["const", "volatile", "restrict", "global", "constant", "local", "private"])


def check(kernel: str, argument: Argument, value: Any, device: VulkanDevice) -> Any:
    """Return the value of an argument: an array for an address, a size for local memory, bytes for a value.

    An image or sampler is returned unchanged.

    Raises CompileError if the value does not match the argument.
    """
    place = f"argument '{argument.name}' ({argument.type}) of kernel '{kernel}'"
    if argument.kind == "local":
        if isinstance(value, LocalMemory):
            return _elements(place, argument, value.size)
        raise launch_error(f"{place} needs a LocalMemory(bytes), not {_given(value)}", "argument")
    if argument.kind == "address":
        if isinstance(value, np.ndarray):
            return _array(place, argument, value)
        raise launch_error(f"{place} needs a numpy array, not {_given(value)}", "argument")
    if argument.kind == "value":
        return _bytes(place, argument, value)
    if argument.kind == "image":
        return check_image(place, argument, value, device)
    return check_sampler(place, argument, value)


def _elements(place: str, argument: Argument, size: int) -> int:
    """Return the number of elements of an array in local memory."""
    element = argument.element_bytes or 1
    if size < element:
        raise launch_error(f"{place} needs at least {element} bytes of local memory, not {size}", "argument")
    return -(-size // element)


def _array(place: str, argument: Argument, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    wanted = _scalar(argument.type)
    # Integers of the same size hold the bits of types that numpy lacks; bytes hold anything.
    fits = wanted is None or array.dtype in (wanted, np.dtype("u1"), np.dtype("i1"))
    if wanted is not None and not fits and (array.dtype.itemsize != wanted.itemsize or array.dtype.kind not in "iuV"):
        raise launch_error(f"{place} needs an array of {wanted}, not {_given(array)}", "argument")
    if not array.flags.c_contiguous:
        raise launch_error(f"{place} needs an array in C's order; use numpy.ascontiguousarray", "argument")
    return array


def _scalar(type_name: str) -> np.dtype[Any] | None:
    """Return the numpy type of an OpenCL C type's scalars; None for structures and unknown types."""
    words = [word for word in type_name.replace("*", " * ").split() if word not in _QUALIFIERS]
    match = _TYPE.match(" ".join(words).replace("unsigned ", "u"))
    return _NUMPY.get(match[1]) if match else None


def _bytes(place: str, argument: Argument, value: Any) -> bytes:
    """Return the bytes of a scalar, vector or structure, filled up with zeros to the argument's size."""
    size, wanted = argument.bytes or 0, _scalar(argument.type)
    if isinstance(value, (bool, int, float, np.bool_)) and not isinstance(value, np.floating) and wanted is not None:
        try:
            value = wanted.type(value)
        except (OverflowError, ValueError):
            raise launch_error(f"{place} cannot hold {value}", "argument") from None
    if not isinstance(value, (np.ndarray, np.generic, bytes)):
        raise launch_error(f"{place} needs a number or a value of numpy, not {_given(value)}", "argument")
    if isinstance(value, np.integer) and value % (argument.multiple or 1):
        rule = f"is the stride of matrices, and must be a multiple of {argument.multiple}"
        raise launch_error(f"{place} is {value}; it {rule}", "alignment")
    data = value if isinstance(value, bytes) else value.tobytes()
    # Scalars of one and two bytes occupy four; nothing else differs in size.
    natural = wanted.itemsize if wanted is not None and wanted.itemsize < size <= 4 else size
    if len(data) not in (natural, size):
        raise launch_error(f"{place} has {natural} bytes, and its value has {len(data)}", "argument")
    if isinstance(value, np.generic) and wanted is not None and not _may_hold(value.dtype, wanted):
        raise launch_error(f"{place} needs {wanted}, not {_given(value)}", "argument")
    return data.ljust(size, b"\0")


def _may_hold(given: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Return whether a scalar of its size may be passed: integers may differ in sign, and hold the bits of a half."""
    return given == wanted or (given.kind in "iuV" and (wanted.kind in "iu" or wanted == np.float16))


def _given(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"a numpy array of {value.dtype}"
    return f"numpy.{value.dtype} {value}" if isinstance(value, np.generic) else f"a {type(value).__name__}"
