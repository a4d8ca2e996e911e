"""libclblast, called by ctypes on the device of `coopmat.linalg`."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Array, Case

_ROW_MAJOR, _PLAIN, _TRANSPOSED = 101, 111, 112


def library_path(name: str) -> str:
    """Return the file name of libclblast: `name`, or one that the dynamic loader finds; empty if there is none."""
    return name or ctypes.util.find_library("clblast") or ""


def _load(name: str) -> Any:
    """Return the library. Raises OSError if it cannot be loaded."""
    loader = Path(sys.prefix) / "lib" / "libOpenCL.so.1"
    if loader.exists():  # that of the extra `cpu`, for systems without one
        ctypes.CDLL(str(loader), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(name)


@dataclass
class _Call:
    """A call of the library. arrays: those that `arguments` point to; the last one is the result's."""

    function: Any
    arguments: list[Any]
    queue: Any
    arrays: list[Any]

    def run(self) -> None:
        status = self.function(*self.arguments)
        if status:
            raise RuntimeError(f"libclblast returned the status {status}")
        self.queue.finish()

    def result(self) -> Array:
        return np.asarray(self.arrays[-1].get().astype(np.float32))


def clblast_call(
    case: Case, inputs: Sequence[Array], device: str, name: str
) -> tuple[Callable[[], object], Callable[[], Array]]:
    """Prepare a product of floats or halves. Raises OSError; a run raises RuntimeError with the status of its call."""
    from .own import open_queue, to_device

    queue = open_queue(device)  # first, since it prepares the search for the driver's libraries
    library = _load(name)
    # A factor of halves is passed as its bits.
    prefix, dtype, scalar, one = {
        "f32": ("S", np.float32, ctypes.c_float, 1),
        "f16": ("H", np.float16, ctypes.c_ushort, 0x3C00),
    }[case.type]
    batch, m, n, k = (1,) * (4 - len(case.shape)) + case.shape
    result = np.zeros((batch, m, n) if batch > 1 else (m, n), dtype)
    arrays = [to_device(queue, array.astype(dtype)) for array in (*inputs, result)]
    is_transposed = case.operation == "gemv"
    handle = ctypes.c_void_p(queue.int_ptr)
    if is_transposed and m == 1:
        operation, flags, sizes = "gemv", [_ROW_MAJOR, _PLAIN], [n, k]
        x, matrix, y = ([_pointer(array)] for array in arrays)
        # Each array has an offset; a matrix the distance of its rows, and a vector that of its components.
        first, last = [*matrix, *_sizes(0, k), *x, *_sizes(0, 1)], [*y, *_sizes(0, 1)]
    else:
        operation, flags, sizes = "gemm", [_ROW_MAJOR, _PLAIN, _TRANSPOSED if is_transposed else _PLAIN], [m, n, k]
        rows, steps = (k, k if is_transposed else n, n), (m * k, k * n, m * n)
        a, b, last = (
            [_pointer(array), *_sizes(0, row, *([step] if batch > 1 else []))]
            for array, row, step in zip(arrays, rows, steps, strict=True)
        )
        first = [*a, *b]
        if batch > 1:
            operation, last = "gemmStridedBatched", [*last, *_sizes(batch)]
    arguments = [*map(ctypes.c_int, flags), *_sizes(*sizes), scalar(one), *first, scalar(0), *last]
    function = getattr(library, f"CLBlast{prefix}{operation}")
    call = _Call(function, [*arguments, ctypes.byref(handle), None], queue, arrays)
    return call.run, call.result


def _pointer(array: Any) -> Any:
    return ctypes.c_void_p(array.base_data.int_ptr)


def _sizes(*sizes: int) -> list[Any]:
    return [ctypes.c_size_t(size) for size in sizes]
