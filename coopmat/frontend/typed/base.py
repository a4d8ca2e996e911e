"""What every node of the typed AST is."""

from __future__ import annotations

from ..nodes import Node
from ..types import Qualifiers, Type


class Expr(Node):
    """An rvalue of `type`, unless the node is an LValue."""

    type: Type


class LValue(Expr):
    """An object of `type`; `place` says where it lives and how it may be accessed."""

    place: Qualifiers
