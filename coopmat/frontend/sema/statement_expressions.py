"""Statement expressions `({ ...; value; })` and `a ?: b`, which is lowered to one: GNU extensions that clang has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...diagnostics import Span
from .. import syntax, typed
from ..types import PLAIN, VOID, Type, VoidType
from . import operators
from .context import Context
from .values import constant_value, rvalue


def statement_expression(c: Context, node: syntax.StatementExpression, expected: Type | None) -> typed.Expr:
    """Analyse a statement expression.

    Its value is that of the last statement, if that is an expression statement. Control cannot leave it earlier.
    """
    if c.function is None:
        c.fail("not-constant", "a statement expression is allowed only in a function", node.span)
    items = node.body.items
    last = items[-1] if items and isinstance(items[-1], syntax.ExpressionStatement) else None
    result = last.expression if last is not None else None
    statements = items[:-1] if result is not None else items
    value: typed.Expr = typed.Zero(node.span, VOID)
    with c.nested_scope(), _enclosed(c):
        errors = c.diagnostics.error_count
        body = c.block(syntax.Compound(node.body.span, statements, node.body.end))
        if result is not None:
            value = rvalue(c.analyse(result, expected))
        if c.diagnostics.error_count != errors:
            c.abandon()
    if isinstance(value.type, VoidType) and not isinstance(value, typed.Zero):
        body.items.append(typed.ExprStmt(value.span, value))
        value = typed.Zero(node.span, VOID)
    return typed.StatementExpression(node.span, value.type, body, value)


@contextmanager
def _enclosed(c: Context) -> Iterator[None]:
    """Return a context manager that hides the enclosing loops and switches."""
    state = c.function
    assert state is not None
    outside = state.loops, state.breakable, state.switches
    state.loops, state.breakable, state.switches = 0, 0, []
    state.enclosed += 1
    try:
        yield
    finally:
        state.loops, state.breakable, state.switches = outside
        state.enclosed -= 1


def check_leaving(c: Context, what: str, span: Span) -> None:
    """Report a label, or a jump that may leave the statement expression it is in."""
    if c.function is not None and c.function.enclosed:
        c.unsupported(f"{what} a statement expression is", span)


def short_conditional(c: Context, condition: typed.Expr, otherwise: typed.Expr, span: Span) -> typed.Expr:
    """Analyse `a ?: b`, which evaluates `a` once and yields it if it is not zero, else `b`."""
    condition = rvalue(condition)
    if constant_value(condition) is not None:
        return operators.conditional(c, condition, condition, otherwise, span)
    if c.function is None:
        c.fail("not-constant", "this '?:' is not constant", span)
    decl = typed.VarDecl(condition.span, "coopmat_condition", condition.type, PLAIN, "automatic")
    decl.initializer = condition
    first = typed.Load(condition.span, condition.type, typed.VarRef(condition.span, condition.type, PLAIN, decl))
    choice = operators.conditional(c, first, first, otherwise, span)
    body = typed.Block(span, [typed.DeclStmt(condition.span, decl)])
    return typed.StatementExpression(span, choice.type, body, choice)
