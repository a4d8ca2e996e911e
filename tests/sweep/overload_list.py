"""Every row of the builtins table with its overloads, and the names that the sweep's processes know them by."""

from __future__ import annotations

import zlib
from functools import cache

from coopmat.frontend import builtins as table
from coopmat.frontend.builtins import Builtin, Overload
from coopmat.frontend.types import (
    FLOATS,
    INTEGERS,
    SMALL_FLOATS,
    VECTOR_SIZES,
    VOID,
    AddressSpace,
    PointerType,
    Type,
    element_type,
    is_bits,
    size_of,
    with_count,
)

VALUE_TYPES: tuple[Type, ...] = tuple(with_count(t, n) for t in (*INTEGERS, *FLOATS) for n in (1, *VECTOR_SIZES))


@cache
def rows() -> tuple[Builtin, ...]:
    """Those of the families' tables in their order, then conversions and `as_T`, which have rows by rule."""
    listed = [row for family in table.FAMILIES for row in family.TABLE]
    known = {row.name for row in listed}
    small = tuple(f"{kind}_{t}" for t in SMALL_FLOATS for kind in ("as", "convert"))
    by_rule = [table.find(name) for name in sorted(table.names()) if name not in known and not name.startswith(small)]
    return (*listed, *(row for row in by_rule if row is not None))


def _of_small_floats(overload: Overload) -> bool:
    """Whether it takes types that no device's compiler has."""
    pointees = (t.pointee if isinstance(t, PointerType) else t for t in overload.parameters)
    return any(is_bits(element_type(t)) for t in pointees)


@cache
def overloads_of(row: Builtin) -> tuple[Overload, ...]:
    """The row's overloads. Of the rows without signatures, `as_T` has one for each type of T's size, and each other
    row that is supported has one that stands for the row."""
    target = table.parse_as(row.name)
    if target is None:
        alone = Overload(row.name, (), VOID, row.lowering, row)
        return tuple(o for o in table.overloads(row) if not _of_small_floats(o)) or (alone,) * row.supported
    return tuple(
        Overload(row.name, (t,), target, row.lowering, row) for t in VALUE_TYPES if size_of(t) == size_of(target)
    )


def identify(overload: Overload) -> str:
    """Such as `fma#12`: the row's name and the overload's number in it."""
    return f"{overload.name}#{overloads_of(overload.row).index(overload)}"


def identified(identifier: str) -> Overload:
    name, number = identifier.split("#")
    row = table.find(name)
    assert row is not None, name
    return overloads_of(row)[int(number)]


@cache
def covering(row: Builtin) -> tuple[Overload, ...]:
    """A selection in which every combination of the row's element types occurs, and every one of its address spaces;
    of conversions a quarter of that, as their rows are hundreds, and each pair of element types occurs in many."""
    mixed = sorted(overloads_of(row), key=lambda o: zlib.crc32(str(o).encode()))
    seen: set[object] = set()
    chosen = []
    for overload in mixed:
        types = (overload.result, *overload.parameters)
        elements, spaces = tuple(map(_element, types)), tuple(map(_space, types))
        if {elements, spaces} - seen:
            seen |= {elements, spaces}
            chosen.append(overload)
    if table.parse_conversion(row.name) or table.parse_as(row.name):
        chosen = chosen[::4]
    return tuple(chosen)


def _element(t: Type) -> str:
    return str(element_type(t.pointee if isinstance(t, PointerType) else t))


def _space(t: Type) -> AddressSpace | None:
    return t.qualifiers.space if isinstance(t, PointerType) else None
