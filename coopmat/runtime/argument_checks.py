"""Arguments of a launch against the kernel's parameters: what does not fit is told before the driver sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coopmat.devices import opencl
from coopmat.frontend.kernel_info import KernelInfo, KernelParameter

# OpenCL C's scalar types as numpy has them; half is passed as its bits too.
NUMPY = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "half": np.float16,
    "float": np.float32,
    "double": np.float64,
}


def fault(kernel: KernelInfo, arguments: Sequence[Any]) -> str:
    """What is wrong with the arguments of a call, in words; empty: nothing that could be told from here."""
    parameters = kernel.parameters
    if len(arguments) != len(parameters):
        wanted = ", ".join(f"{p.type_name} {p.name}" for p in parameters) or "none"
        return f"kernel '{kernel.name}' takes {len(parameters)} arguments ({wanted}), not {len(arguments)}"
    for number, (parameter, value) in enumerate(zip(parameters, arguments, strict=True)):
        what = _fault(parameter, value)
        if what:
            place = f"argument {number + 1} of kernel '{kernel.name}', '{parameter.name}' ({_spelled(parameter)})"
            return f"{place}: {what}"
    return ""


def _spelled(parameter: KernelParameter) -> str:
    space = parameter.address_space
    told = not parameter.is_pointer or parameter.type_name.startswith(space)
    return parameter.type_name if told else f"{space} {parameter.type_name}"


def _fault(parameter: KernelParameter, value: Any) -> str:
    cl = opencl()
    given = _given(value)
    if parameter.is_handle:
        wanted = cl.Sampler if parameter.type_name == "sampler_t" else cl.Image
        return "" if isinstance(value, wanted) else f"needs a {wanted.__name__}, not {given}"
    if parameter.is_pointer:
        return _pointer_fault(parameter, value, given)
    if isinstance(value, (cl.MemoryObjectHolder, cl.LocalMemory)) or value is None:
        return f"needs a value, not {given}"
    return _value_fault(parameter, value, given)


def _pointer_fault(parameter: KernelParameter, value: Any, given: str) -> str:
    cl = opencl()
    if parameter.address_space == "local":
        return "" if isinstance(value, cl.LocalMemory) else f"needs pyopencl.LocalMemory(bytes), not {given}"
    if isinstance(value, cl.LocalMemory):
        return f"needs a buffer, not {given}"
    if isinstance(value, (bool, int, float, complex, np.number)):
        return f"needs a buffer, not {given}"
    if isinstance(value, np.ndarray) and getattr(value, "base", None) is None and not hasattr(value, "mem"):
        # Host memory: pyopencl takes arrays over SVM only, which have a base.
        return f"needs a buffer, not {given}: copy it to the device first"
    return ""


def _value_fault(parameter: KernelParameter, value: Any, given: str) -> str:
    wanted = NUMPY.get(parameter.scalar or "") if parameter.scalar == parameter.type_name else None
    if wanted is None:
        size = getattr(value, "nbytes", None)
        if size is not None and parameter.size and size != parameter.size:
            return f"has {parameter.size} bytes, not {size} ({given})"
        return ""
    if isinstance(value, (bool, int, np.integer, np.bool_)) and np.issubdtype(wanted, np.integer):
        limits: Any = np.iinfo(np.dtype(wanted))
        if isinstance(value, np.integer) and value.dtype.itemsize != np.dtype(wanted).itemsize:
            return f"needs numpy.{np.dtype(wanted).name}, not {given}"
        return "" if limits.min <= int(value) <= limits.max or isinstance(value, np.integer) else f"cannot hold {value}"
    if isinstance(value, (float, int)) and not isinstance(value, np.generic):
        return "" if np.issubdtype(wanted, np.floating) else f"needs an integer, not {given}"
    if isinstance(value, np.generic):
        same = value.dtype == np.dtype(wanted) or (wanted is np.float16 and value.dtype.itemsize == 2)
        return "" if same else f"needs numpy.{np.dtype(wanted).name}, not {given}"
    return ""


def _given(value: Any) -> str:
    if isinstance(value, np.generic):
        return f"numpy.{value.dtype.name} {value!s}"
    if isinstance(value, np.ndarray):
        return f"a numpy array of {value.dtype.name}"
    if isinstance(value, (bool, int, float)) or value is None:
        return repr(value)
    return f"a {type(value).__module__.partition('.')[0]}.{type(value).__name__}"
