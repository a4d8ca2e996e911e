"""The analysis of calls of the builtins `__builtin_matrix_...`, including the number of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...diagnostics import Note
from ...frontend import syntax, typed
from ...frontend.builtins.matrix_types import BUILTINS
from ...frontend.sema.context import Context
from ...frontend.sema.conversions import assign_convert
from ...frontend.sema.hints import declared_here
from ...frontend.sema.matrices.builtins import check_count
from ...frontend.sema.values import rvalue
from ...frontend.typed import Expr
from ...frontend.types import ConstantMatrixType, Type, VectorType
from . import access, memory, operators
from .access import matrix_argument
from .casts import broadcast
from .types import make


def call(c: Context, name: str, node: syntax.Call) -> Expr:
    """Analyse a call of one of `BUILTINS`."""
    row = BUILTINS[name]
    check_count(c, row, node)
    return _ANALYSES[row.operation](c, name, node)


def _values(c: Context, node: syntax.Call) -> list[Expr]:
    """Return the arguments of a call as rvalues."""
    return [rvalue(e) for e in c.analyse_each(*node.arguments)]


def _transpose(c: Context, name: str, node: syntax.Call) -> Expr:
    (e,) = _values(c, node)
    m = matrix_argument(c, e)
    # The result keeps the padding, and also the layout.
    result = ConstantMatrixType(m.element, m.columns, m.rows, m.layout, m.padding)
    return typed.MatrixTranspose(node.span, make(c, result, node.span), e)


def _elementwise(op: str, c: Context, name: str, node: syntax.Call) -> Expr:
    left, right = _values(c, node)
    for e in (left, right):
        matrix_argument(c, e)
    operators.check_same(c, name, left, right, node.span)
    return operators.elementwise(op, left, right, node.span)


def _multiply(c: Context, name: str, node: syntax.Call) -> Expr:
    left, right = _values(c, node)
    for e in (left, right):
        matrix_argument(c, e)
    t = operators.product_type(c, name, left, right, node.span)
    return typed.MatrixProduct(node.span, t, left, right)


def _scalar_multiply(c: Context, name: str, node: syntax.Call) -> Expr:
    matrix, scalar = _values(c, node)
    m = matrix_argument(c, matrix)
    factor = assign_convert(c, scalar, m.element, scalar.span, f"argument 2 of '{name}'")
    return operators.elementwise("mul", matrix, broadcast(factor, m), node.span)


def _extract(c: Context, name: str, node: syntax.Call) -> Expr:
    matrix, row, column = c.analyse_each(*node.arguments)
    m = matrix_argument(c, matrix)
    row, column = access.index(c, row, m.rows, "row"), access.index(c, column, m.columns, "column")
    return rvalue(access.element(c, matrix, row, column, node.span))


def _insert(c: Context, name: str, node: syntax.Call) -> Expr:
    matrix, row, column, value = _values(c, node)
    m = matrix_argument(c, matrix)
    row, column = access.index(c, row, m.rows, "row"), access.index(c, column, m.columns, "column")
    value = assign_convert(c, value, m.element, value.span, f"argument 4 of '{name}'")
    return typed.MatrixWithPart(node.span, m, "element", matrix, row, value, column)


def _part_of(m: ConstantMatrixType, which: str) -> tuple[int, tuple[int, int]]:
    """Return the number of rows (or columns), and the shape of one of them."""
    return (m.rows, (1, m.columns)) if which == "row" else (m.columns, (m.rows, 1))


def _part(which: str, c: Context, name: str, node: syntax.Call) -> Expr:
    matrix, number = _values(c, node)
    m = matrix_argument(c, matrix)
    count, shape = _part_of(m, which)
    index = access.index(c, number, count, which)
    return typed.MatrixPart(node.span, ConstantMatrixType(m.element, *shape, m.layout), which, matrix, index)


def _insert_part(which: str, c: Context, name: str, node: syntax.Call) -> Expr:
    matrix, number, part = _values(c, node)
    m = matrix_argument(c, matrix)
    count, shape = _part_of(m, which)
    index = access.index(c, number, count, which)
    _check_part(c, part, m, shape, which)
    return typed.MatrixWithPart(node.span, m, which, matrix, index, part)


def _check_part(c: Context, e: Expr, m: ConstantMatrixType, shape: tuple[int, int], which: str) -> None:
    """Report an error if a part is not a matrix of the element type and shape of one row or column."""
    t: Type = e.type
    if isinstance(t, ConstantMatrixType) and (t.element, t.rows, t.columns) == (m.element, *shape):
        return
    notes = [Note("a cast converts a vector to a matrix")] if isinstance(t, VectorType) else []
    message = f"a {which} of '{m}' is a {shape[0]} x {shape[1]} matrix of '{m.element}', not '{t}'"
    c.fail("matrix-type-part", message, e.span, notes=[*notes, *declared_here(e)])


_ANALYSES: dict[str, Callable[[Context, str, syntax.Call], Expr]] = {
    "transpose": _transpose,
    "column_major_load": partial(memory.load, False),
    "column_major_store": partial(memory.store, False),
    "row_major_load": partial(memory.load, True),
    "row_major_store": partial(memory.store, True),
    "row": partial(_part, "row"),
    "column": partial(_part, "column"),
    "insert_row": partial(_insert_part, "row"),
    "insert_column": partial(_insert_part, "column"),
    "insert": _insert,
    "extract": _extract,
    "add": partial(_elementwise, "add"),
    "sub": partial(_elementwise, "sub"),
    "multiply": _multiply,
    "scalar_multiply": _scalar_multiply,
    "column_load": partial(memory.load, False),
    "column_store": partial(memory.store, False),
}
