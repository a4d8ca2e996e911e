"""Operators on cooperative matrices: component by component on operands of one type, and the product with a scalar."""

from __future__ import annotations

from ....diagnostics import Label, Note, Span
from ... import typed
from ...typed import Expr, LValue
from ...types import CoopMatrixType, ScalarType, Type
from ..context import Context
from ..values import convert_arithmetic
from .types import refuse_narrow

_BINARY = ("add", "sub", "mul", "div")
_ALLOWED = "matrices take + - * / with an identical type or a scalar, and unary -; coop_mat_map calls any function"


def negate(c: Context, op: str, e: Expr, span: Span) -> Expr:
    if op != "-":
        message = f"invalid operand to unary '{op}': '{e.type}'"
        c.fail("coop-mat-operator", message, span, labels=[Label(e.span)], notes=[Note(_ALLOWED)])
    refuse_narrow(c, e.type, "unary '-'", span)
    return typed.MatrixNegate(span, e.type, e)


def binary(c: Context, op: str, name: str, left: Expr, right: Expr, span: Span, op_span: Span) -> Expr:
    """Analyse a binary operator with at least one matrix; `op` is its spelling, `name` the operation."""
    _refuse_narrow(c, op, left, right, op_span)
    if name == "mul":
        for matrix, scalar in ((left, right), (right, left)):
            if isinstance(matrix.type, CoopMatrixType) and isinstance(scalar.type, ScalarType):
                factor = convert_arithmetic(scalar, matrix.type.component)
                return typed.MatrixScale(span, matrix.type, matrix, factor)
    left, right = _filled(name, left, right.type), _filled(name, right, left.type)
    _check_operands(c, op, name, left, right, op_span)
    return typed.MatrixBinary(span, left.type, name, left, right)


def _filled(name: str, e: Expr, other: Type) -> Expr:
    """Return a scalar beside a matrix as a matrix filled with it; any other operand is returned unchanged."""
    if name in _BINARY and isinstance(e.type, ScalarType) and isinstance(other, CoopMatrixType):
        return typed.MatrixFill(e.span, other, convert_arithmetic(e, other.component))
    return e


def compound_assign(c: Context, op: str, name: str, target: LValue, value: Expr, span: Span, op_span: Span) -> Expr:
    t = target.type
    _refuse_narrow(c, op, target, value, op_span)
    if name == "mul" and isinstance(t, CoopMatrixType) and isinstance(value.type, ScalarType):
        scalar = convert_arithmetic(value, t.component)
        return typed.CompoundAssign(span, t, "scalar_mul", target, scalar, t, None, None)
    value = _filled(name, value, t)
    _check_operands(c, op, name, target, value, op_span)
    return typed.CompoundAssign(span, t, name, target, value, t, None, None)


def _refuse_narrow(c: Context, op: str, left: Expr, right: Expr, op_span: Span) -> None:
    for e in (left, right):
        refuse_narrow(c, e.type, f"'{op}'", op_span)


def _check_operands(c: Context, op: str, name: str, left: Expr, right: Expr, op_span: Span) -> None:
    labels = [Label(left.span), Label(right.span)]
    both = isinstance(left.type, CoopMatrixType) and isinstance(right.type, CoopMatrixType)
    if name not in _BINARY or not both:
        message = f"invalid operands to '{op}': '{left.type}' and '{right.type}'"
        c.fail("coop-mat-operator", message, op_span, labels=labels, notes=[Note(_ALLOWED)])
    if left.type != right.type:
        message = f"the operands of '{op}' must have one matrix type: '{left.type}' and '{right.type}' differ"
        c.fail("coop-mat-operand-types", message, op_span, labels=labels, notes=_how_to_fit(op, left, right))


def _how_to_fit(op: str, left: Expr, right: Expr) -> list[Note]:
    a, b = left.type, right.type
    assert isinstance(a, CoopMatrixType) and isinstance(b, CoopMatrixType)
    if op == "*" and (a.use.name, b.use.name) == ("A", "B") and a.columns == b.rows:
        return [Note("'*' multiplies component by component; the matrix product is 'coop_mat_mulAdd'")]
    if a.converts_to(b):
        return [Note("a cast converts the components")]
    return []
