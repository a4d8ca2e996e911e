"""A library that `coopmat export` wrote, compiled by a C compiler and called by ctypes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coopmat.devices import opencl
from coopmat.layer import library as layer

TYPES = (("f16",), ("s8",))
OTHERS = (("f32", "f32", "f16"), ("u8", "s8", "s8"))
# Functions of the header that are static there.
_SHIM = """
#define GEMM_IMPLEMENTATION
#include "gemm.h"
size_t library_size(void) { return sizeof(gemm_library); }
const gemm_choice *chosen(int number, const cl_ulong *sizes, cl_ulong row_a, cl_ulong row_b) {
    const gemm_matrix a = { NULL, 0, row_a }, b = { NULL, 0, row_b };
    return gemm_choose(&gemm_products[number], sizes, &a, &b);
}
void tile_of(const gemm_choice *choice, cl_ulong *tile) {
    int i;
    for (i = 0; i < 3; i++)
        tile[i] = choice->tile[i];
    tile[3] = choice->copies[0].program >= 0;
    tile[4] = choice->piece;
}
"""


def compiler(name: str) -> str:
    """Return the path of a compiler. If it is not installed, skip the test."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"this machine has no {name}")
    return found


def loader() -> str:
    """Return the path of the OpenCL loader that this process has loaded."""
    opencl().get_platforms()
    lines = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split()[-1] for line in lines if "libOpenCL" in line)


class CLibrary:
    """A compiled header, set up for the device of a queue."""

    def __init__(self, header: str, directory: Path, queue: Any) -> None:
        (directory / "gemm.h").write_text(header)
        (directory / "shim.c").write_text(_SHIM)
        shared = directory / "gemm.so"
        command = [compiler("gcc"), "-std=c99", "-shared", "-fPIC", f"-I{layer.INCLUDE}", "-o", str(shared)]
        subprocess.run([*command, str(directory / "shim.c"), loader()], check=True, capture_output=True)
        self.code, self.queue = ctypes.CDLL(str(shared)), queue
        self.memory = ctypes.create_string_buffer(self.code.library_size())
        context, device = queue.context.int_ptr, queue.device.int_ptr
        assert self.code.gemm_create(self.memory, ctypes.c_void_p(context), ctypes.c_void_p(device)) == 0

    def release(self) -> None:
        self.code.gemm_release(self.memory)
        assert not any(self.memory.raw)

    def call(
        self,
        function: str,
        sizes: tuple[int, int, int],
        a: tuple[Any, int, int],
        b: tuple[Any, int, int],
        c: tuple[Any, int, int],
        alpha: float = 1,
        beta: float = 0,
        *,
        real: Any = ctypes.c_float,
        queue: Any = None,
        wait_for: tuple[Any, ...] = (),
    ) -> tuple[int, Any]:
        """Call a function with matrices (buffer, offset, distance of rows); return its result and the event."""

        def matrix(item: tuple[Any, int, int]) -> tuple[Any, ...]:
            memory, offset, row = item
            return ctypes.c_void_p(memory and memory.int_ptr), ctypes.c_size_t(offset), ctypes.c_size_t(row)

        event = ctypes.c_void_p()
        waits = (ctypes.c_void_p * len(wait_for))(*(item.int_ptr for item in wait_for)) if wait_for else None
        result = getattr(self.code, function)(
            *(self.memory, ctypes.c_void_p((queue or self.queue).int_ptr), *map(ctypes.c_size_t, sizes)),
            *(*matrix(a), *matrix(b), real(alpha), real(beta), *matrix(c)),
            *(len(wait_for), waits, ctypes.byref(event)),
        )
        return result, opencl().Event.from_int_ptr(event.value, retain=False) if event.value else None

    def chosen(self, number: int, m: int, n: int, k: int) -> tuple[int, ...]:
        """Return the choice for a product of dense matrices: the tile's m, n and k, 1 if it has panels, the piece."""
        tile = (ctypes.c_ulonglong * 5)()
        self.code.chosen.restype = ctypes.c_void_p
        sizes = (ctypes.c_ulonglong * 3)(m, n, k)
        choice = self.code.chosen(number, sizes, ctypes.c_ulonglong(k), ctypes.c_ulonglong(n))
        self.code.tile_of(ctypes.c_void_p(choice), tile)
        return tuple(tile)


class Matrix:
    """A matrix of integers in a buffer, whose rows begin at `offset` and are `row` components apart."""

    def __init__(self, queue: Any, values: Any, offset: int = 0, padding: int = 0) -> None:
        rows, columns = values.shape
        self.queue, self.offset, self.row, self.shape = queue, offset, columns + padding, values.shape
        self.whole = np.full(offset + rows * self.row + 7, 99, values.dtype)  # components around the matrix
        self._view(self.whole)[:] = values
        flags = opencl().mem_flags
        self.buffer = opencl().Buffer(queue.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=self.whole)

    @property
    def argument(self) -> tuple[Any, int, int]:
        return self.buffer, self.offset, self.row

    def _view(self, whole: Any) -> Any:
        rows, columns = self.shape
        return whole[self.offset : self.offset + rows * self.row].reshape(rows, self.row)[:, :columns]

    def values(self) -> Any:
        """Return the values on the device. What is around them must be as before."""
        result = np.empty_like(self.whole)
        opencl().enqueue_copy(self.queue, result, self.buffer)
        values = self._view(result).copy()
        self._view(self.whole)[:] = self._view(result)[:] = 0
        assert np.array_equal(self.whole, result)
        return values
