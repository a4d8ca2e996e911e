"""Matrix types that follow from the context of an expression, not from the expression."""

from __future__ import annotations

from ....diagnostics import Note
from ... import syntax
from ...builtins.matrix import BUILTINS, MatrixBuiltin
from ...types import CoopMatrixType, Type
from ..context import UNKNOWN, Context
from .component_wise import is_component_wise

# Operators whose operands must have one type. A product also takes scalars, so one operand does not determine the
# other.
_SAME_TYPE = ("+", "-", "/")


# The node classes of most operands, whose type never depends on the context.
_PLAIN = frozenset(
    {syntax.Identifier, syntax.IntegerLiteral, syntax.FloatLiteral, syntax.Subscript, syntax.Member, syntax.Cast}
)


def from_context(name: str) -> bool:
    """Return whether a call of this builtin takes its type from its context."""
    return name in BUILTINS and BUILTINS[name].has_type_of_context


def needs_target(c: Context, node: syntax.Initializer) -> bool:
    """Return whether the matrix type of an expression depends on its context."""
    if type(node) in _PLAIN:
        return False
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
        name = _called(c, node)
        component_wise = is_component_wise(name) and any(needs_target(c, argument) for argument in node.arguments)
        return component_wise or from_context(name)
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
    """Return the name of the called builtin, or "" for a function of the program."""
    callee = node.callee
    while isinstance(callee, syntax.Paren):
        callee = callee.inner
    return callee.name if isinstance(callee, syntax.Identifier) and c.scope.find(callee.name) is None else ""


def _operand_of_type(c: Context, node: syntax.Call) -> syntax.Expression | None:
    """Return the argument whose matrix type is the call's type, or None."""
    row = BUILTINS.get(_called(c, node))
    number = None if row is None else row.operand_of_type
    return node.arguments[number] if number is not None and number < len(node.arguments) else None


def target_beside(op: str, other: Type | None, expected: Type | None) -> Type | None:
    """Return the type that an operand of the binary operator `op` is expected to have, or None.

    `other` is the type of the other operand, `expected` the expected type of the operation.
    """
    if op in _SAME_TYPE and isinstance(other, CoopMatrixType):
        return other
    return expected if isinstance(expected, CoopMatrixType) or expected is UNKNOWN else None


def target(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> CoopMatrixType:
    """Return the matrix type that a call takes from its context; report an error if the context has none."""
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
