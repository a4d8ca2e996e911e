"""The arrays of a call: their component types, strides and memory, checked before anything is enqueued."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyopencl as cl
from pyopencl.array import Array

from coopmat.matrices.numpy_reference import BY_DTYPE
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, Kind


@dataclass(frozen=True)
class Operand:
    """An array as a batch of matrices. Strides and the offset are in components.

    array: the pyopencl array.
    shape: (matrices in the batch, rows, columns).
    strides: the strides of these three dimensions; that of a batch of one matrix is 0.
    """

    name: str
    array: Any
    component: ComponentType
    shape: tuple[int, int, int]
    strides: tuple[int, int, int]

    @property
    def offset(self) -> int:
        return int(self.array.offset) // self.component.size

    @property
    def is_by_rows(self) -> bool:
        """Whether the components of a row are consecutive in memory, and the rows follow each other upwards."""
        return self._is_consecutive(2, 1)

    @property
    def is_by_columns(self) -> bool:
        """Whether the components of a column are consecutive in memory, and the columns follow each other upwards."""
        return self._is_consecutive(1, 2)

    def _is_consecutive(self, inner: int, outer: int) -> bool:
        is_dense = self.shape[inner] <= 1 or self.strides[inner] == 1
        return is_dense and (self.shape[outer] <= 1 or self.strides[outer] >= 0) and self.strides[0] >= 0

    @property
    def line(self) -> int:
        """The distance of consecutive rows, or of consecutive columns if the operand is not by rows."""
        outer = 1 if self.is_by_rows else 2
        return self.strides[outer] if self.shape[outer] > 1 else 0

    def transposed(self) -> Operand:
        (batch, rows, columns), (step, down, right) = self.shape, self.strides
        return Operand(self.name, self.array, self.component, (batch, columns, rows), (step, right, down))


def operand(name: str, array: Any, dtype: str | None, queue: Any, transpose: bool) -> Operand:
    """Return an argument as an operand, or its transpose.

    Raises TypeError for another object or component type, ValueError for another number of dimensions, strides that
    are no whole components, or memory of another context than the queue's.
    """
    if not isinstance(array, Array):
        raise TypeError(f"{name}: expected a pyopencl.array.Array, not {type(array).__name__}")
    component = component_of(name, array.dtype, dtype)
    if array.ndim not in (2, 3):
        raise ValueError(f"{name}: expected 2 dimensions, or 3 for a batch, not {array.ndim}")
    require_memory(name, array, queue)
    if array.offset % component.size or any(stride % component.size for stride in array.strides):
        raise ValueError(f"{name}: its offset and strides must be multiples of {component.size} bytes")
    shape = (1,) * (3 - array.ndim) + tuple(array.shape)
    strides = (0,) * (3 - array.ndim) + tuple(stride // component.size for stride in array.strides)
    if shape[0] == 1:
        strides = (0, *strides[1:])
    result = Operand(name, array, component, shape, strides)
    return result.transposed() if transpose else result


def require_memory(name: str, array: Any, queue: Any) -> None:
    """Raise ValueError if an array lies in memory of another context than the queue's, or outside its buffer."""
    if array.base_data is None or not array.size:
        return
    if array.base_data.context != queue.context:
        raise ValueError(f"{name}: its memory belongs to another context than the queue's")
    first, last = _reach(array)
    if array.offset + first < 0 or array.offset + last > array.base_data.size:
        raise ValueError(f"{name}: some of its elements lie outside its buffer of {array.base_data.size} bytes")


def component_of(name: str, dtype: Any, word: str | None) -> ComponentType:
    """Return the component type of an array with a dtype of numpy. `word` names a type that numpy lacks, or is None.

    Raises TypeError if there is no such component type, or if its numbers have another size than the dtype's.
    """
    component = BY_DTYPE.get(str(dtype)) if word is None else COMPONENT_TYPES.get(word)
    if component is None:
        names = ", ".join(sorted(BY_DTYPE if word is None else COMPONENT_TYPES))
        hint = '; for bfloat16 numbers in an array of uint16, name the type "bf16"' if word is None else ""
        raise TypeError(f"{name}: the type {word or dtype} is not supported (supported: {names}){hint}")
    if str(dtype) != component.numpy:
        raise TypeError(f"{name}: an array of {component.name} has the dtype {component.numpy}, not {dtype}")
    return component


def extent(array: Any) -> tuple[int, int, int]:
    """Return (buffer, first byte, byte behind the last) of an array's elements. A sub-buffer counts as its parent."""
    begin, parent = int(array.offset), array.base_data
    if parent is None or not array.size:
        return 0, 0, 0
    root = parent.get_info(cl.mem_info.ASSOCIATED_MEMOBJECT)
    if root is not None:
        begin, parent = begin + parent.get_info(cl.mem_info.OFFSET), root
    first, last = _reach(array)
    return parent.int_ptr, begin + first, begin + last


def _reach(array: Any) -> tuple[int, int]:
    """Return the first byte of an array and the byte behind its last one, counted from its offset."""
    steps = [(length - 1) * stride for length, stride in zip(array.shape, array.strides, strict=True)]
    return sum(min(0, step) for step in steps), sum(max(0, step) for step in steps) + array.dtype.itemsize


def require_distinct(output: Operand, inputs: Mapping[str, Any]) -> None:
    """Raise ValueError if the output shares memory with an input array, or if its elements may share memory.

    They do not if each stride is greater than the extent of the dimensions with smaller strides.
    """
    buffer, begin, end = extent(output.array)
    for name, array in inputs.items():
        other, first, last = extent(array)
        if buffer == other and begin < last and first < end:
            raise ValueError(f"{output.name}: its memory overlaps {name}'s")
    covered = 0
    dimensions = zip(output.shape, output.strides, strict=True)
    for stride, length in sorted((abs(stride), length) for length, stride in dimensions if length > 1):
        if stride <= covered:
            raise ValueError(
                f"{output.name}: several of its elements may share memory (strides {output.array.strides})"
            )
        covered += stride * (length - 1)


def is_integer(component: ComponentType) -> bool:
    return component.kind is Kind.INTEGER
