"""Nodes for statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..nodes import Node
from .base import Expr

if TYPE_CHECKING:
    from .declarations import VarDecl


class Stmt(Node):
    pass


class Block(Stmt):
    items: list[Stmt]


class DeclStmt(Stmt):
    decl: VarDecl


class ExprStmt(Stmt):
    expr: Expr


class If(Stmt):
    """An `if`. The condition of an `if` or a loop is a scalar or pointer and is true if it is not zero."""

    condition: Expr
    then: Stmt
    otherwise: Stmt | None


class While(Stmt):
    """A `while` loop.

    unroll (in all loops): None for the compiler's choice, 0 for full unrolling, 1 for none, n for a factor of n.
    """

    condition: Expr
    body: Stmt
    unroll: int | None = None


class DoWhile(Stmt):
    body: Stmt
    condition: Expr
    unroll: int | None = None


class For(Stmt):
    """A `for` loop; `init` is a list of declarations or expression statements."""

    init: list[Stmt]
    condition: Expr | None
    step: Expr | None
    body: Stmt
    unroll: int | None = None


class Switch(Stmt):
    """A `switch`.

    value: of a promoted integer type.
    cases: the constants in order of appearance, each once.
    """

    value: Expr
    body: Stmt
    cases: list[int]
    has_default: bool


class Case(Stmt):
    """A label in the innermost switch; `value` is None for `default`."""

    value: int | None
    body: Stmt


class Label(Stmt):
    name: str
    body: Stmt


class Goto(Stmt):
    label: str


class Break(Stmt):
    pass


class Continue(Stmt):
    pass


class Return(Stmt):
    value: Expr | None
