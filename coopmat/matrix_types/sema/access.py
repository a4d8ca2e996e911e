"""The analysis of elements of matrices: `m[row][column]`."""

from __future__ import annotations

from typing import NoReturn

from ...diagnostics import FixIt, Note, Span
from ...frontend import syntax, typed
from ...frontend.sema.context import Context
from ...frontend.sema.hints import declared_here, spelled
from ...frontend.sema.values import rvalue
from ...frontend.typed import Expr, IntConst, LValue
from ...frontend.types import ConstantMatrixType, Qualifiers, ScalarType


def subscripted(
    c: Context, matrix: Expr, links: list[tuple[syntax.Subscript, Expr]], matrix_type: ConstantMatrixType
) -> Expr:
    """Return an element of `matrix`; `links` are the one or two subscripts that directly follow it.

    If there is one subscript, or an index is a comma expression, report an error.
    """
    for node, _ in links:
        if isinstance(node.index, syntax.Comma):
            message = "a comma operator cannot be an index of a matrix"
            notes = [Note("an element is m[row][column]; if the comma operator is intended, put it in parentheses")]
            fixits = _as_two(c, node.index) if len(links) == 1 else []
            c.fail("matrix-type-subscript", message, node.index.span, notes=notes, fixits=fixits)
    if len(links) < 2:
        message = f"a single subscript of '{matrix_type}': an element has two, m[row][column]"
        notes = [Note("'__builtin_matrix_row' and '__builtin_matrix_column' give a whole row or column")]
        c.fail("matrix-type-subscript", message, links[0][0].span, notes=notes)
    (_, first), (outer, second) = links
    row, column = index(c, first, matrix_type.rows, "row"), index(c, second, matrix_type.columns, "column")
    return element(c, matrix, row, column, outer.span)


def _as_two(c: Context, e: syntax.Comma) -> list[FixIt]:
    """Return a fix-it that replaces the comma by `][`, or nothing if the comma is not alone between two items."""
    first, last = e.items[0].span, e.items[-1].span
    between = Span(first.file, first.end_line, first.end_column, last.line, last.column)
    text = spelled(c, between)
    return [FixIt(between, "][")] if len(e.items) == 2 and text is not None and text.strip() == "," else []


def element(c: Context, matrix: Expr, row: Expr, column: Expr, span: Span) -> Expr:
    """Return an element: an lvalue if the matrix is an lvalue, otherwise an rvalue."""
    assert isinstance(matrix.type, ConstantMatrixType)
    t = matrix.type.element
    if isinstance(matrix, typed.VarRef) and c.function is not None:
        c.function.by_element.add(matrix.decl)
    if isinstance(matrix, LValue):
        return typed.MatrixSubscript(span, t, matrix.place, matrix, row, column)
    temporary = typed.CompoundLiteral(matrix.span, matrix.type, Qualifiers(const=True), matrix)
    return rvalue(typed.MatrixSubscript(span, t, temporary.place, temporary, row, column))


def index(c: Context, e: Expr, count: int, what: str) -> Expr:
    """Return an index of one of `count` rows or columns as an rvalue.

    Report an error if it is no integer or out of range.
    """
    e = rvalue(e)
    if not isinstance(e.type, ScalarType) or not e.type.is_integer:
        c.fail("matrix-type-index", f"the index of a {what} must be an integer, not '{e.type}'", e.span)
    if isinstance(e, IntConst) and not 0 <= e.value < count:
        c.fail("matrix-type-index", f"{what} {e.value} is outside of 0 to {count - 1}", e.span)
    return e


def refuse_address(c: Context, span: Span) -> NoReturn:
    """Report an error: the address of an element is taken."""
    c.fail("matrix-type-element-address", "an element of a matrix has no address", span)


def matrix_argument(c: Context, e: Expr) -> ConstantMatrixType:
    """Return the type of an argument that must be a matrix; report an error if it is none."""
    if not isinstance(e.type, ConstantMatrixType):
        message = f"expected a matrix, not '{e.type}'"
        c.fail("matrix-type-not-a-matrix", message, e.span, notes=declared_here(e))
    return e.type
