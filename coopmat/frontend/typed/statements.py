"""Statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..nodes import Node
from .base import Expr

if TYPE_CHECKING:
    from .declarations import VarDecl


@dataclass(slots=True)
class Stmt(Node):
    pass


@dataclass(slots=True)
class Block(Stmt):
    items: list[Stmt]


@dataclass(slots=True)
class DeclStmt(Stmt):
    decl: VarDecl


@dataclass(slots=True)
class ExprStmt(Stmt):
    expr: Expr


@dataclass(slots=True)
class If(Stmt):
    """`condition` is a scalar or pointer, here and in the loops; it holds where it is not zero."""

    condition: Expr
    then: Stmt
    otherwise: Stmt | None


@dataclass(slots=True)
class While(Stmt):
    """`unroll`: None as the compiler likes, 0 fully, 1 not at all, n by a factor of n; likewise below."""

    condition: Expr
    body: Stmt
    unroll: int | None = None


@dataclass(slots=True)
class DoWhile(Stmt):
    body: Stmt
    condition: Expr
    unroll: int | None = None


@dataclass(slots=True)
class For(Stmt):
    """`init` is a list of declarations or expression statements."""

    init: list[Stmt]
    condition: Expr | None
    step: Expr | None
    body: Stmt
    unroll: int | None = None


@dataclass(slots=True)
class Switch(Stmt):
    """`value` has a promoted integer type; `cases` are the constants in order of appearance, each once."""

    value: Expr
    body: Stmt
    cases: list[int]
    has_default: bool


@dataclass(slots=True)
class Case(Stmt):
    """A label inside the innermost switch; `value` is None for default."""

    value: int | None
    body: Stmt


@dataclass(slots=True)
class Label(Stmt):
    name: str
    body: Stmt


@dataclass(slots=True)
class Goto(Stmt):
    label: str


@dataclass(slots=True)
class Break(Stmt):
    pass


@dataclass(slots=True)
class Continue(Stmt):
    pass


@dataclass(slots=True)
class Return(Stmt):
    value: Expr | None
