"""Where the components of an operand are in memory: strides, offset, and the bytes around them."""

from __future__ import annotations

import random
from dataclasses import dataclass

SUB_BUFFER_ALIGNMENT = 1024


@dataclass(frozen=True)
class Layout:
    """The place of an operand.

    shape, strides: of the array; strides are in components.
    first: the component, counted from the beginning of the place, that has the indices 0.
    extent: the number of components from the lowest to the highest address.
    front, back: the components of the guard zones before and behind.
    is_sub_buffer: whether the array is in a sub-buffer.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    first: int
    extent: int
    front: int
    back: int
    is_sub_buffer: bool

    def __str__(self) -> str:
        where = "sub-buffer, " if self.is_sub_buffer else ""
        return f"{self.shape} strides {self.strides} ({where}first {self.front + self.first})"


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of an array without gaps, row by row."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def draw(source: random.Random, shape: tuple[int, ...], is_result: bool = False) -> Layout:
    """Draw a layout. Components of a result never share memory."""
    front = source.choice([0, 1, 8, 16, 37]) if source.random() < 0.7 else 0
    back = source.choice([1, 8, 16, 40])
    is_sub_buffer = source.random() < 0.15
    count = 1
    for size in shape:
        count *= size
    if source.random() < 0.4 or not shape:
        return Layout(shape, contiguous(shape), 0, count, front, back, is_sub_buffer)
    strides, first, extent = _random_strides(source, shape, is_result)
    if not count:
        first = extent = 0
    return Layout(shape, strides, first, extent, front, back, is_sub_buffer)


def _random_strides(source: random.Random, shape: tuple[int, ...], is_result: bool) -> tuple[tuple[int, ...], int, int]:
    """Return strides, the first component and the extent."""
    axes = list(range(len(shape)))[::-1]
    if source.random() < 0.4:
        source.shuffle(axes)
    strides = [0] * len(shape)
    first, extent = 0, 1
    for place, axis in enumerate(axes):
        size = max(shape[axis], 1)
        if not is_result and source.random() < 0.04:
            continue  # a stride of 0
        if place == 0:
            step = source.choice([1, 1, 1, 1, 2, 3])
        else:
            step = extent + source.choice([0, 0, 1, 2, 5, 8, 16])
        reach = step * (size - 1)
        is_negative = source.random() < 0.15
        strides[axis] = -step if is_negative else step
        first += reach if is_negative else 0
        extent += reach
    return tuple(strides), first, extent
