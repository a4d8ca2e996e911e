"""The table of all operations: name -> operation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from . import (
    arithmetic,
    builtins,
    checked,
    conversion,
    elements,
    maps,
    memory,
    multiply_add,
    ours,
    programs,
    reductions,
    scalars,
    scopes,
    uses,
)
from .base import Case, Operation, Setting

__all__ = ["OPERATIONS", "Case", "Operation", "Setting"]

_FAMILIES = (
    *(memory, elements, conversion, uses, arithmetic, builtins, multiply_add),
    *(reductions, maps, scalars, ours, checked, programs, scopes),
)
OPERATIONS: Mapping[str, Operation] = MappingProxyType({o.name: o for family in _FAMILIES for o in family.OPERATIONS})
