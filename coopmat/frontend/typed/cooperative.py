"""Cooperative matrices (`types.CoopMatrixType`)."""

from __future__ import annotations

from ...matrices.instances import CAST, Conversion
from ..types import CoopMatrixType
from .base import Expr, LValue


class MatrixElement(LValue):
    """Component `index` (uint) of the part of a matrix that this work-item holds. If the matrix is not an object, it is
    held in an unnamed one, and then the component is no object either."""

    matrix: LValue
    index: Expr


class MatrixBounds(Expr):
    """Void: the bounds of a checked load or store, each a uint. The pointer is to the origin of a `rows` x `columns`
    matrix in memory, and the tile starts at `row`, `column` of that."""

    row: Expr
    column: Expr
    rows: Expr
    columns: Expr


class MatrixLoad(Expr):
    """A load; `type` is the matrix; `pointer` points to its component type, in any address space (vector pointees are
    already converted); `stride`, a ulong, counts components. The access is volatile if the pointee is. `layout` is
    SPIR-V's number, 2 for packed. With `bounds`, components outside are zero."""

    pointer: Expr
    layout: int
    stride: Expr
    bounds: MatrixBounds | None = None


class MatrixStore(Expr):
    """Void: a store, with the fields of `MatrixLoad`; with `bounds`, components outside are not stored."""

    pointer: Expr
    matrix: Expr
    layout: int
    stride: Expr
    bounds: MatrixBounds | None = None


class MatrixMulAdd(Expr):
    """The multiply-add a b + c; `operands` is the complete mask."""

    a: Expr
    b: Expr
    c: Expr
    operands: int


class MatrixFill(Expr):
    """A matrix whose every component is `value` (of the component type)."""

    value: Expr


class MatrixLength(Expr):
    """The number of components of `matrix` that this work-item holds, a uint."""

    matrix: CoopMatrixType


class MatrixCoordinates(Expr):
    """The row (x) and column (y), a uint2, of component `index` (uint) of the part of `matrix` that this work-item
    holds."""

    matrix: CoopMatrixType
    index: Expr


class MatrixConvert(Expr):
    """The operand's components converted to those of `type`: scope, shape and use are the same."""

    operand: Expr
    how: Conversion = CAST


class MatrixBinary(Expr):
    """The operation add, sub, mul or div, component by component; all three types are equal."""

    op: str
    left: Expr
    right: Expr


class MatrixScale(Expr):
    """The product of a matrix and `scalar` (of the component type)."""

    matrix: Expr
    scalar: Expr


class MatrixNegate(Expr):
    operand: Expr
