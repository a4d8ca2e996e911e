"""The arrays of a launch in buffers. Arrays that overlap in the host's memory overlap in one buffer, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .driver import Buffer, LogicalDevice

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Region:
    """The bytes of one array in a buffer: `size` bytes from the byte `start`."""

    buffer: Buffer
    start: int
    size: int

    @property
    def address(self) -> int:
        """The address for kernels."""
        return self.buffer.address + self.start

    @property
    def data(self) -> Array:
        """The bytes, as an array that the host may read and write as long as the buffer exists."""
        return np.frombuffer(self.buffer.memory, np.uint8)[self.start : self.start + self.size]


def upload(device: LogicalDevice, arrays: Mapping[int, Array], buffers: list[Buffer]) -> dict[int, Region]:
    """Copy contiguous arrays to new buffers, which are added to `buffers`, and return key -> region."""
    regions: dict[int, Region] = {}
    for group in _overlapping(arrays):
        first = min(map(_address, group.values()))
        end = max(_address(array) + array.nbytes for array in group.values())
        buffers.append(Buffer(device, end - first))
        for key, array in group.items():
            regions[key] = Region(buffers[-1], _address(array) - first, array.nbytes)
            regions[key].data[:] = bytes_of(array)
    return regions


def bytes_of(array: Array) -> Array:
    """Return the bytes of a contiguous array, as a view."""
    return array.reshape(-1).view(np.uint8)


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _overlapping(arrays: Mapping[int, Array]) -> Iterator[dict[int, Array]]:
    """Yield the arrays in groups: two arrays that overlap are in the same group."""
    group: dict[int, Array] = {}
    end = 0
    for key in sorted(arrays, key=lambda key: _address(arrays[key])):
        start = _address(arrays[key])
        if group and start >= end:
            yield group
            group = {}
        group[key] = arrays[key]
        end = max(end, start + arrays[key].nbytes)
    if group:
        yield group
