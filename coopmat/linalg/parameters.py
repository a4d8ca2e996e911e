"""The tiles of the kernels: tables by route, component types and class of shape.

A table is a file of tables/, named after the route, in JSON:

    {"schema": 2, "measured": "where its tiles were measured; empty if they were not",
     "gemm": {"f32": {"default": {"tile": [12, 32, 4]}, "rows": {"tile": [1, 64, 16]}},
              "f16": {"default": {"tile": [64, 64, 16], "block": [128, 128, 32], "sub_group_size": 32}},
              "s8": {"default": {"tile": [12, 32, 4], "panels": ["u8", "s8"], "needs": "vpdpbusd"},
                     "wide": [{"tile": [64, 128, 64], "rows": 128}, {"tile": [48, 32, 64], "whole": true}]}}}

`gemm` has the component types of A, and for each the parameters of a class (`shape_class`): what `Tiling` documents.
They may have conditions: `needs` names an instruction of the device, `rows` is the largest m, and `whole` requires
that m, n and k are multiples of the tile's. The first parameters of a list whose conditions hold are used; if there are
none, those of the default class, then those of "f32". Before these come those of "dots", if A is by rows and B by
columns, or those of "axpys", if B is by rows: they are for dot.cl.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from coopmat.devices import describe, route_for, unit_for
from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType, MatrixType, Use, default_operands
from coopmat.runtime.instruction_probe import instructions

# The component types of the result, and of A and B, that dot.cl has.
_DOT_RESULTS = frozenset({"f16", "f32", "f64"})
_DOT_TYPES = _DOT_RESULTS | {"bf16"}
MOST_ROWS = 16  # of the class "rows"


def shape_class(batch: int, m: int, n: int, k: int) -> str:
    """Return the class of a product's shape.

    "rows" has at most 16 rows; "batch" is several small products; "tall" and "wide" have one side that is four times
    as long as the other; "small", "medium" and "large" are by the number of results.
    """
    if m <= MOST_ROWS:
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
    sub_group_size: the work-items that compute a tile; 0 if any number can.
    panels: the component types of the panels into which A and B are copied; empty if they are not. That of A is an
        empty text if only B is copied.
    dot: the work-items that compute the tile with vectors of k components (dot.cl); 0 if matrices are multiplied.
    """

    tile: tuple[int, int, int]
    block: tuple[int, ...] = ()
    sub_group_size: int = 0
    panels: tuple[str, ...] = ()
    dot: int = 0

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> Tiling:
        """Return the tiling of a row of a table."""
        tile, size = tuple(row["tile"]), row.get("sub_group_size", 0)
        return cls(tile, tuple(row.get("block", ())), size, tuple(row.get("panels", ())), row.get("dot", 0))

    @property
    def group(self) -> tuple[int, int, int]:
        """The m and n that a work-group computes, and the number of columns of A that it takes at a time."""
        m, n, k = self.block or self.tile
        return m, n, k

    @property
    def sub_groups(self) -> int:
        """The number of subgroups of a work-group."""
        return self.group[0] // self.tile[0] * (self.group[1] // self.tile[1])

    def local_size(self, size: int) -> int:
        """Return the most local memory that a block needs, in bytes. `size` is that of a component."""
        m, n, k = self.group
        pad = 16 // size
        return 2 * size * sum(side * k + max(side, k) * pad for side in (m, n))


class TableError(ValueError):
    """An exception that reports a user's table that has another form, or excludes all tiles."""


def tilings_of(
    device: Any, types: tuple[ComponentType, ...], shape: tuple[int, int, int, int], by: str = ""
) -> list[Tiling]:
    """Return the tilings of a product on a pyopencl device, the best first.

    by: "dots" if A is by rows and B by columns, "axpys" if B is by rows, or an empty text: what dot.cl can do. The
    kernel's subgroups decide between the tilings; their size is known when the kernel is built. The last tiling fits
    any size.
    """
    if _forced:
        return [tiling for tiling in _forced if _fits(tiling, device, types, shape)]
    tilings = [tiling for row in rows_of(device, types, shape) for tiling in tilings_of_row(row)]
    if not tilings:
        raise TableError(
            f"{user_table(route_of(device))}: its lists allow and deny exclude all tiles for {types[0].name}"
        )
    dots = [Tiling.from_dict(row) for row in dots_of(device, types, shape, by)[:1]]
    return [*(x for x in [*dots, *tilings] if _fits(x, device, types, shape)), Tiling(tilings[-1].tile)]


def dots_of(
    device: Any,
    types: tuple[ComponentType, ...],
    shape: tuple[int, int, int, int],
    by: str,
    *,
    with_excluded: bool = False,
) -> list[dict[str, Any]]:
    """Return the rows of the table for dot.cl and a shape, the best first.

    by: "dots" or "axpys", or an empty text: for none. with_excluded: whether to ignore the user's lists.
    """
    lists = table(route_of(device))
    rows = listed(lists["gemm"].get(types[0].name, {}).get(by, []))
    rows = [row for row in rows if _is_for(row, shape)]
    if with_excluded:
        return rows
    # A strip of B is read by a single work-item: there must be enough of them.
    units = int(device.max_compute_units) if by == "axpys" else 0
    return [row for row in rows if row["tile"][1] * units <= shape[2] and is_permitted(row, lists)]


def rows_of(
    device: Any, types: tuple[ComponentType, ...], shape: tuple[int, int, int, int], *, with_excluded: bool = False
) -> list[dict[str, Any]]:
    """Return the rows of the table whose conditions hold for a product, the best first: at most one for each type.

    with_excluded: whether to ignore the user's lists.
    """
    route, name = route_of(device), shape_class(*shape)
    lists, found = table(route), []
    for classes in tables_of(route, types):
        for row in [*classes.get(name, []), *classes["default"]]:
            needs = row.get("needs", "")
            has_instruction = not needs or needs in instructions_of(device, route)
            if _is_for(row, shape) and has_instruction and (with_excluded or is_permitted(row, lists)):
                found.append(row)
                break
    return found


def tables_of(route: str, types: tuple[ComponentType, ...]) -> list[dict[str, list[Any]]]:
    """Return the tables of a product's component types, the best first: class of shape -> rows."""
    rows = table(route)["gemm"]
    # No instruction multiplies components of different types, except integers and 8-bit floating point.
    is_usual = types[0] == types[1] or types[0].bits == types[1].bits == 8
    names = dict.fromkeys([types[0].name, "f32"] if is_usual and types[0].name in rows else ["f32"])
    return [{key: listed(value) for key, value in rows[name].items()} for name in names]


def is_permitted(row: Mapping[str, Any], lists: Mapping[str, Any]) -> bool:
    """Return whether a table's lists, `allow` and `deny`, permit a row, by its tile and the instruction that it needs.

    Without the list `allow`, every row is allowed.
    """
    names = [list(row["tile"]), row.get("needs", "")]
    is_allowed = "allow" not in lists or any(name in lists["allow"] for name in names)
    return is_allowed and not any(name in lists.get("deny", []) for name in names)


def listed(value: Any) -> list[Any]:
    """Return the rows of a class, which may be a single row."""
    return value if isinstance(value, list) else [value]


def _is_for(row: dict[str, Any], shape: tuple[int, int, int, int]) -> bool:
    """Return whether the conditions for the shape of the product hold."""
    sides = zip(shape[1:], row["tile"], strict=True)
    is_whole = not row.get("whole") or all(side % part == 0 for side, part in sides)
    return is_whole and shape[1] <= row.get("rows", shape[1])


def tilings_of_row(row: dict[str, Any]) -> list[Tiling]:
    """Return the tiling of a row. If it has a block, the tiling without the block follows."""
    tiling = Tiling.from_dict(row)
    return [tiling, Tiling(tiling.tile, (), tiling.sub_group_size)] if tiling.block else [tiling]


_forced: list[Tiling] = []


def force(tiling: Tiling | None) -> None:
    """Make this the only tiling of all new products of this process, which measures it; None: those of the table."""
    _forced[:] = [] if tiling is None else [tiling]


def _fits(tiling: Tiling, device: Any, types: tuple[ComponentType, ...], shape: tuple[int, int, int, int]) -> bool:
    """Return whether A and B can be copied, or read, as the tiling requires."""
    if not shape[3] and (tiling.panels or tiling.block):
        return False
    return fits(tiling, int(device.local_mem_size) if tiling.block else 0, types)


def fits(tiling: Tiling, local_memory: int, types: tuple[ComponentType, ...]) -> bool:
    """Return whether A and B can be copied, or read, as the tiling requires, if they are not empty.

    local_memory: the device's local memory, in bytes.
    """
    if tiling.dot:
        return {types[0].name, types[1].name} <= _DOT_TYPES and types[-1].name in _DOT_RESULTS
    if tiling.panels:
        kinds = {COMPONENT_TYPES[name].kind for name in tiling.panels}
        return kinds == {types[0].kind} and types[0].bits <= COMPONENT_TYPES[tiling.panels[0]].bits
    size = types[0].size
    return not tiling.block or (size == types[1].size and tiling.local_size(size) <= local_memory)


@cache
def route_of(device: Any) -> str:
    """Return the route to the device's matrix instructions; if it has none, the device's default route."""
    described = describe(device)
    unit = unit_for(described)
    return unit if unit and instructions_of(device, unit) else route_for(described).matrices


@cache
def instructions_of(device: Any, route: str) -> tuple[str, ...]:
    """Return the names of the matrix instructions of a route that the device computes correctly."""
    return instructions(describe(device), route)


def instruction_of(device: Any, types: tuple[ComponentType, ...], tiling: Tiling) -> str:
    """Return the name of the instruction that multiplies tiles, or an empty text.

    types: the component types of A, B and the sums.
    """
    route, names = LOWERED_ROUTES.get(route_of(device)), instructions_of(device, route_of(device))
    a, b = [COMPONENT_TYPES[name] for name in tiling.panels] or list(types[:2])
    m, n, k = tiling.tile
    matrices = MatrixType(a, m, k, Use.A), MatrixType(b, k, n, Use.B), MatrixType(types[2], m, n, Use.ACCUMULATOR)
    operands = default_operands(a, b, types[2])
    products = route.every_product if route is not None else ()
    return next((row.name for row in products if row.name in names and row.takes(*matrices, operands)), "")


@cache
def table(route: str) -> Any:
    """Return the table of tilings of a route, or that of `lanes` if the route has none.

    Rows of the user's table take the place of the package's. Raises ValueError if the user's table has another form.
    """
    name = _file_of(route)
    path = files(__package__) / "tables" / name
    text = (path if path.is_file() else files(__package__) / "tables" / "lanes.json").read_text(encoding="utf-8")
    shipped = json.loads(text)
    own = user_table(route)
    return _merged(shipped, own) if own.is_file() else shipped


def _file_of(route: str) -> str:
    return f"{route.partition('@')[0].partition(':')[0]}.json"


def user_table(route: str) -> Path:
    """Return the file of the user's table of a route, which may not exist."""
    return user_directory() / _file_of(route)


def user_directory() -> Path:
    """Return the directory of the user's tables, which may not exist."""
    import platformdirs

    return Path(platformdirs.user_data_dir("coopmat", appauthor=False)) / "linalg"


def _merged(shipped: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return a table in which the rows of the user's table replace others. Raises ValueError."""
    try:
        own = json.loads(path.read_text(encoding="utf-8"))
        if own["schema"] != shipped["schema"]:
            raise ValueError(f"schema {own['schema']} is not supported (supported: {shipped['schema']})")
        for name, classes in own["gemm"].items():
            if name not in shipped["gemm"]:
                raise ValueError(f"the type {name} is not supported (supported: {', '.join(sorted(shipped['gemm']))})")
            for row in (row for rows in classes.values() for row in listed(rows)):
                tiling = Tiling.from_dict(row)
                sizes = (*tiling.tile, *tiling.block)
                if len(sizes) not in (3, 6) or not all(isinstance(size, int) and size > 0 for size in sizes):
                    raise ValueError(f"{row}: expected three positive sizes of a tile, and of a block if there is one")
        rows = {name: classes | own["gemm"].get(name, {}) for name, classes in shipped["gemm"].items()}
        lists = {name: _exclusions(own[name]) for name in ("allow", "deny") if name in own}
        return {**shipped, "gemm": rows, "measured_by_user": str(own.get("measured", "")), **lists}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise TableError(f"{path}: {error}; docs/linalg.md describes tables") from error


def _exclusions(items: Any) -> list[Any]:
    """Return the list `allow` or `deny` of a table. Raises ValueError."""
    for item in items if isinstance(items, list) else [items]:
        is_tile = isinstance(item, list) and len(item) == 3 and all(isinstance(size, int) for size in item)
        if not isinstance(items, list) or not (is_tile or isinstance(item, str)):
            raise ValueError(f"allow, deny: expected a list of tiles [m, n, k] and names of instructions, not {item}")
    return list(items)
