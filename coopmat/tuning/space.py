"""The tilings that tuning tries: parameters for kernel_tuner, and the restriction of their combinations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from coopmat.linalg.parameters import Tiling, fits, is_permitted
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType

Parameters = dict[str, tuple[int, ...]]
"""Name of a parameter -> its values. A candidate has a value for each:

m, n, k: the shape of a tile.
panels: a number in PANELS of the type.
rows, columns, depth: the size of a block in tiles; 0 if there is none.
size: the work-items of a subgroup; 0 if any number can compute a tile.
"""

# Component type -> the panels that can hold it; the first choice is none.
PANELS: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(("f32", "f16"), ((), ("f32", "f32"))),
    **dict.fromkeys(("bf16", "e4m3", "e5m2"), ((), ("bf16", "bf16"), ("f32", "f32"))),
    **dict.fromkeys(("s8", "u8"), ((), ("u8", "s8"))),
    "f64": ((), ("f64", "f64")),
}
TYPES = tuple(PANELS)
_LINE_BYTES = 64  # of a row of panels, and of a vector register of a CPU
# On CPUs, the sums of a tile fit the vector registers. The compiler divides larger tiles, which are fast if they have
# at least _LARGE sums, and at least _TALL rows if the matrix has.
_REGISTERS, _LARGE, _LARGEST, _TALL = 32, 2048, 16384, 32
# The sums of AMX's tiles: two by two of 16 x 16. Each multiply-add moves them, so it should have several steps of K.
_AMX_SIDES, _AMX_BYTES = (32, 32), (128, 256)
# On CPUs, fewer rows than these read B too often, if the matrix has them.
_ROWS = 4
# On GPUs, the work-items of a work-group, the bytes of which a work-item copies a multiple, and the sums of a lane.
_GROUP, _PIECE, _SUMS_OF_LANE = range(32, 257), 8, 128


def parameters(route: str, kind: ComponentType) -> Parameters:
    """Return the parameters of a route for a component type of A and B."""
    lowered = LOWERED_ROUTES.get(route.partition(":")[0])
    if lowered is not None and lowered.has_one_work_item:
        return {
            "m": (1, 2, 4, 6, 8, 12, 16, 32, 64, 96),
            "n": (16, 32, 48, 64, 96, 128, 256, 512),
            "k": (1, 2, 4, 8, 16, 32, 64, 96, 128),
            "panels": tuple(range(len(PANELS[kind.name]))),
            **dict.fromkeys(("rows", "columns", "depth", "size"), (0,)),
        }
    if kind.name == "f32":  # no instruction multiplies floats exactly: each work-item computes a tile
        blocks = {"rows": (4, 8, 16), "columns": (8, 16), "depth": (8, 16, 32), "size": (1,)}
        return {"m": (2, 4, 8), "n": (4, 8), "k": (1,), "panels": (0,), **blocks}
    step = {8: 4, 2: 16, 1: 32}[kind.size]
    blocks = {"rows": (0, 1, 2, 4), "columns": (0, 1, 2, 4), "depth": (0, 1, 2, 4, 8), "size": (32,)}
    return {"m": (16, 32, 64), "n": (16, 32, 64), "k": (step, 2 * step), "panels": (0,), **blocks}


def tiling_of(values: Mapping[str, int], kind: ComponentType) -> Tiling:
    """Return the tiling with these values of the parameters."""
    tile = values["m"], values["n"], values["k"]
    block: tuple[int, ...] = tuple(side * count for side, count in zip(tile, _blocks(values), strict=True))
    block = block if all(block) else ()
    return Tiling(tile, block, values["size"] if block else 0, PANELS[kind.name][values["panels"]])


def values_of(tiling: Tiling, space: Parameters, kind: ComponentType) -> tuple[int, ...] | None:
    """Return the values of the parameters that describe a tiling, or None if it is not in the space."""
    counts = [block // side for block, side in zip(tiling.block, tiling.tile, strict=True)] if tiling.block else [0] * 3
    panels = PANELS[kind.name]
    number = panels.index(tiling.panels) if tiling.panels in panels else -1
    values = (*tiling.tile, number, *counts, tiling.sub_group_size or space["size"][0])
    return values if all(value in space[name] for name, value in zip(space, values, strict=True)) else None


def restriction(
    device: Any, kind: ComponentType, shape: tuple[int, int, int, int], lists: Mapping[str, Any]
) -> Callable[[Mapping[str, int]], bool]:
    """Return the function that decides whether a candidate is worth a trial on a pyopencl device.

    lists: the table with the user's lists of tiles, `allow` and `deny`.
    """

    def is_useful(values: Mapping[str, int]) -> bool:
        tiling = tiling_of(values, kind)
        on_gpu = values["size"] > 0
        return (
            (_is_useful_on_gpu(values, tiling, kind) if on_gpu else _is_useful_on_cpu(tiling, kind, shape[1]))
            and all(part <= max(16, 2 * side) for part, side in zip(tiling.tile, shape[1:], strict=True))
            and is_permitted({"tile": list(tiling.tile)}, lists)
            and fits(tiling, int(device.local_mem_size) if tiling.block else 0, (kind, kind))
        )

    return is_useful


def _is_useful_on_cpu(tiling: Tiling, kind: ComponentType, rows: int) -> bool:
    """Return whether a tile is worth a trial on a CPU. `rows` are those of the matrix A."""
    m, n, k = tiling.tile
    if m < min(rows, _ROWS):
        return False
    size = COMPONENT_TYPES[tiling.panels[0]].size if tiling.panels else kind.size
    if tiling.panels and (m, n) == _AMX_SIDES:
        return size <= 2 and k * size in _AMX_BYTES
    if m * n * max(4, kind.size) <= _REGISTERS * _LINE_BYTES:
        return 4 <= k * size <= _LINE_BYTES
    is_large = _LARGE <= m * n <= _LARGEST and m >= min(rows, _TALL)
    return is_large and not tiling.panels and _LINE_BYTES // 2 <= k * kind.size <= 2 * _LINE_BYTES


def _is_useful_on_gpu(values: Mapping[str, int], tiling: Tiling, kind: ComponentType) -> bool:
    """Return whether a tile and its block are worth a trial on a GPU."""
    rows, columns, depth = _blocks(values)
    m, n, _k = tiling.tile
    if m * n > _SUMS_OF_LANE * values["size"]:
        return False
    if not tiling.block:
        return rows == columns == depth == 0
    work_items, (block_m, block_n, block_k) = rows * columns * values["size"], tiling.block
    shares = (block_m * block_k * kind.size, block_n * block_k * kind.size)
    return work_items in _GROUP and all(share % (work_items * _PIECE) == 0 for share in shares)


def _blocks(values: Mapping[str, int]) -> tuple[int, int, int]:
    return values["rows"], values["columns"], values["depth"]
