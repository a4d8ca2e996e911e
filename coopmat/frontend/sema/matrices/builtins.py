"""The builtins on matrices: how many arguments each takes, and what analyses the call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....diagnostics import Note
from ... import syntax, typed
from ...builtins.matrix import CONVERSIONS, DOCUMENTED
from ...typed import Expr
from ...types import UINT, ScalarType, Type, VectorType
from ..context import Context, plural
from ..conversions import check_matrix_conversion, matrix_index
from ..values import convert_arithmetic, rvalue
from . import memory, multiply
from .arguments import matrix_argument, matrix_or_type
from .expected import target
from .types import require_extension


@dataclass(frozen=True, slots=True)
class MatrixBuiltin:
    """`arguments` are the counts that it takes."""

    analyse: Callable[[Context, syntax.Call, Type | None], Expr]
    arguments: tuple[int, ...]


def call(c: Context, name: str, node: syntax.Call, expected: Type | None) -> Expr:
    """A call of matrix builtin `name`; `expected` is the type that the context asks for, where it does."""
    require_extension(c, f"'{name}'", node.callee.span)
    row = BUILTINS[name]
    if len(node.arguments) not in row.arguments:
        wanted = " or ".join(map(str, row.arguments[:-1])) + (" or " if row.arguments[1:] else "")
        message = f"'{name}' takes {wanted}{plural(row.arguments[-1], 'argument')}, not {len(node.arguments)}"
        c.fail("argument-count", message, node.span, notes=[Note(DOCUMENTED[name])])
    return row.analyse(c, node, expected)


def _init(c: Context, node: syntax.Call, expected: Type | None) -> Expr:
    matrix = target(c, node, expected)
    value = rvalue(c.analyse(node.arguments[0]))
    if not isinstance(value.type, ScalarType):
        c.fail("coop-mat-init", f"'coop_mat_init' takes an arithmetic scalar, not '{value.type}'", value.span)
    return typed.MatrixFill(node.span, matrix, convert_arithmetic(value, matrix.component))


def _length(c: Context, node: syntax.Call, expected: Type | None) -> Expr:
    return typed.MatrixLength(node.span, UINT, matrix_or_type(c, node.arguments[0]))


def _coordinates(c: Context, node: syntax.Call, expected: Type | None) -> Expr:
    matrix = matrix_or_type(c, node.arguments[0])
    index = matrix_index(c, c.analyse(node.arguments[1]), matrix)
    return typed.MatrixCoordinates(node.span, VectorType(UINT, 2), matrix, index)


def _convert(rounding: str, saturate: bool) -> Callable[[Context, syntax.Call, Type | None], Expr]:
    def analyse(c: Context, node: syntax.Call, expected: Type | None) -> Expr:
        result = target(c, node, expected)
        value = matrix_argument(c, node.arguments[0])
        check_matrix_conversion(c, value, result, node.span)
        if saturate and result.component.is_float:
            message = f"nothing saturates to floating point: '{value.type}' to '{result}'"
            c.fail("coop-mat-saturation", message, node.span, notes=[Note("leave '_sat' out")])
        return typed.MatrixConvert(node.span, result, value, rounding, saturate)

    return analyse


_MUL_ADD = MatrixBuiltin(multiply.multiply_add, (3, 4))

BUILTINS: dict[str, MatrixBuiltin] = {
    "coop_mat_load": MatrixBuiltin(memory.load, (3,)),
    "coop_mat_store": MatrixBuiltin(memory.store, (4,)),
    "coop_mat_load_checked": MatrixBuiltin(memory.load, (7,)),
    "coop_mat_store_checked": MatrixBuiltin(memory.store, (8,)),
    "coop_mat_mulAdd": _MUL_ADD,
    "coop_matmul_add": _MUL_ADD,
    "coop_mat_init": MatrixBuiltin(_init, (1,)),
    "coop_mat_length": MatrixBuiltin(_length, (1,)),
    "coop_mat_coord": MatrixBuiltin(_coordinates, (2,)),
    **{name: MatrixBuiltin(_convert(rounding, saturate), (1,)) for name, (rounding, saturate) in CONVERSIONS.items()},
}
