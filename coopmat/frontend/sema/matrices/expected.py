"""Calls whose matrix type the context gives: which they are, and what a context without a type of its own offers."""

from __future__ import annotations

from ....diagnostics import Note
from ... import syntax
from ...builtins.matrix import BUILTINS, MatrixBuiltin
from ...types import CoopMatrixType, Type
from ..context import UNKNOWN, Context

# Operators whose other operand must have the same type. A product takes scalars too, so it says nothing.
_SAME_TYPE = ("+", "-", "/")


def from_context(name: str) -> bool:
    """Whether the call of this builtin has the type that its context asks for."""
    return name in BUILTINS and BUILTINS[name].has_type_of_context


def needs_target(c: Context, node: syntax.Initializer) -> bool:
    """Whether the matrix type of an expression does not follow from the expression alone."""
    while True:
        if isinstance(node, syntax.Paren):
            node = node.inner
        elif isinstance(node, syntax.Comma):
            node = node.items[-1]
        elif isinstance(node, syntax.StatementExpression):
            last = node.body.items[-1] if node.body.items else None
            if not isinstance(last, syntax.ExpressionStatement) or last.expression is None:
                return False
            node = last.expression
        elif isinstance(node, syntax.Unary) and node.op == "-":
            node = node.operand
        elif isinstance(node, syntax.Call) and (operand := _operand_of_type(c, node)) is not None:
            node = operand
        else:
            break
    if isinstance(node, syntax.Call):
        return from_context(_called(c, node))
    if isinstance(node, syntax.Conditional):
        return (node.then is None or needs_target(c, node.then)) and needs_target(c, node.otherwise)
    while isinstance(node, syntax.Binary):
        if not needs_target(c, node.right):
            return False
        node = node.left
        if not isinstance(node, syntax.Binary):
            return needs_target(c, node)
    return False


def _called(c: Context, node: syntax.Call) -> str:
    """The name that is called, where that is no function of the program's."""
    callee = node.callee
    while isinstance(callee, syntax.Paren):
        callee = callee.inner
    return callee.name if isinstance(callee, syntax.Identifier) and c.scope.find(callee.name) is None else ""


def _operand_of_type(c: Context, node: syntax.Call) -> syntax.Expression | None:
    """The argument whose matrix type is the call's."""
    row = BUILTINS.get(_called(c, node))
    number = None if row is None else row.operand_of_type
    return node.arguments[number] if number is not None and number < len(node.arguments) else None


def target_beside(op: str, other: Type | None, expected: Type | None) -> Type | None:
    """What an operand of binary `op` is asked for beside one of type `other`, in a context that asks for `expected`."""
    if op in _SAME_TYPE and isinstance(other, CoopMatrixType):
        return other
    return expected if isinstance(expected, CoopMatrixType) or expected is UNKNOWN else None


def target(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> CoopMatrixType:
    """The matrix type of a call that has it from its context; an error where that says none."""
    if isinstance(expected, CoopMatrixType):
        return expected
    if expected is UNKNOWN:
        c.abandon()
    if expected is not None:
        c.fail("coop-mat-mismatch", f"'{row.name}' gives a cooperative matrix, not '{expected}'", node.span)
    c.fail(
        "coop-mat-no-target",
        f"the matrix type of '{row.name}' does not follow from this context",
        node.span,
        notes=[Note("assign it to a matrix, pass it to a function, return it, or cast it to a matrix type")],
    )
