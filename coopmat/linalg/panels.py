"""Copies of A and B in panels, which pack.cl makes and gemm.cl reads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pyopencl as cl

from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType

from .contexts import keep
from .operands import Description, Operand
from .parameters import Tiling

_LINE_BYTES = 64  # a cache line; pack.cl copies this much of each row of A, or of each column of B, at a time
# The largest number of multiply-adds of a product that flips A's bytes in place. It flips them for each tile of C anew.
# Compared with a copy of A, this is 5 % faster for 480 x 480 x 480, as fast for 512 x 512 x 512, and 7 % slower for
# 2048 x 2048 x 2048 (Zen 5).
_MOST_FLIPPED = 1 << 27
CHUNK = 256  # the columns of A that a subgroup copies; a multiple of each step


@dataclass(frozen=True)
class Panels:
    """An operand in panels.

    component: the component type of the panels.
    side: the rows of A, or the columns of B, in a panel.
    depth_of_tile: the columns of A, or rows of B, that are multiplied at a time.
    is_b: whether the operand is B.
    is_flipped: whether the panels have 128 more than A, or 128 less than B.
    has_sums: whether the sums of each row (column) are behind the panel.
    """

    operand: Operand
    component: ComponentType
    side: int
    depth_of_tile: int
    is_b: bool
    is_flipped: bool
    has_sums: bool

    @property
    def step(self) -> int:
        """The number of which a panel's columns of A, or rows of B, are a multiple."""
        return step_of(self.component, self.depth_of_tile)

    @property
    def length(self) -> int:
        """The number of rows of A, or of columns of B."""
        return self.operand.shape[2 if self.is_b else 1]

    @property
    def depth(self) -> int:
        """The length of rows of A, or of columns of B, with zeros at the end."""
        return -(-self.operand.shape[1 if self.is_b else 2] // self.step) * self.step

    @property
    def count(self) -> int:
        """The number of panels of a matrix."""
        return -(-self.length // self.side)

    @property
    def chunks(self) -> int:
        """The number of parts of a panel that a subgroup copies each."""
        return -(-self.depth // CHUNK)

    @property
    def size(self) -> int:
        """The distance of panels, in components."""
        sums = self.chunks * (4 // self.component.size) if self.has_sums else 0
        return self.side * (self.depth + sums)

    @property
    def batch(self) -> int:
        """The distance of the matrices of a batch, in components; 0 if there is one."""
        return self.size * self.count if self.operand.shape[0] > 1 else 0

    @property
    def bytes(self) -> int:
        """The size of all panels, in bytes, rounded up so that what follows is aligned to a line of a cache."""
        total = self.size * self.count * self.operand.shape[0] * self.component.size
        return -(-total // _LINE_BYTES) * _LINE_BYTES

    def options(self) -> tuple[str, ...]:
        """Return the compiler options that select the variant of pack.cl."""
        byte = self.component.size == 1
        values: dict[str, object] = {
            "TYPE": "uchar" if byte else self.operand.component.opencl_c,
            "PANEL_TYPE": "uchar" if byte else self.component.opencl_c,
            "OF_B": int(self.is_b),
            "BY_COLUMNS": int(not self.operand.is_by_rows),
            "SIDE": self.side,
            "DEPTH": _LINE_BYTES // self.component.size,
            "CHUNK": CHUNK,
            "LINE": line_of(self.component, self.depth_of_tile),
            "PACK": pack_of(self.component),
            "FLIP": int(self.is_flipped),
            "SUMS": int(self.has_sums),
        }
        return tuple(f"-D{name}={value}" for name, value in values.items())

    def numbers(self, offset: int) -> tuple[int, ...]:
        """Return the last arguments of pack.cl. The panels begin at `offset`, in components."""
        item = self.operand
        inner = item.shape[1 if self.is_b else 2]
        place = item.offset, item.line, item.strides[0], offset, self.size, self.batch
        return *place, self.length, inner, self.depth


def step_of(component: ComponentType, depth_of_tile: int) -> int:
    """Return the number of which a panel's columns of A, or rows of B, are a multiple."""
    return max(_LINE_BYTES // component.size, depth_of_tile)


def line_of(component: ComponentType, depth_of_tile: int) -> int:
    """Return the number of consecutive components of a row of A in a panel."""
    return step_of(component, depth_of_tile) if component.size < 4 else 1


def pack_of(component: ComponentType) -> int:
    """Return the number of consecutive components of a column of B in a panel."""
    return max(1, 4 // component.size)


def panels_of(operands: tuple[Operand, ...], tiling: Tiling) -> tuple[Panels, ...]:
    """Return the panels of A and B.

    Instructions multiply unsigned by signed bytes. Other bytes are flipped, which the sums of the other operand undo.
    """
    own = operands[0].component
    types = [COMPONENT_TYPES[name or ("u8" if own.is_integer else own.name)] for name in tiling.panels]
    flips = [row.is_integer and operand.component != row for row, operand in zip(types, operands[:2], strict=True)]
    tile = tiling.tile
    return tuple(Panels(operands[i], types[i], tile[i], tile[2], i == 1, flips[i], flips[1 - i]) for i in (0, 1))


def with_a_in_place(tiling: Tiling, operands: tuple[Operand, ...]) -> Tiling:
    """Return the tiling for products that read A in place and copy only B, or the same one if A must be copied.

    A's components need no sums of rows. Small products flip A's bytes in each tile, which takes less time than another
    launch. Tiles read a word of each row, and divide A without a rest.
    """
    if not tiling.panels:
        return tiling
    left, a = operands[0], panels_of(operands, tiling)[0]
    (batch, m, k), n = left.shape, operands[1].shape[2]
    # For tiles of 12 rows, compilers have too few registers for the addresses.
    height = next(height for height in (8, 4, 1) if m % height == 0)
    is_readable = left.component == a.component or (a.is_flipped and batch * m * n * k <= _MOST_FLIPPED)
    is_divided = tiling.tile[2] == pack_of(a.component) and (height > 1 or m == 1)
    if not (is_readable and is_divided and left.is_by_rows) or a.has_sums:
        return tiling
    return replace(tiling, tile=(height, *tiling.tile[1:]), panels=("", tiling.panels[1]))


@dataclass(frozen=True)
class Format:
    """How an operand B is packed.

    left: the name of the component type of A.
    """

    panels: Panels
    tiling: Tiling
    left: str

    def is_for(self, component: ComponentType) -> bool:
        """Return whether B can be multiplied by an A of this component type."""
        return component.name == self.left or (component.is_integer and self.panels.component.is_integer)

    def tiling_of(self, rows: int) -> Tiling:
        """Return the tiling for A's number of rows. Its tiles have the columns of a panel."""
        m, n, k = self.tiling.tile
        return replace(self.tiling, tile=(next((few for few in (1, 4) if rows <= few), m), n, k))


@dataclass(frozen=True)
class Packed:
    """An operand B as `pack` has copied it. `gemm` takes it in place of an array.

    described: the array that was packed. dtype, transpose: the arguments `dtype_b` and `trans_b` of its products.
    format: how it is packed; None if the device's products take the array itself.
    data: the array of the panels, or the array itself. The first product waits for its events.
    """

    described: Description
    dtype: str | None
    transpose: bool
    format: Format | None
    data: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of B, after its transposition."""
        *batch, rows, columns = self.described.shape
        return (*batch, columns, rows) if self.transpose else (*batch, rows, columns)


@dataclass
class Scratch:
    """Memory for panels. Only one thread at a time may use it.

    event: the last launch that uses the memory.
    """

    buffer: Any = None
    event: Any = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def launch(self, queue: Any, size: int, events: list[Any], enqueue: Callable[[Any, list[Any]], Any]) -> Any:
        """Enqueue launches that use the memory, and return the event of the last one.

        size: the number of bytes that the launches need. events: those to wait for, besides the memory's last launch.
        enqueue: a function that enqueues them, given the buffer and all events to wait for, and returns the last event.
        """
        with self.lock:
            if self.buffer is None or self.buffer.size < size:
                # OpenCL keeps the old buffer until the launches that use it have ended.
                self.buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, size)
            self.event = enqueue(self.buffer, events if self.event is None else [*events, self.event])
            queue.flush()  # launches in another queue may wait for the event
            return self.event


@keep
def scratch_of(context: Any, device: Any) -> Scratch:
    """Return the memory for the panels of all products on a device; the context keeps it."""
    return Scratch()
