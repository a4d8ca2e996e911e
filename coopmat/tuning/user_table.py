"""The user's table of tiles, to which tuning adds rows. docs/linalg.md describes its form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from coopmat.cache import write_whole
from coopmat.linalg.parameters import Tiling, listed, rows_of, table, user_table
from coopmat.matrices.variants import COMPONENT_TYPES

from .report import Row

_SCHEMA = 2
_CONDITIONS = ("needs", "rows", "whole")


def write(device: Any, route: str, rows: Sequence[Row], measured: str) -> bool:
    """Write the new tilings of rows to the user's table of a route, and return whether there were any.

    The table is replaced as a whole, or not at all. Rows of other types and classes stay.

    device: the pyopencl device. measured: where the tilings were measured.
    """
    found = [(row, row.new) for row in rows if row.new is not None]
    if not found:
        return False
    path = user_table(route)
    own: dict[str, Any] = {"schema": _SCHEMA, "measured": "", "gemm": {}}
    own |= json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for row, tiling in found:
        classes = own["gemm"].setdefault(row.kind, {})
        present = classes.get(row.shape_class, table(route)["gemm"][row.kind].get(row.shape_class, []))
        classes[row.shape_class] = _with(listed(present), _row_in_use(device, row), tiling, row.shape)
    if measured not in own["measured"]:
        own["measured"] = "; ".join(filter(None, (own["measured"], measured)))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, f"{json.dumps(own, indent=1)}\n".encode())
    table.cache_clear()
    return True


def _row_in_use(device: Any, row: Row) -> dict[str, Any]:
    kind = COMPONENT_TYPES[row.kind]
    return rows_of(device, (kind, kind), row.shape)[0]


def _with(rows: list[Any], used: dict[str, Any], tiling: Tiling, shape: tuple[int, int, int, int]) -> list[Any]:
    """Return the rows of a class with a new tiling for a shape.

    If the class has the row that was used, the tiling replaces this row and keeps its conditions; a row for multiples
    of its tile stays behind the new one, for other shapes. Otherwise, no row of
    the class holds for the shape, and the used row is that of another class: the tiling becomes the last row.
    """
    new: dict[str, Any] = {"tile": list(tiling.tile)}
    new |= {"block": list(tiling.block)} if tiling.block else {}
    new |= {"sub_group_size": tiling.sub_group_size} if tiling.sub_group_size else {}
    new |= {"panels": list(tiling.panels)} if tiling.panels else {}
    if used not in rows:
        return [*rows, new]
    kept = {name: used[name] for name in _CONDITIONS if name in used}
    if kept.get("whole"):
        # Other shapes that are multiples of the used tile, but not of the new one, keep the used one.
        if any(side % part for side, part in zip(shape[1:], tiling.tile, strict=True)):
            del kept["whole"]
        return [item for row in rows for item in ([new | kept, row] if row == used else [row])]
    return [new | kept if row == used else row for row in rows]
