"""The kernels of the products: their variants, builds and launches."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass, field, replace
from importlib.resources import files
from math import prod
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
from pyopencl.tools import first_arg_dependent_memoize

from coopmat import Program
from coopmat.matrices.variants import ComponentType

from .operands import Operand
from .parameters import Tiling, tiling_of


@dataclass(frozen=True)
class Product:
    """A product with what follows it.

    types: the component types of A, B, the sums, what follows them (REAL in gemm.cl), and D.
    flags: the names of the macros of gemm.cl that are 1.
    activation: OpenCL C that defines the function `activation`; empty if there is none.
    shape: (matrices in the batch, m, n, k).
    """

    types: tuple[ComponentType, ...]
    flags: frozenset[str]
    activation: str
    shape: tuple[int, int, int, int]

    def run(
        self,
        queue: Any,
        operands: tuple[Operand, Operand, Operand],
        vectors: dict[str, Any],
        factors: dict[str, float],
        events: list[Any],
    ) -> Any:
        """Enqueue the product, and return the array of the output, which has the event of the launch."""
        batch, m, n, _k = self.shape
        left, right, output = operands
        arrays = (left.array, right.array, output.array, *vectors.values())
        events += [event for array in arrays for event in array.events]
        if not prod((batch, m, n)):
            return output.array
        left, right = (_readable(queue, item, events) for item in (left, right))
        written = output if output.is_by_rows else _dense(queue, output)
        if written is not output and "HAS_BETA" in self.flags:
            events[:] = [_copy(queue, output, written, events)]
        launch = self._enqueue(queue, (left, right, written), vectors, factors, events)
        if written is not output:
            launch = _copy(queue, written, output, [launch])
        output.array.add_event(launch)
        return output.array

    def _enqueue(
        self,
        queue: Any,
        operands: tuple[Operand, Operand, Operand],
        vectors: dict[str, Any],
        factors: dict[str, float],
        events: list[Any],
    ) -> Any:
        """Enqueue the kernel, and return its event."""
        batch, m, n, k = self.shape
        left, right, _output = operands
        pieces = _are_in_pieces(left, right)
        tiling = tiling_of(queue.device, self.types, self.shape, in_pieces=pieces)
        kernel = self._kernel(queue, left, right, tiling)
        if tiling.block and kernel.sub_group_size != tiling.sub_group_size:
            # The device's matrix instructions are not used, so the kernel has another route.
            tiling = Tiling(tiling.tile)
            kernel = self._kernel(queue, left, right, tiling)
        rows, columns, _depth = tiling.group
        size = kernel.sub_group_size * tiling.sub_groups
        sizes = (-(-n // columns) * size, -(-m // rows), batch)
        arguments = [item.array.base_data for item in operands]
        for name in ("bias", "scale_a", "scale_b"):
            array = vectors.get(name)
            arguments += (None, 0) if array is None else (array.base_data, array.offset // array.dtype.itemsize)
        arguments += [*factors.values(), m, n, k, *(item.line for item in operands)]
        arguments += [*(item.offset for item in operands), *(item.strides[0] for item in operands)]
        return kernel.enqueue(queue, sizes, (size, 1, 1), arguments, events)

    def _kernel(self, queue: Any, left: Operand, right: Operand, tiling: Tiling) -> _Kernel:
        _batch, m, n, k = self.shape
        rows, columns, depth = tiling.group
        flags = set(self.flags)
        flags |= {"WHOLE"} if not (m % rows or n % columns or k % depth) else set()
        flags |= {"STAGED"} if tiling.block else set()
        flags |= {"A_BY_COLUMNS"} if not left.is_by_rows else set()
        flags |= {"B_BY_COLUMNS"} if not right.is_by_rows else set()
        macros = frozenset(flags)
        kernel: _Kernel = _kernel(queue.context, queue.device, self.types, tiling, macros, self.activation)
        return kernel


def _are_in_pieces(left: Operand, right: Operand) -> bool:
    """Return whether both operands can be copied 16 bytes at a time, and have columns to copy."""
    if not left.shape[2]:
        return False
    for item in (left, right):
        piece = 16 // item.component.size
        along = item.shape[2 if item.is_by_rows else 1]
        if any(number % piece for number in (along, item.line, item.offset, item.strides[0])):
            return False
    return left.component.size == right.component.size


@dataclass
class _Kernel:
    """A kernel of the cache. Only one thread at a time may set its arguments."""

    kernel: Any
    sub_group_size: int
    lock: threading.Lock = field(default_factory=threading.Lock)

    def enqueue(self, queue: Any, sizes: Any, local: Any, arguments: list[Any], events: list[Any]) -> Any:
        with self.lock:
            return self.kernel(queue, sizes, local, *arguments, wait_for=events)


@first_arg_dependent_memoize  # type: ignore[untyped-decorator]
def _kernel(
    context: Any,
    device: Any,
    types: tuple[ComponentType, ...],
    tiling: Tiling,
    flags: frozenset[str],
    activation: str,
) -> _Kernel:
    """Return the kernel of gemm.cl with these macros; the context keeps it."""
    names = ("A_TYPE", "B_TYPE", "SUM_TYPE", "REAL_TYPE", "D_TYPE")
    values: dict[str, object] = {name: t.opencl_c for name, t in zip(names, types, strict=True)}
    values |= dict(zip(("TILE_M", "TILE_N", "TILE_K"), tiling.tile, strict=True)) | dict.fromkeys(sorted(flags), 1)
    if tiling.block:
        values |= dict(zip(("BLOCK_M", "BLOCK_N", "DEPTH"), tiling.block, strict=True))
        values["SUB_GROUP_SIZE"] = tiling.sub_group_size
    head = f"#define REAL {types[3].opencl_c}\n"
    head += f"#define ACTIVATION activation\n{activation}\n" if activation else ""
    options = [f"-D{name}={value}" for name, value in values.items()]
    program = Program(context, f'{head}#line 1 "gemm.cl"\n{_text("gemm.cl")}').build(options, [device])
    kernel = program.gemm
    return _Kernel(kernel, kernel.sub_group_size(device))


def _text(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


# --- arrays with other strides -----------------------------------------------------------------------------


def _readable(queue: Any, item: Operand, events: list[Any]) -> Operand:
    """Return an operand whose rows or columns are consecutive: itself, or a copy, whose event joins `events`."""
    if not prod(item.shape):
        return replace(item, strides=(0, 0, 0))  # nothing is read
    if item.is_by_rows or item.is_by_columns:
        return item
    dense = _dense(queue, item)
    events.append(_copy(queue, item, dense, events))
    return dense


def _dense(queue: Any, item: Operand) -> Operand:
    """Return an operand of the same shape and type with consecutive rows, in new memory."""
    batch, rows, columns = item.shape
    array = pyopencl.array.empty(queue, item.shape, item.component.numpy)
    return Operand(item.name, array, item.component, item.shape, (rows * columns if batch > 1 else 0, columns, 1))


def _copy(queue: Any, source: Operand, target: Operand, events: list[Any]) -> Any:
    """Enqueue a copy of the numbers of an operand, and return its event."""
    kernel = _copy_kernel(queue.context, queue.device, source.component.bits)
    batch, rows, columns = source.shape
    numbers = [np.int64(number) for item in (source, target) for number in (item.offset, *item.strides)]
    arguments = [source.array.base_data, target.array.base_data, *numbers]
    return kernel.enqueue(queue, (columns, rows, batch), None, arguments, events)


@first_arg_dependent_memoize  # type: ignore[untyped-decorator]
def _copy_kernel(context: Any, device: Any, bits: int) -> _Kernel:
    word = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}[bits]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)  # drivers write a log even if the build succeeds
        program = cl.Program(context, _text("copy.cl")).build([f"-DTYPE={word}"], [device])
    return _Kernel(program.copy, 1)
