"""The builtins on matrices: what analyses the calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ....diagnostics import Note, Span
from ... import syntax, typed
from ...builtins.matrix import BUILTINS, MatrixBuiltin
from ...matrix_terms import matrix_type
from ...typed import Expr
from ...types import UINT, CoopMatrixType, ScalarType, Type, VectorType
from ..context import Context
from ..conversions import check_matrix_conversion, matrix_index
from ..hints import declared_here
from ..values import convert_arithmetic, rvalue
from . import memory, multiply
from .arguments import check_count, matrix_argument, matrix_or_type
from .expected import target
from .types import require_extension


def call(c: Context, name: str, node: syntax.Call, expected: Type | None) -> Expr:
    """A call of matrix builtin `name`; `expected` is the type that the context asks for, where it does."""
    require_extension(c, f"'{name}'", node.callee.span)
    row = BUILTINS[name]
    check_count(c, row, node)
    return _ANALYSES[row.operation](c, row, node, expected)


def _init(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    matrix = target(c, row, node, expected)
    value = rvalue(c.analyse(node.arguments[0]))
    if not isinstance(value.type, ScalarType):
        c.fail("coop-mat-init", f"'coop_mat_init' takes an arithmetic scalar, not '{value.type}'", value.span)
    return typed.MatrixFill(node.span, matrix, convert_arithmetic(value, matrix.component))


def _length(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    return typed.MatrixLength(node.span, UINT, matrix_or_type(c, node.arguments[0]))


def _coordinates(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    matrix = matrix_or_type(c, node.arguments[0])
    index = matrix_index(c, c.analyse(node.arguments[1]), matrix)
    return typed.MatrixCoordinates(node.span, VectorType(UINT, 2), matrix, index)


def _convert(c: Context, row: MatrixBuiltin, node: syntax.Call, expected: Type | None) -> Expr:
    how = row.how
    result = target(c, row, node, expected)
    value = matrix_argument(c, node.arguments[0])
    if how.transposed:
        _check_transpose(c, value, result, node.span)
    else:
        check_matrix_conversion(c, value, result, node.span)
    if how.saturate and not matrix_type(result).component.saturates:
        message = f"nothing saturates to floating point: '{value.type}' to '{result}'"
        c.fail("coop-mat-saturation", message, node.span, notes=[Note("leave '_sat' out")])
    return typed.MatrixConvert(node.span, result, value, how)


def _check_transpose(c: Context, value: Expr, result: CoopMatrixType, span: Span) -> None:
    source = value.type
    assert isinstance(source, CoopMatrixType)
    if result != replace(source, rows=source.columns, columns=source.rows, use=result.use):
        message = f"a transpose exchanges rows and columns, and keeps the component type: '{source}' to '{result}'"
        c.fail("coop-mat-conversion", message, span, notes=declared_here(value))


_ANALYSES: dict[str, Callable[[Context, MatrixBuiltin, syntax.Call, Type | None], Expr]] = {
    "load": memory.load,
    "store": memory.store,
    "multiply_add": multiply.multiply_add,
    "init": _init,
    "length": _length,
    "coordinates": _coordinates,
    "convert": _convert,
}
