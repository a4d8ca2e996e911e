"""The builtin functions of OpenCL C, as tables.

Each module holds the rows (`rows.Builtin`) of one family. The overloads of a row are expanded from its signatures when
the name is first used. `python -m coopmat.frontend.builtins` prints the documentation of every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ..types import Type
from . import (
    async_copies,
    atomics,
    clock,
    common,
    conversions,
    geometric,
    images,
    integer,
    math,
    matrix,
    matrix_types,
    miscellaneous,
    relational,
    subgroup,
    synchronization,
    vector_data,
    work_group,
    work_item,
)
from .conversions import ConversionName as ConversionName, parse_as as parse_as, parse_conversion as parse_conversion
from .resolve import Ambiguous as Ambiguous, NoMatch as NoMatch, best_of as best_of, converts as converts, resolve_row
from .rows import (
    NOT_YET as NOT_YET,
    SUPPORTED as SUPPORTED,
    Builtin as Builtin,
    Overload as Overload,
    overloads as overloads,
)

FAMILIES = (
    work_item,
    math,
    integer,
    common,
    geometric,
    relational,
    vector_data,
    synchronization,
    clock,
    atomics,
    async_copies,
    work_group,
    subgroup,
    images,
    miscellaneous,
    matrix,
    matrix_types,
)

_ROWS: dict[str, Builtin] = {row.name: row for family in FAMILIES for row in family.TABLE}


def find(name: str) -> Builtin | None:
    """Return the row of a builtin, or None for any other name; the rows of conversions are computed from the name."""
    return _ROWS.get(name) or conversions.row_by_rule(name)


def resolve(name: str, argument_types: Sequence[Type]) -> Overload | NoMatch | Ambiguous:
    """Return the overload that a call of a builtin selects.

    `argument_types` are types of rvalues: arrays have decayed. Arguments of array, record or matrix types match no
    overload. If `name` is no builtin, or its row has no signatures, return a NoMatch without candidates. Rows without
    signatures are `as_T`, matrix functions and most rows that are not supported yet.
    """
    row = find(name)
    return NoMatch(name, ()) if row is None else resolve_row(row, tuple(argument_types))


@cache
def names() -> frozenset[str]:
    """Return the name of every builtin, for spelling suggestions."""
    return frozenset({*_ROWS, *conversions.all_names()})
