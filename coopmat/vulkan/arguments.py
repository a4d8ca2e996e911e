"""Values of a kernel's arguments, checked against the launch description, as bytes or buffers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.runtime import LocalMemory, launch_error
from coopmat.runtime.argument_checks import Misfit, number

from .devices import VulkanDevice
from .image_values import check_image, check_sampler
from .modules import Argument

# OpenCL C scalar type -> numpy type
_NUMPY = {row.opencl_c: np.dtype(row.numpy) for row in COMPONENT_TYPES.values()}
_TYPE = re.compile(r"([a-z]\w*?)(2|3|4|8|16)?(?: ?\*)?$")
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
    _check_type(place, _elements_of(argument.type)[0], array)
    if not array.flags.c_contiguous:
        raise launch_error(f"{place} needs an array in C's order; use numpy.ascontiguousarray", "argument")
    return array


def _elements_of(type_name: str) -> tuple[np.dtype[Any] | None, int]:
    """Return the numpy type and the number of the scalars of an OpenCL C type; None for structures."""
    tokens = [token for token in type_name.replace("*", " * ").split() if token not in _QUALIFIERS]
    match = _TYPE.match(" ".join(tokens))
    return (_NUMPY.get(match[1]), int(match[2] or 1)) if match else (None, 1)


def _check_type(place: str, wanted: np.dtype[Any] | None, value: Any) -> None:
    """Raise CompileError unless the elements of a numpy value are of the type `wanted`; None for any type.

    Bytes and structured types hold anything.
    """
    given = value.dtype
    if not given.isnative or given.hasobject:
        raise launch_error(f"{place} needs numbers in this machine's byte order, not {_given(value)}", "argument")
    if wanted is not None and given not in (wanted, np.dtype("u1"), np.dtype("i1")) and not _may_hold(given, wanted):
        raise launch_error(f"{place} needs an array of {wanted}, not {_given(value)}", "argument")


def _may_hold(given: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Return whether elements of another type may be passed: integers may differ in sign, and hold a half's bits."""
    if given.itemsize != wanted.itemsize:
        return False
    return given.kind == "V" or (given.kind in "iu" and (wanted.kind in "iu" or wanted == np.float16))


def _bytes(place: str, argument: Argument, value: Any) -> bytes:
    """Return the bytes of a scalar, vector or structure, filled up with zeros to the argument's size."""
    size, (wanted, count) = argument.bytes or 0, _elements_of(argument.type)
    if isinstance(value, bytes):
        data = value
    elif wanted is not None and count == 1:
        try:
            scalar = number(wanted, value)
        except Misfit as misfit:
            raise launch_error(f"{place} {misfit}", "argument") from None
        if argument.multiple is not None and scalar % argument.multiple:
            rule = f"is the stride of matrices, and must be a multiple of {argument.multiple}"
            raise launch_error(f"{place} is {scalar}; it {rule}", "alignment")
        data = scalar.tobytes()
    elif isinstance(value, (np.ndarray, np.generic)):
        _check_type(place, wanted, value)
        data = value.tobytes()
    else:
        raise launch_error(f"{place} needs {size} bytes in a value of numpy, not {_given(value)}", "argument")
    # Scalars of one and two bytes occupy four, and vectors of three elements have the size of four.
    natural = size if wanted is None else wanted.itemsize * count
    if len(data) not in (natural, size):
        raise launch_error(f"{place} has {natural} bytes, and its value has {len(data)}", "argument")
    return data.ljust(size, b"\0")


def _given(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"a numpy array of {value.dtype}"
    return f"numpy.{value.dtype} {value}" if isinstance(value, np.generic) else f"a {type(value).__name__}"
