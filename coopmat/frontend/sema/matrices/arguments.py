"""Arguments of the builtins that are matrices, or name a matrix type."""

from __future__ import annotations

from ....diagnostics import Note
from ... import syntax
from ...builtins.matrix import MatrixBuiltin
from ...typed import Expr
from ...types import CoopMatrixType, Type
from ..context import Context, plural
from ..hints import declared_here
from ..values import rvalue


def check_count(c: Context, row: MatrixBuiltin, node: syntax.Call) -> None:
    """Tells of a call that has not as many arguments as the builtin takes."""
    *fewer, most = row.arguments
    if len(node.arguments) not in row.arguments:
        wanted = "".join(f"{count} or " for count in fewer) + plural(most, "argument")
        message = f"'{row.name}' takes {wanted}, not {len(node.arguments)}"
        c.fail("argument-count", message, node.span, notes=[Note(row.signature)])


def matrix_argument(c: Context, e: syntax.Expression, expected: Type | None = None) -> Expr:
    value = rvalue(c.analyse(e, expected))
    if not isinstance(value.type, CoopMatrixType):
        message = f"expected a cooperative matrix, not '{value.type}'"
        c.fail("coop-mat-not-a-matrix", message, e.span, notes=declared_here(value))
    return value


def matrix_or_type(c: Context, e: syntax.Expression) -> CoopMatrixType:
    """The type of a value, which is not evaluated, or the type that stands there itself."""
    t = c.type_name(e.type_name) if isinstance(e, syntax.TypeArgument) else c.analyse(e).type
    if not isinstance(t, CoopMatrixType):
        c.fail("coop-mat-not-a-matrix", f"expected a cooperative matrix or its type, not '{t}'", e.span)
    return t
