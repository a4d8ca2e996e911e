"""The operations load_checked and store_checked: tiles that cross the edges of a matrix in memory.

Some tiles are entirely beyond the edges, and some matrices are empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from coopmat.matrices.numpy_reference import Array
from coopmat.matrices.variants import COMPONENT_TYPES, Layout, MatrixType, Use

from ..experiment import Argument, Experiment, Place, matrix_input
from ..profile import Profile
from ..values import whole_range
from ..writers.c import CWriter
from .base import Case, Operation, Setting, round_robin
from .stack import Stack, access

Bounds = tuple[int, int, int, int]

# The matrix in memory has this many more rows and columns than the tile.
_MORE_ROWS, _MORE_COLUMNS = 3, 2
_FAR = 2**32 - 1
# The largest number of components of a lowered tile: each becomes a separate branch.
_MOST = 256


def _bounds(matrix: MatrixType) -> list[Bounds]:
    """Return the bounds of tiles in a matrix in memory.

    Each has four numbers: the tile's first row and column, and the matrix's numbers of rows and columns.
    """
    rows, columns = matrix.rows, matrix.columns
    h, w = rows + _MORE_ROWS, columns + _MORE_COLUMNS
    return [
        (1, 2, h, w),  # inside, at the right edge
        (h - rows, 0, h, w),  # inside, at the lower edge
        (0, w - (columns + 1) // 2, h, w),  # across the right edge
        (h - (rows + 1) // 2, 1, h, w),  # across the lower edge
        (h - 1, w - 1, h, w),  # the last component alone
        (2, 1, rows + 1, columns),  # across both edges, of a matrix that is narrower than its memory
        (0, 0, 1, 1),  # across both edges, of a single component
        (h, 0, h, w),  # just beyond
        (0, w, h, w),
        (_FAR, 1, h, w),  # so far that the row number of the tile's next row overflows
        (1, _FAR, h, w),
        (0, 0, 0, w),  # an empty matrix
        (0, 0, h, 0),
    ]


def _cases(profile: Profile) -> Iterable[Case]:
    """Yield a variant for each matrix type, in one layout; in all layouts if the profile is exhaustive."""
    for matrix, size in profile.matrix_types:
        if matrix.rows * matrix.columns > _MOST and not (profile.is_native or profile.exhaustive):
            continue
        layouts = [Layout.ROW_MAJOR, Layout.COLUMN_MAJOR, *([Layout.PACKED] if matrix.use is Use.B else [])]
        for layout in round_robin(profile, matrix.name, layouts):
            yield Case(f"{matrix.name}.{layout.short}{profile.suffix(size)}", size, (matrix, layout))


def _larger(matrix: MatrixType) -> MatrixType:
    """Return the type of the matrix in memory that contains the tile."""
    return replace(matrix, rows=matrix.rows + _MORE_ROWS, columns=matrix.columns + _MORE_COLUMNS)


def _seen(bounds: Bounds, shape: tuple[int, int]) -> tuple[Array, Array, Array]:
    """Return a mask of the tile's components that are inside the matrix, and their rows and columns in memory."""
    row, column, rows, columns = bounds
    r, c = np.indices(shape, np.int64)
    r, c = r + row, c + column
    inside = (r < rows) & (c < columns)
    return inside, r[inside], c[inside]


def _where(bounds: list[Bounds]) -> Argument:
    """Return a buffer with the bounds, four numbers for each tile, which the kernel reads."""
    return Argument("where", COMPONENT_TYPES["u32"], np.array(bounds, np.uint32).ravel())


_GIVEN = "where[4 * n], where[4 * n + 1], where[4 * n + 2], where[4 * n + 3]"


def _load_places(setting: Setting) -> tuple[Place, Stack]:
    """Return the place of the matrix in memory, and the stack of the tiles that are output."""
    matrix, layout = setting.parameters
    return setting.place("x", _larger(matrix), layout), Stack.of(setting, "out", matrix, len(_bounds(matrix)))


def _load_experiment(setting: Setting) -> Experiment:
    matrix: MatrixType = setting.parameters[0]
    x, out = _load_places(setting)
    values = whole_range(setting.random(), matrix.component, x.matrix.rows, x.matrix.columns)
    tiles = []
    for item in _bounds(matrix):
        inside, rows, columns = _seen(item, (matrix.rows, matrix.columns))
        tile = np.zeros(inside.shape, values.dtype)
        tile[inside] = values[rows, columns]
        tiles.append(tile)
    return Experiment([matrix_input("x", x, values), _where(_bounds(matrix)), out.output(tiles)])


def _write_load(setting: Setting, w: CWriter) -> None:
    x, out = _load_places(setting)

    def body() -> None:
        m = w.variable(out.place.matrix, f"coop_mat_load_checked(x + {x.at(x.offset)}, {access(x)}, {_GIVEN})")
        w.line(out.store("n", m))

    w.block(f"for (uint n = 0; n < {out.count}; n++)", body)


def _store_places(setting: Setting) -> tuple[Place, Stack]:
    """Return the place of the tile, and the stack of the matrices in memory to which the kernel stores it."""
    matrix, layout = setting.parameters
    return setting.place("x", matrix), Stack.of(setting, "out", _larger(matrix), len(_bounds(matrix)), layout)


def _store_experiment(setting: Setting) -> Experiment:
    x, out = _store_places(setting)
    bounds, component = _bounds(x.matrix), x.matrix.component
    values = whole_range(setting.random(), component, x.matrix.rows, x.matrix.columns)
    before, indices = out.filled([]), out.place.indices()
    expected = before.copy()
    for number, item in enumerate(bounds):
        inside, rows, columns = _seen(item, (x.matrix.rows, x.matrix.columns))
        expected[indices[rows, columns] + number * out.span] = values[inside]
    return Experiment([matrix_input("x", x, values), _where(bounds), Argument("out", component, before, expected)])


def _write_store(setting: Setting, w: CWriter) -> None:
    _, out = _store_places(setting)
    m = w.load(w.experiment.argument("x"))
    call = f"coop_mat_store_checked({out.pointer('n')}, {m}, {out.access}, {_GIVEN});"
    w.block(f"for (uint n = 0; n < {out.count}; n++)", lambda: w.line(call))


OPERATIONS = (
    Operation("load_checked", _cases, _load_experiment, _write_load, ("c",), narrow=True),
    Operation("store_checked", _cases, _store_experiment, _write_store, ("c",), narrow=True),
)
