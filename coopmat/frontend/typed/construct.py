"""Constructors of nodes that many passes need."""

from __future__ import annotations

from .base import LValue
from .declarations import VarDecl
from .expressions import Load, VarRef


def variable(decl: VarDecl) -> VarRef:
    """Return an lvalue that denotes the variable `decl`."""
    return VarRef(decl.span, decl.type, decl.qualifiers, decl)


def load(target: LValue) -> Load:
    """Return a load of the value of `target`."""
    return Load(target.span, target.type, target)
