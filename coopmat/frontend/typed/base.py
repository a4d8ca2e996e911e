"""The base classes of all nodes of the typed AST."""

from __future__ import annotations

from ..nodes import Node
from ..types import Qualifiers, Type


class Expr(Node):
    """An rvalue of `type`, unless the node is an LValue."""

    type: Type


class LValue(Expr):
    """An lvalue of `type`; `place` describes the object's address space and how it may be accessed."""

    place: Qualifiers
