"""The analysis of loads and stores of matrices in memory: the pointer, the shape, the stride."""

from __future__ import annotations

from ...diagnostics import Note
from ...frontend import syntax, typed
from ...frontend.sema.context import Context
from ...frontend.sema.conversions import assign_convert
from ...frontend.sema.hints import cast_to, declared_here
from ...frontend.sema.values import rvalue
from ...frontend.typed import Expr, IntConst
from ...frontend.types import (
    ULONG,
    VOID,
    AddressSpace,
    ConstantMatrixType,
    MatrixLayout,
    PointerType,
    ScalarType,
    VectorType,
)
from .access import matrix_argument
from .types import check_element, extent, make


def load(row_major: bool, c: Context, name: str, node: syntax.Call) -> Expr:
    """Analyse a load; the arguments are the pointer, the rows, the columns and optionally the stride."""
    shape = {"rows": 0, "columns": 0}

    def count(what: str, position: int) -> None:
        shape[what] = extent(c, node.arguments[position], what)

    source, _, _, stride = c.all_of(
        lambda: _pointer(c, node.arguments[0]),
        lambda: count("rows", 1),
        lambda: count("columns", 2),
        lambda: _stride(c, node, 3, shape["columns" if row_major else "rows"], row_major),
    )
    element = check_element(c, source.type.pointee, source.span)
    layout = MatrixLayout.ROW_MAJOR if row_major else c.matrix_layout
    matrix = make(c, ConstantMatrixType(element, shape["rows"], shape["columns"], layout), node.span)
    return typed.MatrixMemoryLoad(node.span, matrix, source, stride, row_major)


def store(row_major: bool, c: Context, name: str, node: syntax.Call) -> Expr:
    """Analyse a store; the arguments are the matrix, of any layout, the pointer and optionally the stride."""
    matrix: Expr | None = None
    where: Expr | None = None
    stride: Expr | None = None
    with c.recover():
        value = rvalue(c.analyse(node.arguments[0]))
        matrix_argument(c, value)
        matrix = value
    with c.recover():
        where = _pointer(c, node.arguments[1])
    with c.recover():
        m = matrix.type if matrix is not None else None
        least = 0 if not isinstance(m, ConstantMatrixType) else m.columns if row_major else m.rows
        stride = _stride(c, node, 2, least, row_major)
    if matrix is None or where is None or stride is None:
        c.abandon()
    _check_target(c, where, matrix)
    return typed.MatrixMemoryStore(node.span, VOID, matrix, where, stride, row_major)


def _pointer(c: Context, node: syntax.Expression) -> Expr:
    """Return the argument of a pointer to elements as an rvalue; report an error if it is none."""
    e = rvalue(c.analyse(node))
    if not isinstance(e.type, PointerType):
        message = f"expected a pointer to elements, not '{e.type}'"
        c.fail("matrix-type-pointee", message, e.span, notes=declared_here(e))
    pointee = e.type.pointee
    if not isinstance(pointee, ScalarType):
        message = f"'{e.type}' does not point to elements of a matrix"
        notes = [Note("cast the pointer to a pointer to the elements"), *declared_here(e)]
        fixits = []
        if isinstance(pointee, (ConstantMatrixType, VectorType)):
            fixits = cast_to(c, e, str(PointerType(pointee.element, e.type.qualifiers)))
        c.fail("matrix-type-pointee", message, e.span, notes=notes, fixits=fixits)
    return e


def _check_target(c: Context, where: Expr, matrix: Expr) -> None:
    """Report an error if the destination of a store is read-only or has another element type."""
    t, m = where.type, matrix.type
    assert isinstance(t, PointerType) and isinstance(m, ConstantMatrixType)
    if t.qualifiers.const or t.qualifiers.space is AddressSpace.CONSTANT:
        message = f"cannot store through '{t}': what it points to is read-only"
        c.fail("matrix-type-const-store", message, where.span, notes=declared_here(where))
    if t.pointee != m.element:
        message = f"'{t}' does not point to '{m.element}', the element type of the matrix"
        fixits = cast_to(c, where, str(PointerType(m.element, t.qualifiers)))
        notes = [Note("cast the pointer where another type in memory is meant"), *declared_here(where)]
        c.fail("matrix-type-pointee", message, where.span, notes=notes, fixits=fixits)


def _stride(c: Context, node: syntax.Call, position: int, least: int, row_major: bool) -> Expr:
    """Return the stride argument at `position` as a size_t, or its default `least`, the length of a column (or row)."""
    if len(node.arguments) <= position:
        return IntConst(node.span, ULONG, least)
    e = rvalue(c.analyse(node.arguments[position]))
    if not isinstance(e.type, ScalarType):
        c.fail("matrix-type-stride", f"the stride must be a number, not '{e.type}'", e.span)
    if isinstance(e, IntConst) and e.value < least:
        what = "columns" if row_major else "rows"
        c.fail(
            "matrix-type-stride", f"the stride must be at least {least}, the number of {what}, not {e.value}", e.span
        )
    return assign_convert(c, e, ULONG, e.span, "the stride")
