"""The analysis of operators on matrices: + and - on elements, the product, and all three with a scalar."""

from __future__ import annotations

from typing import NoReturn

from ...analysis import check_conversion
from ...diagnostics import FixIt, Label, Note, Span
from ...frontend import typed
from ...frontend.sema.context import Context
from ...frontend.sema.hints import cast_to, name_of
from ...frontend.typed import Expr, LValue
from ...frontend.types import ConstantMatrixType, MatrixLayout, ScalarType, Type
from .casts import broadcast, same_shape
from .types import make

_ALLOWED = "matrices take + and - with an identical type, the product *, and all three with a scalar"
_HINTS = {
    "div": "multiply by the reciprocal",
    "neg": "multiply by -1",
}


def refuse(c: Context, op: str, e: Expr, span: Span) -> NoReturn:
    """Report an error for a unary operator, because matrices have none; `op` is its spelling."""
    notes = [Note(_ALLOWED), *([Note(_HINTS["neg"])] if op == "-" else [])]
    message = f"invalid operand to {'unary ' * (op in '+-~!')}'{op}': '{e.type}'"
    c.fail("matrix-type-operator", message, span, labels=[Label(e.span)], notes=notes)


def binary(c: Context, op: str, name: str, left: Expr, right: Expr, span: Span, op_span: Span) -> Expr:
    """Analyse a binary operator on two rvalues, at least one of which is a matrix.

    `op` is the spelling, `name` the operation. Report an error if the operator or the operands are invalid.
    """
    a, b = left.type, right.type
    if name in ("add", "sub", "mul"):
        if isinstance(a, ConstantMatrixType) and isinstance(b, ScalarType):
            return elementwise(name, left, spread(c, right, a), span)
        if isinstance(b, ConstantMatrixType) and isinstance(a, ScalarType):
            return elementwise(name, spread(c, left, b), right, span)
        if isinstance(a, ConstantMatrixType) and isinstance(b, ConstantMatrixType):
            if name == "mul":
                return typed.MatrixProduct(span, product_type(c, op, left, right, op_span), left, right)
            check_same(c, op, left, right, op_span)
            return elementwise(name, left, right, span)
    _invalid(c, op, name, left, right, op_span)


def spread(c: Context, e: Expr, matrix: ConstantMatrixType) -> Expr:
    """Return a scalar operand as a matrix of the other operand's shape."""
    check_conversion(c, e, matrix.element)
    return broadcast(e, matrix)


def elementwise(name: str, left: Expr, right: Expr, span: Span) -> Expr:
    """Return the node of an operation on the elements of two matrices, whose types the caller has checked."""
    return typed.MatrixElementwise(span, left.type, name, left, right)


def compound_assign(c: Context, op: str, name: str, target: LValue, value: Expr, span: Span, op_span: Span) -> Expr:
    """Analyse a compound assignment to a matrix; `op` is the spelling, including `=`, and `value` may be a scalar."""
    t = target.type
    if name not in ("add", "sub", "mul") or not isinstance(t, ConstantMatrixType):
        _invalid(c, op, name, target, value, op_span)
    if isinstance(value.type, ScalarType):
        return typed.CompoundAssign(span, t, name, target, spread(c, value, t), t, None, None)
    if not isinstance(value.type, ConstantMatrixType):
        _invalid(c, op, name, target, value, op_span)
    if name != "mul":
        check_same(c, op, target, value, op_span)
        return typed.CompoundAssign(span, t, name, target, value, t, None, None)
    result = product_type(c, op, target, value, op_span)
    if result != t:
        labels = [Label(target.span), Label(value.span)]
        message = f"the product of '{t}' and '{value.type}' is a '{result}', which '{op}' cannot assign to '{t}'"
        c.fail("matrix-type-operand-types", message, op_span, labels=labels)
    return typed.CompoundAssign(span, t, "product", target, value, t, None, None)


def check_same(c: Context, op: str, left: Expr, right: Expr, span: Span) -> None:
    """Report an error if the operands of an operation on elements have different types."""
    a, b = left.type, right.type
    if a == b:
        return
    assert isinstance(a, ConstantMatrixType) and isinstance(b, ConstantMatrixType)
    notes, fixits = _cast_of(c, right, a) if same_shape(a, b) else ([], [])
    message = f"the operands of '{op}' must have one matrix type: '{a}' and '{b}' differ"
    labels = [Label(left.span), Label(right.span)]
    c.fail("matrix-type-operand-types", message, span, labels=labels, notes=notes, fixits=fixits)


def _cast_of(c: Context, e: Expr, t: Type) -> tuple[list[Note], list[FixIt]]:
    """Return a note and a fix-it that suggest a cast of `e` to the type `t`."""
    name = name_of(c, t)
    return [Note("a cast converts the elements and their layout")], cast_to(c, e, name) if name else []


def product_type(c: Context, op: str, left: Expr, right: Expr, span: Span) -> ConstantMatrixType:
    """Return the type of the product of two matrices; report an error if their types do not match.

    The product has the padding of the operands if that is equal, and otherwise no padding.
    """
    a, b = left.type, right.type
    assert isinstance(a, ConstantMatrixType) and isinstance(b, ConstantMatrixType)
    labels = [Label(left.span), Label(right.span)]
    if a.columns != b.rows:
        message = f"a product needs as many columns of '{a}' ({a.columns}) as rows of '{b}' ({b.rows})"
        notes = [Note("'__builtin_matrix_transpose' exchanges rows and columns")] if a.columns == b.columns else []
        c.fail("matrix-type-shapes", message, span, labels=labels, notes=notes)
    for what, x, y in (("element type", a.element, b.element), ("layout", a.layout, b.layout)):
        if x != y:
            names = [v.value if isinstance(v, MatrixLayout) else v for v in (x, y)]
            message = f"the operands of '{op}' must have the same {what}: '{names[0]}' and '{names[1]}' differ"
            notes = [Note("a cast converts the elements and their layout")]
            c.fail("matrix-type-operand-types", message, span, labels=labels, notes=notes)
    padding = a.padding if a.padding == b.padding else 0
    return make(c, ConstantMatrixType(a.element, a.rows, b.columns, a.layout, padding), span)


def _invalid(c: Context, op: str, name: str, left: Expr, right: Expr, span: Span) -> NoReturn:
    """Report an error for invalid operands of a binary operator."""
    notes = [Note(_ALLOWED)]
    if name == "div" and isinstance(right.type, ScalarType):
        notes.append(Note(_HINTS["div"]))
    message = f"invalid operands to '{op}': '{left.type}' and '{right.type}'"
    c.fail("matrix-type-operator", message, span, labels=[Label(left.span), Label(right.span)], notes=notes)
