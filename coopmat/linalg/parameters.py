"""The tiles of the kernels: tables by route, component types and class of shape.

A table is a file of tables/, named after the route, in JSON:

    {"schema": 1, "measured": "where its tiles were measured; empty if they were not",
     "gemm": {"f32": {"default": [12, 32, 4], "rows": [1, 64, 16]}, ...}}

`gemm` has the component types of A, and for each the tile (m, n, k) of a class (`shape_class`).
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from coopmat.devices import describe, route_for
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


def tile_of(device: Any, types: tuple[ComponentType, ...], shape: tuple[int, int, int, int]) -> tuple[int, int, int]:
    """Return the tile (m, n, k) for a product on a pyopencl device."""
    rows = table(_route(device))["gemm"].get(types[0].name) or table("one")["gemm"]["f32"]
    m, n, k = rows.get(shape_class(*shape)) or rows["default"]
    return m, n, k


@cache
def _route(device: Any) -> str:
    return route_for(describe(device)).matrices


@cache
def table(route: str) -> Any:
    """Return the table of a route, or that of `lanes` if it has none."""
    path = files(__package__) / "tables" / f"{route.partition('@')[0].partition(':')[0]}.json"
    text = (path if path.is_file() else files(__package__) / "tables" / "lanes.json").read_text(encoding="utf-8")
    return json.loads(text)
