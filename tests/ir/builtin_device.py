"""Runs builtin overloads on an OpenCL device: a kernel for each, called once per work-item with its own arguments.

An argument is an array of shape (items, components). A pointer that the builtin writes through gives a second result.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from builtin_modules import Function, new_module
from llvmlite import ir

from coopmat.devices import DeviceInfo, opencl
from coopmat.frontend.builtins import Overload, resolve
from coopmat.frontend.types import (
    UINT,
    VOID,
    AddressSpace,
    PointerType,
    Qualifiers,
    ScalarType,
    Type,
    align_of,
    element_count,
    element_type,
)
from coopmat.ir.module import ModuleBuilder
from coopmat.spirv.emit import emit

Array = npt.NDArray[Any]
ITEMS = 64
NUMPY: dict[str, Any] = {
    **{"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32},
    **{"uint": np.uint32, "long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32},
    "double": np.float64,
}


@dataclass(frozen=True)
class Run:
    """One overload and its arguments; those for pointers are left out."""

    overload: Overload
    arguments: Sequence[Array]

    @property
    def result_types(self) -> list[Type]:
        written = [t.pointee for t in self.overload.parameters if isinstance(t, PointerType)]
        return [t for t in (self.overload.result, *written) if t != VOID]


def overload(name: str, *types: Type) -> Overload:
    found = resolve(name, types)
    assert isinstance(found, Overload), found
    return found


def run(device: DeviceInfo, runs: Sequence[Run]) -> list[list[Array]]:
    """For every run its results, each of shape (ITEMS, components)."""
    module = new_module()
    for number, item in enumerate(runs):
        _kernel(module, f"k{number}", item)
    spirv = emit(module.finish()).spirv
    assert spirv is not None
    with Device(device, spirv) as program:
        return [_launch(program, f"k{number}", item) for number, item in enumerate(runs)]


class Device:
    """A program on the device."""

    def __init__(self, device: DeviceInfo, spirv: bytes) -> None:
        self.cl = opencl()
        self.context = self.cl.Context([device.handle])
        self.queue = self.cl.CommandQueue(self.context)
        with warnings.catch_warnings():
            # The device's compiler tells how it vectorised each kernel.
            warnings.simplefilter("ignore", self.cl.CompilerWarning)
            self.program = self.cl.Program(self.context, spirv).build()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.queue.finish()

    def launch(self, kernel: str, size: int, local: int, arrays: Sequence[Array]) -> list[Array]:
        """Runs the kernel on buffers that hold the arrays; what they hold then."""
        flags = self.cl.mem_flags.READ_WRITE | self.cl.mem_flags.COPY_HOST_PTR
        buffers = [self.cl.Buffer(self.context, flags, hostbuf=array) for array in arrays]
        getattr(self.program, kernel)(self.queue, (size,), (local,), *buffers)
        after = [np.empty_like(array) for array in arrays]
        for array, buffer in zip(after, buffers, strict=True):
            self.cl.enqueue_copy(self.queue, array, buffer)
        return after


def _stride(t: Type) -> int:
    return 4 if element_count(t) == 3 else element_count(t)


def _launch(program: Device, kernel: str, item: Run) -> list[Array]:
    types = [t for t in item.overload.parameters if not isinstance(t, PointerType)]
    arrays = []
    for t, values in zip(types, item.arguments, strict=True):
        padded = np.zeros((ITEMS, _stride(t)), NUMPY[str(element_type(t))])
        padded[:, : element_count(t)] = values
        arrays.append(padded)
    for t in item.result_types:
        arrays.append(np.full((ITEMS, _stride(t)), 77, NUMPY[str(element_type(t))]))
    after = program.launch(kernel, ITEMS, 8, arrays)[len(types) :]
    return [array[:, : element_count(t)] for array, t in zip(after, item.result_types, strict=True)]


def kernel_function(module: ModuleBuilder, name: str, buffers: int) -> Function:
    pointers = [PointerType(UINT, Qualifiers(AddressSpace.GLOBAL))] * buffers
    return Function(module, name, VOID, pointers, "spir_kernel")


def work_item(function: Function, name: str = "get_global_id") -> ir.Value:
    value = function.builtin(overload(name, UINT), [ir.Constant(ir.IntType(32), 0)])
    assert value is not None
    return value


def element_address(function: Function, buffer: int, t: Type, index: ir.Value) -> ir.Value:
    """The address of element `index` of the buffer."""
    pointer = function.function.args[buffer]
    return function.builder.gep(pointer, [index], source_etype=function.types.of(t))


def _kernel(module: ModuleBuilder, name: str, item: Run) -> None:
    parameters = item.overload.parameters
    count = len([t for t in parameters if not isinstance(t, PointerType)])
    function = kernel_function(module, name, count + len(item.result_types))
    builder, index = function.builder, work_item(function)
    buffer, written = 0, count + (item.overload.result != VOID)
    arguments: list[ir.Value] = []
    for t in parameters:
        if isinstance(t, PointerType):
            target = element_address(function, written, t.pointee, index)
            private = t.qualifiers.space is AddressSpace.PRIVATE
            arguments.append(builder.alloca(function.types.of(t.pointee)) if private else target)
        else:
            address = element_address(function, buffer, t, index)
            arguments.append(builder.load(address, align=align_of(t), typ=function.types.of(t)))
            buffer += 1
    value = function.builtin(item.overload, arguments)
    if isinstance(parameters[-1], PointerType) and parameters[-1].qualifiers.space is AddressSpace.PRIVATE:
        pointee = parameters[-1].pointee
        kept = builder.load(arguments[-1], align=align_of(pointee), typ=function.types.of(pointee))
        builder.store(kept, target, align=align_of(pointee))
    if value is not None:
        result = item.overload.result
        builder.store(value, element_address(function, count, result, index), align=align_of(result))
    builder.ret_void()


# --- values --------------------------------------------------------------------------------------

ROUND: dict[str, Callable[[Array], Array]] = {"rte": np.rint, "rtz": np.trunc, "rtp": np.ceil, "rtn": np.floor}


def scalar(t: Type) -> ScalarType:
    found = element_type(t)
    assert isinstance(found, ScalarType)
    return found


def random_values(t: Type, low: float, high: float, seed: int) -> Array:
    """Shape (ITEMS, components): floats between the bounds, integers over their whole range, ends included."""
    generator, element, shape = np.random.default_rng(seed), scalar(t), (ITEMS, element_count(t))
    if element.is_float:
        return generator.uniform(low, high, shape).astype(NUMPY[element.name])
    limits = np.iinfo(NUMPY[element.name])
    values = generator.integers(limits.min, limits.max, shape, dtype=NUMPY[element.name], endpoint=True)
    ends = [limits.min, limits.max, 0, 1, limits.max - 1, limits.min + 1, 2, 3]
    values[:8] = np.array(ends, NUMPY[element.name])[:, None]
    if seed % 2:
        values[:8] = values[7::-1].copy()
    return values


def rounded(exact: Sequence[Any], target: ScalarType, rounding: str) -> Array:
    """Exact Python numbers as floats of the type, by comparing with the nearest ones."""
    result = []
    for value in exact:
        nearest = NUMPY[target.name](value)
        up = float(nearest) < value and (rounding == "rtp" or (rounding == "rtz" and value < 0))
        down = float(nearest) > value and (rounding == "rtn" or (rounding == "rtz" and value > 0))
        if up or down:
            nearest = np.nextafter(nearest, NUMPY[target.name](np.inf if up else -np.inf))
        result.append(nearest)
    return np.array(result)
