"""The arrays of a call: their component types, strides and memory, checked before anything is enqueued."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyopencl as cl
from pyopencl.array import Array

from coopmat.matrices.numpy_reference import BY_DTYPE
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType

NUMBERS = (int, float, np.integer, np.floating)


class Description(NamedTuple):
    """What a product needs to know of an array before it runs. Strides and the offset are in bytes."""

    dtype: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


def describe_array(name: str, array: Any) -> Description:
    """Return the description of an argument. Raises TypeError if it is no pyopencl array."""
    if not isinstance(array, Array):
        number_too = " or a number" if name in ("scale_a", "scale_b", "lengths") else ""
        raise TypeError(f"{name}: expected a pyopencl.array.Array{number_too}, not {type(array).__name__}")
    return Description(array.dtype, tuple(array.shape), tuple(array.strides), int(array.offset))


def events_before(queue: Any, wait_for: Any) -> list[Any]:
    """Return the events to wait for. Raises TypeError if the queue or an event is another object."""
    if not isinstance(queue, cl.CommandQueue):
        raise TypeError(f"queue: expected a pyopencl.CommandQueue, not {type(queue).__name__}")
    events = list(wait_for or ()) if isinstance(wait_for, Iterable | None) else [wait_for]
    if not all(isinstance(event, cl.Event) for event in events):
        raise TypeError("wait_for: expected a sequence of pyopencl.Event")
    return events


def number(name: str, value: Any) -> float:
    """Return a factor as a number of Python. Raises TypeError for other objects."""
    if not isinstance(value, NUMBERS):
        raise TypeError(f"{name}: expected a number, not {type(value).__name__}")
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class Operand:
    """An array as a batch of matrices. Strides and the offset are in components.

    shape: (matrices in the batch, rows, columns).
    strides: the strides of these three dimensions; that of a batch of one matrix is 0.
    """

    name: str
    component: ComponentType
    shape: tuple[int, int, int]
    strides: tuple[int, int, int]
    offset: int = 0

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
        return replace(self, shape=(batch, columns, rows), strides=(step, right, down))

    def dense(self) -> Operand:
        """Return the operand for a copy in new memory, with consecutive rows."""
        batch, rows, columns = self.shape
        return replace(self, strides=(rows * columns if batch > 1 else 0, columns, 1), offset=0)


def vectors_of(operands: tuple[Operand, ...]) -> str:
    """Return what dot.cl can do with A and B: "axpys", "dots" or nothing (""); their names in a table."""
    if operands[1].is_by_rows:
        return "axpys"
    return "dots" if operands[0].is_by_rows else ""


def operand(name: str, array: Description, dtype: str | None, *, transpose: bool = False) -> Operand:
    """Return an argument as an operand, or its transpose.

    Raises TypeError for another component type, and ValueError for another number of dimensions, or strides that are no
    whole components.
    """
    component = component_of(name, array.dtype, dtype)
    dimensions = len(array.shape)
    if dimensions not in (2, 3):
        raise ValueError(f"{name}: expected 2 dimensions, or 3 for a batch, not {dimensions}")
    if array.offset % component.size or any(stride % component.size for stride in array.strides):
        raise ValueError(f"{name}: its offset and strides must be multiples of {component.size} bytes")
    batch, rows, columns = (1,) * (3 - dimensions) + array.shape
    step, down, right = (0,) * (3 - dimensions) + tuple(stride // component.size for stride in array.strides)
    strides = (step if batch != 1 else 0, down, right)
    result = Operand(name, component, (batch, rows, columns), strides, array.offset // component.size)
    if 0 in array.shape:  # its strides have no meaning; pyopencl.array.to_device makes them 0
        result = result.dense()
    return result.transposed() if transpose else result


def require_separate_elements(output: Operand) -> None:
    """Raise ValueError if several elements of the output may share memory.

    They do not if each stride is greater than the extent of the dimensions with smaller strides.
    """
    covered = 0
    dimensions = zip(output.shape, output.strides, strict=True)
    for stride, length in sorted((abs(stride), length) for length, stride in dimensions if length > 1):
        if stride <= covered:
            raise ValueError(
                f"{output.name}: several of its elements may share memory (strides {output.strides}, in components)"
            )
        covered += stride * (length - 1)


def require_memory(arrays: Mapping[str, Any], queue: Any, result: str = "c") -> None:
    """Raise ValueError if an array lies in memory of another context than the queue's, or outside its buffer.

    Also raise it if the array with the name `result` shares memory with another one.
    """
    context, extents = queue.context, {}
    for name, array in arrays.items():
        memory = array.base_data
        if memory is None or not array.size:
            continue
        if memory.context != context:
            raise ValueError(f"{name}: its memory belongs to another context than the queue's")
        first, last = _reach(array.shape, array.strides, array.dtype.itemsize)
        begin, size = int(array.offset), memory.size
        if begin + first < 0 or begin + last > size:
            raise ValueError(f"{name}: some of its elements lie outside its buffer of {size} bytes")
        # A sub-buffer counts as its parent.
        root = memory.get_info(cl.mem_info.ASSOCIATED_MEMOBJECT)
        if root is not None:
            begin, memory = begin + memory.get_info(cl.mem_info.OFFSET), root
        extents[name] = memory.int_ptr, begin + first, begin + last
    buffer, begin, end = extents.pop(result, (0, 0, 0))
    for name, (other, first, last) in extents.items():
        if buffer == other and begin < last and first < end:
            raise ValueError(f"{result}: the memory from its first to its last element overlaps {name}'s memory")


@lru_cache(maxsize=512)
def _reach(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> tuple[int, int]:
    """Return the first byte of an array and the byte behind its last one, counted from its offset.

    size: the bytes of an element.
    """
    steps = [(length - 1) * stride for length, stride in zip(shape, strides, strict=True)]
    return sum(min(0, step) for step in steps), sum(max(0, step) for step in steps) + size


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


@contextmanager
def renamed_errors(**names: str) -> Iterator[None]:
    """Rename the arguments that a TypeError or ValueError mentions: old name -> new name.

    The error's text begins with arguments and a colon, and may mention others as "NAME's".
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        head, colon, rest = str(error).partition(": ")
        head = ", ".join(names.get(name, name) for name in head.split(", "))
        rest = re.sub(r"\b\w+(?='s)", lambda match: names.get(match[0], match[0]), rest)
        raise type(error)(head + colon + rest) from error
