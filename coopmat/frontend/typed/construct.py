"""Nodes that many passes construct."""

from __future__ import annotations

from .base import LValue
from .declarations import VarDecl
from .expressions import Load, VarRef


def variable(decl: VarDecl) -> VarRef:
    """Return the object that a declaration names."""
    return VarRef(decl.span, decl.type, decl.qualifiers, decl)


def load(target: LValue) -> Load:
    """Return the value of an object."""
    return Load(target.span, target.type, target)
