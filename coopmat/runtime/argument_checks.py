"""Checks of a launch's arguments against the kernel's parameters, before the driver sees the arguments."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from coopmat.devices import opencl
from coopmat.frontend.kernel_info import KernelInfo, KernelParameter
from coopmat.matrices.variants import COMPONENT_TYPES

# OpenCL C scalar type -> numpy type.
_NUMPY = {row.opencl_c: np.dtype(row.numpy) for row in COMPONENT_TYPES.values() if not row.is_bits}


class Misfit(Exception):
    """An exception that reports an argument that does not match its parameter.

    str() names the argument, what the parameter needs, and the value.
    """


def fitted(kernel: KernelInfo, arguments: Sequence[Any], loose: Sequence[bool] = ()) -> list[Any]:
    """Return the arguments of a call, converted for pyopencl: numbers get the types of their parameters.

    `loose[n]` is true if the user has set a type for argument n. Such an argument may be a number of any type that its
    parameter can hold. Raises Misfit if the number of arguments is wrong, or if an argument does not match its
    parameter.
    """
    parameters = kernel.parameters
    if len(arguments) != len(parameters):
        expected = ", ".join(f"{p.type_name} {p.name}" for p in parameters) or "none"
        raise Misfit(f"kernel '{kernel.name}' takes {len(parameters)} arguments ({expected}), not {len(arguments)}")
    return [fitted_one(kernel, n, value, bool(loose) and loose[n]) for n, value in enumerate(arguments)]


def fitted_one(kernel: KernelInfo, number: int, value: Any, loose: bool = False) -> Any:
    """Return the argument for parameter `number`, counted from 0, converted for pyopencl.

    `loose` is as in `fitted`. Raises Misfit if the kernel has no such parameter, or if the argument does not match it.
    """
    if not 0 <= number < len(kernel.parameters):
        count = len(kernel.parameters)
        raise Misfit(f"kernel '{kernel.name}' has {count} arguments, numbered from 0; number {number} is out of range")
    parameter = kernel.parameters[number]
    try:
        return _fitted(parameter, value, loose)
    except Misfit as misfit:
        raise Misfit(f"{place(kernel, number)}: {misfit}") from None


def place(kernel: KernelInfo, number: int) -> str:
    """Return a description of argument `number`, counted from 0, for messages."""
    parameter = kernel.parameters[number]
    return f"argument {number + 1} of kernel '{kernel.name}', '{parameter.name}' ({_spelled(parameter)})"


def _spelled(parameter: KernelParameter) -> str:
    """Return the type of a parameter, with its address space."""
    space = parameter.address_space
    has_space = not parameter.is_pointer or parameter.type_name.startswith(space)
    return parameter.type_name if has_space else f"{space} {parameter.type_name}"


def _fitted(parameter: KernelParameter, value: Any, loose: bool) -> Any:
    """Return an argument, converted for pyopencl. Raises Misfit, without the name of the argument."""
    cl = opencl()
    if parameter.is_handle:
        handle_type = cl.Sampler if parameter.type_name == "sampler_t" else cl.Image
        return value if isinstance(value, handle_type) else _refuse(f"needs pyopencl.{handle_type.__name__}", value)
    if parameter.is_pointer:
        _check_pointer(parameter, value)
        return value
    if isinstance(value, (cl.MemoryObjectHolder, cl.SVMPointer, cl.LocalMemory)) or value is None:
        _refuse("needs a value", value)
    wanted_type = _NUMPY.get(parameter.scalar or "") if parameter.scalar == parameter.type_name else None
    if wanted_type is None:
        return _bytes(parameter, value)
    return number(wanted_type, value, loose)


def number(dtype: Any, value: Any, loose: bool = False) -> Any:
    """Convert a number of Python or numpy to the numpy type `dtype`; an array may have one element.

    `loose` is as in `fitted`. Raises Misfit if the type cannot hold the number, or if the value is none.
    """
    if isinstance(value, (np.generic, np.ndarray)) and value.size == 1 and value.dtype.kind != "V":
        return _numpy_number(dtype, value.reshape(())[()], loose)
    return _number(dtype, value)


def _check_pointer(parameter: KernelParameter, value: Any) -> None:
    """Raise Misfit if the value is no argument for a pointer parameter."""
    cl = opencl()
    if parameter.address_space == "local":
        if not isinstance(value, cl.LocalMemory):
            _refuse("needs pyopencl.LocalMemory(bytes)", value)
        return
    if value is None or isinstance(value, cl.SVMPointer):
        return
    if isinstance(value, cl.MemoryObjectHolder) and not isinstance(value, cl.Image):
        return
    hint = ""
    if isinstance(getattr(value, "data", None), (cl.MemoryObjectHolder, cl.SVMPointer)):
        hint = ": pass its .data"
    elif isinstance(getattr(value, "base", None), cl.SVMPointer):
        hint = ": pass pyopencl.SVM(array)"
    elif isinstance(value, np.ndarray):
        hint = ": copy it to the device first"
    _refuse("needs a buffer", value, hint)


def _bytes(parameter: KernelParameter, value: Any) -> Any:
    """Return the argument of a vector or structure parameter: any buffer of the parameter's size.

    Raises Misfit if the value is no buffer, or has another size.
    """
    try:
        size = memoryview(value).nbytes
    except (TypeError, ValueError, BufferError):
        size = getattr(value, "nbytes", -1)
    if size < 0:
        _refuse(f"needs {parameter.size} bytes in a value of numpy or pyopencl.cltypes", value)
    if parameter.size and size != parameter.size:
        raise Misfit(f"needs {parameter.size} bytes, not {size} ({_given(value)})")
    return value


def _numpy_number(dtype: Any, value: Any, loose: bool) -> Any:
    """Convert a numpy number to the parameter's type `dtype`.

    A bool is converted. An integer of the same size may differ in its sign, or hold the bits of a half. If `loose`, a
    number of any type is converted. Raises Misfit for any other number.
    """
    if value.dtype == dtype:
        return value
    if loose or value.dtype.kind == "b":
        return _number(dtype, value.item())
    same_size = value.dtype.itemsize == dtype.itemsize and value.dtype.kind in "iu"
    if same_size and (dtype.kind in "iu" or dtype == np.float16):
        return value.view(dtype)
    return _refuse(f"needs numpy.{dtype.name}", value)


def _number(dtype: Any, value: Any) -> Any:
    """Convert a number to the numpy type `dtype`. Raises Misfit if the type cannot hold the number."""
    if dtype.kind in "iu":
        try:
            whole = operator.index(value)
        except TypeError:
            _refuse("needs an integer", value)
        limits: Any = np.iinfo(dtype)
        if not limits.min <= whole <= limits.max:
            raise Misfit(f"cannot hold {whole}")
        return dtype.type(whole)
    if isinstance(value, (str, bytes)) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        _refuse("needs a number", value)
    try:
        real = float(value)
        with np.errstate(over="ignore"):
            result = dtype.type(real)
    except (TypeError, ValueError, OverflowError):
        raise Misfit(f"cannot hold {_given(value)}") from None
    if math.isinf(result) and not math.isinf(real):
        raise Misfit(f"cannot hold {_given(value)}")
    return result


def _refuse(needs: str, value: Any, hint: str = "") -> Any:
    """Raise a Misfit that states what the parameter needs and what the value is."""
    raise Misfit(f"{needs}, not {_given(value)}{hint}")


def _given(value: Any) -> str:
    """Describe a value in a message."""
    if isinstance(value, np.generic):
        return f"numpy.{value.dtype.name} {value!s}"
    if isinstance(value, np.ndarray):
        return f"a numpy array of {value.dtype.name}"
    if isinstance(value, (bool, int, float, complex)) or value is None:
        return repr(value)
    module = type(value).__module__.partition(".")[0]
    return f"a {type(value).__name__}" if module == "builtins" else f"a {module}.{type(value).__name__}"
