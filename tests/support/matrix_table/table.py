"""All rows, the rows that a target runs, and a covering selection for the test suite."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import cache

from matrix_programs import Target

from coopmat.matrices.variants import COMPONENT_TYPES

from . import conversions, elements, functions, memory, multiply_add, operators, programs
from .rows import Key, Row

FAMILIES = (memory, operators, elements, functions, conversions, multiply_add, programs)

SMALL_FLOATS = frozenset(name for name, row in COMPONENT_TYPES.items() if row.is_bits)


@cache
def all_rows() -> tuple[Row, ...]:
    rows = tuple(row for family in FAMILIES for row in family.rows())
    assert len({row.name for row in rows}) == len(rows)
    return rows


def rows_on(route: str) -> list[Row]:
    """Return all rows that a route can run."""
    return [row for row in all_rows() if row.runs_on(route)]


def rows_for(target: Target, targets: tuple[Target, ...]) -> list[Row]:
    """Return the rows that a target runs.

    Rows that need not run everywhere are distributed over the subgroup sizes of a route, which differ little. Lowered
    native modules have the rows with staged operations only if all subgroups of a work-group execute them alike.
    """
    if target.through:
        return [row for row in rows_on("native") if row.is_staged and _is_read(row, target.through)]
    sizes = [t.sub_group_size for t in targets if t.route == target.route and not t.through]
    mine = sizes.index(target.sub_group_size)
    chosen = rows_on(target.route)
    everywhere = target.route == "lanes"
    return [
        row for row in chosen if (row.everywhere and everywhere) or zlib.crc32(row.name.encode()) % len(sizes) == mine
    ]


def _is_read(row: Row, language: str) -> bool:
    """Return whether the compiler reads modules with the types of a row from a language: IR lacks small floats."""
    return language != "ir" or not any(value in SMALL_FLOATS for case in row.keys for _, value in case.axes)


def covering(targets: tuple[Target, ...], seed: int, every_type: bool = True) -> Iterator[tuple[Target, Row]]:
    """Yield rows in an order that depends on the seed, each if it has a feature that no earlier row had.

    `every_type`: whether each operation has all component types on each route, and not only on some lowered route and
    on some native route.
    """
    pairs = [(target, row) for target in targets for row in rows_for(target, targets)]
    pairs.sort(key=lambda pair: zlib.crc32(f"{pair[0]} {pair[1].name} {seed}".encode()))
    seen: set[tuple[str, ...]] = set()
    for target, row in pairs:
        new = {feature for case in row.keys for feature in _features(target, case, every_type)} - seen
        if new:
            seen |= new
            yield target, row


def _features(target: Target, case: Key, every_type: bool) -> Iterator[tuple[str, ...]]:
    """Yield the features that the selection must cover.

    They are each operation on each route, with each value of each axis, and with each component type (`every_type`:
    on each route); each kind of memory on each route; and each target.
    """
    if target.through:
        yield (case.operation, "through")
        return
    yield (case.operation, target.route)
    yield (str(target),)
    for axis, value in case.axes:
        yield (case.operation, axis, value)
    (_, component), *_ = case.axes
    # Programs treat all types alike, so the type is ignored.
    route = target.route if every_type else "native" if target.route.startswith("native") else "lowered"
    yield (case.operation, route, component if case.operation not in programs.FORMS else "")
    if case.operation in ("load", "store"):
        yield (target.route, *case.on("layout", "space"))
