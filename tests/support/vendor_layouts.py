"""The components in each lane's registers for the vendors' matrix instructions, from a second source.

The emulated forms (`coopmat/matrices/library/vendors/*_emulated.cl`) follow the vendors' documents. These tables follow
other sources, named at each table, so that the same error in both is unlikely.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.vendor_instructions import Instruction

BITS = {
    "s4": 4,
    "u4": 4,
    "s8": 8,
    "u8": 8,
    "e4m3": 8,
    "e5m2": 8,
    "e4m3fnuz": 8,
    "e5m2fnuz": 8,
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "f32": 32,
    "s32": 32,
    "f64": 64,
}
USES = "ABC"


def shape(row: Instruction, use: str) -> tuple[int, int]:
    return {"A": (row.m, row.k), "B": (row.k, row.n), "C": (row.m, row.n)}[use]


def component(row: Instruction, use: str) -> str:
    return {"A": row.a, "B": row.b, "C": row.c}[use]


def table(row: Instruction, use: str) -> Array:
    """Return the row and column of each component, an array of shape (lanes, components of a lane, 2).

    The components of a lane are counted over its registers, in each register from the lowest bits.
    """
    return _TABLES[row.family](row, use)


# --- NVIDIA: the MMA traits of CuTe, a part of CUTLASS 3 (mma_traits_sm75, mma_traits_sm80, mma_traits_sm89)

Modes = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Cute:
    """A layout of CuTe: it maps thread and value to the index of a component.

    It consists of modes, each a size and a stride, fastest mode first. The sum of the strides is an index in a matrix
    of M x K, N x K or M x N components, whose first dimension is fastest.
    """

    threads: Modes
    values: Modes

    def table(self, row: Instruction, use: str) -> Array:
        rows, columns = shape(row, use)
        at = np.add.outer(_offsets(self.threads), _offsets(self.values))
        first = columns if use == "B" else rows
        places = (at // first, at % first) if use == "B" else (at % first, at // first)
        return np.stack(places, axis=-1)


def _offsets(modes: Modes) -> Array:
    indices = product(*(range(size) for size, _ in reversed(modes)))
    return np.array(
        [sum(i * stride for i, (_, stride) in zip(index, reversed(modes), strict=True)) for index in indices]
    )


_8X4 = Cute(((4, 8), (8, 1)), ((1, 0),))
_8X8 = Cute(((4, 16), (8, 1)), ((2, 8),))
_8X16 = Cute(((4, 32), (8, 1)), ((4, 8),))
_16X8 = Cute(((4, 32), (8, 1)), ((2, 16), (2, 8)))

# (shape, bits of A's components) -> layouts
_MMA = {
    ((8, 8, 4), 64): (_8X4, _8X4, _8X8),
    ((8, 8, 16), 8): (_8X16, _8X16, _8X8),
    ((16, 8, 8), 16): (_16X8, _8X8, _16X8),
    ((16, 8, 8), 32): (
        Cute(((4, 16), (8, 1)), ((2, 8), (2, 64))),
        Cute(((4, 8), (8, 1)), ((2, 32),)),
        _16X8,
    ),
    ((16, 8, 16), 16): (
        Cute(((4, 32), (8, 1)), ((2, 16), (2, 8), (2, 128))),
        Cute(((4, 16), (8, 1)), ((2, 8), (2, 64))),
        _16X8,
    ),
    ((16, 8, 32), 8): (
        Cute(((4, 64), (8, 1)), ((4, 16), (2, 8), (2, 256))),
        Cute(((4, 32), (8, 1)), ((4, 8), (2, 128))),
        _16X8,
    ),
}


def _mma(row: Instruction, use: str) -> Array:
    layouts = _MMA[(row.m, row.n, row.k), BITS[row.a]]
    return layouts[USES.index(use)].table(row, use)


# --- Intel: the MMA traits of CuTe in CUTLASS-SYCL (mma_traits_xe_legacy) for subgroups of 16. For subgroups of 8 there
# are none: oneDNN's OpenCL emulation of its mmad functions says the same of both sizes. With E components to 32 bits,
# register m of A has row m, columns E * lane + e; register j of B has rows E * j + e, column lane.


def _dpas(row: Instruction, use: str) -> Array:
    return _xe(row, use).table(row, use) if row.n == 16 else _mmad(row, use)


def _xe(row: Instruction, use: str) -> Cute:
    m, n, k = row.m, row.n, row.k
    if use == "B":
        return Cute(((n, 1),), ((k, n),))
    if use == "C":
        return Cute(((n, m),), ((m, 1),))
    if row.a == "tf32":
        # Both halves hold a single row.
        return Cute(((8, m), (2, 1)), ((m // 2, 2),)) if m > 1 else Cute(((8, 1), (2, 0)), ((1, 0),))
    columns = k // n
    return Cute(((n, m * columns),), ((columns, m), (m, 1)))


def _mmad(row: Instruction, use: str) -> Array:
    packed = 32 // BITS[component(row, use)]
    rows, columns = shape(row, use)
    entries = np.empty((row.lanes, rows * columns // row.lanes, 2), int)
    for lane in range(row.lanes):
        if use == "A":
            entries[lane] = [(m, packed * lane + e) for m in range(rows) for e in range(packed)]
        else:
            entries[lane] = [(packed * register + e, lane) for register in range(rows // packed) for e in range(packed)]
    return entries


# --- AMD, RDNA3 and CDNA: AMD's matrix instruction calculator, whose formulas go from a component to its place: the
# lanes that hold it, and its slot in the registers. Rows are i, columns j, the third dimension k.


def _from_places(row: Instruction, use: str, places: Callable[[int, int], tuple[Sequence[int], int]]) -> Array:
    """Return the table for a function from (row, column) to the lanes and the slot that hold the component."""
    rows, columns = shape(row, use)
    contents: dict[tuple[int, int], tuple[int, int]] = {}
    for at in product(range(rows), range(columns)):
        lanes, slot = places(*at)
        for lane in lanes:
            assert (lane, slot) not in contents
            contents[lane, slot] = at
    slots = len(contents) // row.lanes
    return np.array([[contents[lane, slot] for slot in range(slots)] for lane in range(row.lanes)])


def _rdna3(row: Instruction, use: str) -> Array:
    if use == "A":
        return _from_places(row, use, lambda i, k: ((i, i + 16), k))
    if use == "B":
        return _from_places(row, use, lambda k, j: ((j, j + 16), k))
    return _from_places(row, use, lambda i, j: ((16 * i % 32 + j,), 16 * i // 32))


def _cdna(row: Instruction, use: str) -> Array:
    size, each = row.m, row.m * row.k // 64
    if use == "A":
        return _from_places(row, use, lambda i, k: ((size * (k // each) + i,), k % each))
    if use == "B":
        return _from_places(row, use, lambda k, j: ((size * (k // each) + j,), k % each))
    if row.c == "f64":
        return _from_places(row, use, lambda i, j: ((16 * (i % 4) + j,), i // 4))
    return _from_places(row, use, lambda i, j: ((size * (i // 4) % 64 + j,), 4 * (i // 8) * (size > 16) + i % 4))


# --- AMD, RDNA4, which that calculator does not have: IREE's single-subgroup layouts of WMMAR4. Each dimension is
# divided in `outer` times `thread` times `element`, a lane's place in it is (lane / stride) % thread; of a lane, the
# components are counted with the last dimension fastest.

_RDNA4 = {
    "A": ((1, 1), (16, 2), (1, 16), (1, 8)),
    "B": ((1, 1), (2, 16), (16, 1), (8, 1)),
    "C": ((1, 1), (2, 16), (16, 1), (8, 1)),
}


def _rdna4(row: Instruction, use: str) -> Array:
    outer, thread, stride, element = _RDNA4[use]
    entries = [
        [
            tuple((o[d] * thread[d] + lane // stride[d] % thread[d]) * element[d] + e[d] for d in (0, 1))
            for o in product(*map(range, outer))
            for e in product(*map(range, element))
        ]
        for lane in range(row.lanes)
    ]
    return np.array(entries)


def _wmma(row: Instruction, use: str) -> Array:
    return _rdna3(row, use) if row.devices == ("gfx11",) else _rdna4(row, use)


_TABLES = {"mma": _mma, "dpas": _dpas, "wmma": _wmma, "mfma": _cdna}
