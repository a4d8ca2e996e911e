"""Every operation, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from . import arithmetic, conversion, elements, memory, multiply_add
from .base import Case, Operation, Setting

__all__ = ["OPERATIONS", "Case", "Operation", "Setting"]

_FAMILIES = (memory, elements, conversion, arithmetic, multiply_add)
OPERATIONS: Mapping[str, Operation] = MappingProxyType({o.name: o for family in _FAMILIES for o in family.OPERATIONS})
