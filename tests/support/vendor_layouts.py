"""Which component of a matrix each lane's registers hold, for the vendors' matrix instructions: a second account.

The emulated forms (`coopmat/matrices/library/vendors/*_emulated.cl`) follow the vendors' documents; these tables follow
other sources, named at each, so that the same slip in both is unlikely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from coopmat.matrices.instructions import Instruction
from coopmat.matrices.reference import Array

BITS = {"s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "f64": 64}
USES = "ABC"


def shape(row: Instruction, use: str) -> tuple[int, int]:
    return {"A": (row.m, row.k), "B": (row.k, row.n), "C": (row.m, row.n)}[use]


def component(row: Instruction, use: str) -> str:
    return {"A": row.a, "B": row.b, "C": row.c}[use]


def table(row: Instruction, use: str) -> Array:
    """The row and the column of each component: an array of (lanes, components of a lane, 2). Components are counted
    over the registers, in each from the lowest bits."""
    return _TABLES[row.family](row, use)


# --- NVIDIA: the MMA traits of CuTe, a part of CUTLASS 3 (mma_traits_sm75, mma_traits_sm80, mma_traits_sm89)

Modes = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Cute:
    """A layout of threads and values: modes of a size and a stride, the first one fastest. What the strides add up to
    counts a matrix of M x K, N x K or M x N components, the first dimension fastest."""

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

# By the shape and the bits of A's components.
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
        # A single row is held by both halves.
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


_TABLES = {"mma": _mma, "dpas": _dpas}
