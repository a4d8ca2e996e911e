"""The analysis of casts, which are the only conversions of matrices.

Casts convert between matrices of one shape, from scalars, and from and to vectors.
"""

from __future__ import annotations

import re
from typing import NoReturn

from ...diagnostics import FixIt, Note, Span
from ...frontend import syntax, typed
from ...frontend.sema.context import Context
from ...frontend.sema.hints import declared_here, name_of, spelled
from ...frontend.sema.values import convert_arithmetic
from ...frontend.typed import Expr
from ...frontend.types import BOOL, ConstantMatrixType, ScalarType, Type, VectorType

# Text that can be the operand of a cast without parentheses.
_TIGHT = r"[\w.]+"


def same_shape(a: ConstantMatrixType, b: ConstantMatrixType) -> bool:
    """Return whether two matrix types have the same numbers of rows and columns."""
    return (a.rows, a.columns) == (b.rows, b.columns)


def broadcast(e: Expr, matrix: ConstantMatrixType, span: Span | None = None) -> Expr:
    """Return a matrix all of whose elements are the scalar `e`, converted to the element type."""
    return typed.MatrixBroadcast(span or e.span, matrix, convert_arithmetic(e, matrix.element))


def _as_vector(vector: Type, matrix: Type) -> bool:
    """Return whether the matrix is one row or column with as many elements as the vector, of the same type."""
    if not isinstance(matrix, ConstantMatrixType) or 1 not in (matrix.rows, matrix.columns):
        return False
    count = matrix.rows * matrix.columns
    if isinstance(vector, VectorType):
        return (vector.element, vector.count) == (matrix.element, count)
    return vector == matrix.element and count == 1


def converts(source: Type, target: Type) -> bool:
    """Return whether a cast can convert from one type to the other; at least one of them must be a matrix type."""
    if isinstance(target, ConstantMatrixType):
        if isinstance(source, ConstantMatrixType):
            return same_shape(source, target)
        return isinstance(source, ScalarType) or _as_vector(source, target)
    return _as_vector(target, source)


def cast(c: Context, e: Expr, target: Type, span: Span) -> Expr:
    """Analyse an explicit cast of the rvalue `e` to a different type; at least one of the types is a matrix type."""
    if not converts(e.type, target):
        message = f"'{e.type}' does not cast to '{target}'"
        c.fail("matrix-type-cast", message, span, notes=[*_why_not(e.type, target), *declared_here(e)])
    if not isinstance(target, ConstantMatrixType):
        return typed.VectorOfMatrix(span, target, e)
    if isinstance(e.type, ConstantMatrixType):
        return typed.MatrixCast(span, target, e)
    if isinstance(e.type, ScalarType):
        return broadcast(e, target, span)
    return typed.MatrixOfVector(span, target, e)


def _why_not(source: Type, target: Type) -> list[Note]:
    """Return the notes that explain why a cast is invalid."""
    if isinstance(source, ConstantMatrixType) and isinstance(target, ConstantMatrixType):
        return [Note("a cast converts the elements; both matrices must have the same numbers of rows and columns")]
    vectors = [t for t in (source, target) if isinstance(t, (VectorType, ScalarType)) and t is not BOOL]
    if vectors:
        return [Note("a vector is a matrix of one row or column with as many elements of the same type")]
    return []


def refuse_list(c: Context, t: ConstantMatrixType, node: syntax.InitializerList) -> NoReturn:
    """Report an error for an initializer list; if it has a single item, suggest a cast of this item."""
    notes = [Note("a cast of a scalar sets all elements to its value")]
    first = node.items[0].value if len(node.items) == 1 and not node.items[0].designators else None
    text = spelled(c, first.span) if first is not None and not isinstance(first, syntax.InitializerList) else None
    name = name_of(c, t)
    fixits = []
    if text and name:
        fixits = [FixIt(node.span, f"({name}){text if re.fullmatch(_TIGHT, text) else f'({text})'}")]
    message = f"a '{t}' cannot be initialized with an initializer list"
    c.fail("matrix-type-initializer", message, node.span, notes=notes, fixits=fixits)
