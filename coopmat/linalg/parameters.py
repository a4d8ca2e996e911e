"""The tiles of the kernels: tables by route, component types and class of shape.

A table is a file of tables/, named after the route, in JSON:

    {"schema": 1, "measured": "where its tiles were measured; empty if they were not",
     "gemm": {"f32": {"default": [12, 32, 4], "rows": [1, 64, 16]}, "f16": {"default": [64, 64, 16, 128, 128, 32, 32]}}}

`gemm` has the component types of A, and for each the tile (m, n, k) of a class (`shape_class`). Four more numbers are a
block in local memory: its m, n and k, and the size of the subgroups that compute it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from coopmat.devices import describe, route_for, unit_for
from coopmat.matrices.variants import ComponentType


def shape_class(batch: int, m: int, n: int, k: int) -> str:
    """Return the class of a product's shape.

    "rows" has at most 16 rows; "batch" is several small products; "tall" and "wide" have one side that is four times
    as long as the other; "small", "medium" and "large" are by the number of results.
    """
    if m <= 16:
        return "rows"
    if batch > 1 and m * n <= 128 * 128:
        return "batch"
    if m >= 4 * n or n >= 4 * m:
        return "tall" if m > n else "wide"
    return "small" if m * n <= 128 * 128 else "medium" if m * n <= 640 * 640 else "large"


@dataclass(frozen=True)
class Tiling:
    """How a product is divided: each subgroup computes a tile, each work-group a block.

    tile: the tile's m, n and k.
    block: m and n of a block, and the columns of A that are copied to local memory at a time; empty if none are.
    sub_group_size: the work-items that compute a tile; 0 if there is no block.
    """

    tile: tuple[int, int, int]
    block: tuple[int, ...] = ()
    sub_group_size: int = 0

    @property
    def group(self) -> tuple[int, int, int]:
        """The m and n that a work-group computes, and the number of columns of A that it takes at a time."""
        m, n, k = self.block or self.tile
        return m, n, k

    @property
    def sub_groups(self) -> int:
        """The number of subgroups of a work-group."""
        return self.group[0] // self.tile[0] * (self.group[1] // self.tile[1])


def tiling_of(
    device: Any, types: tuple[ComponentType, ...], shape: tuple[int, int, int, int], *, in_pieces: bool
) -> Tiling:
    """Return the tiling of a product on a pyopencl device.

    in_pieces: whether A and B can be copied 16 bytes at a time; otherwise the tiling has no block.
    """
    rows = table(_route(device))["gemm"].get(types[0].name) or table("one")["gemm"]["f32"]
    m, n, k, *block = rows.get(shape_class(*shape)) or rows["default"]
    return Tiling((m, n, k), tuple(block[:3]), block[3]) if block and in_pieces else Tiling((m, n, k))


@cache
def _route(device: Any) -> str:
    """Return the route to the device's matrix instructions; if no such route is known, the device's default route."""
    described = describe(device)
    return unit_for(described) or route_for(described).matrices


@cache
def table(route: str) -> Any:
    """Return the table of a route, or that of `lanes` if it has none."""
    path = files(__package__) / "tables" / f"{route.partition('@')[0].partition(':')[0]}.json"
    text = (path if path.is_file() else files(__package__) / "tables" / "lanes.json").read_text(encoding="utf-8")
    return json.loads(text)
