"""The builtin functions of OpenCL C, as tables.

One module a family holds frozen rows (`rows.Builtin`); a row's overloads are expanded from its signatures when the
name is first used. `python -m coopmat.frontend.builtins` prints the documentation of every row.
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
    """Return the row of a builtin; conversions have one by rule."""
    return _ROWS.get(name) or conversions.row_by_rule(name)


def resolve(name: str, argument_types: Sequence[Type]) -> Overload | NoMatch | Ambiguous:
    """Return the overload that a call of a builtin selects.

    Arguments are rvalue types: arrays have decayed. Array, record and matrix arguments match nothing. A name that is no
    builtin, or whose row has no signatures (`as_T`, matrix functions, most rows that are not supported yet), gives a
    NoMatch without candidates.
    """
    row = find(name)
    return NoMatch(name, ()) if row is None else resolve_row(row, tuple(argument_types))


@cache
def names() -> frozenset[str]:
    """Return every builtin's name, for suggestions."""
    return frozenset({*_ROWS, *conversions.all_names()})
