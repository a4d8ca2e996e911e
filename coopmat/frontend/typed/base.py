"""The base classes of all nodes of the typed AST."""

from __future__ import annotations

from ..nodes import Node
from ..types import Qualifiers, Type


class Expr(Node):
    """An expression; it is an rvalue of `type` unless it is an LValue."""

    type: Type


class LValue(Expr):
    """An lvalue of `type`; `place` is the object's address space and its qualifiers."""

    place: Qualifiers
