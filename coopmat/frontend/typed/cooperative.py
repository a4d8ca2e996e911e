"""Cooperative matrices (`types.CoopMatrixType`)."""

from __future__ import annotations

from ...matrices.instances import CAST, Conversion
from ..types import CoopMatrixType
from .base import Expr, LValue


class MatrixElement(LValue):
    """Component `index` (uint) of the part of a matrix that this work-item holds. A matrix that is no object is held
    in an unnamed one, and then the component is no object either."""

    matrix: LValue
    index: Expr


class MatrixBounds(Expr):
    """Void. Of a checked load or store, each a uint: the pointer is to the origin of a `rows` x `columns` matrix in
    memory, and the tile starts at `row`, `column` of that."""

    row: Expr
    column: Expr
    rows: Expr
    columns: Expr


class MatrixLoad(Expr):
    """`type` is the matrix; `pointer` points to its component type, in any address space (vector pointees already
    converted, `stride`, ulong, counts components); the access is volatile where the pointee is. `layout` is SPIR-V's
    number, 2 for packed. With `bounds` what lies outside is zero."""

    pointer: Expr
    layout: int
    stride: Expr
    bounds: MatrixBounds | None = None


class MatrixStore(Expr):
    """Void. As MatrixLoad; with `bounds` nothing is stored outside."""

    pointer: Expr
    matrix: Expr
    layout: int
    stride: Expr
    bounds: MatrixBounds | None = None


class MatrixMulAdd(Expr):
    """a b + c; `operands` is the complete mask."""

    a: Expr
    b: Expr
    c: Expr
    operands: int


class MatrixFill(Expr):
    """Every component is `value` (of the component type)."""

    value: Expr


class MatrixLength(Expr):
    """uint: components of `matrix` that this work-item holds."""

    matrix: CoopMatrixType


class MatrixCoordinates(Expr):
    """uint2: row (x) and column (y) of component `index` (uint) of the part of `matrix` that this work-item holds."""

    matrix: CoopMatrixType
    index: Expr


class MatrixConvert(Expr):
    """The operand's components converted to those of `type`: scope, shape and use are the same."""

    operand: Expr
    how: Conversion = CAST


class MatrixBinary(Expr):
    """add sub mul div, component by component; all three types are equal."""

    op: str
    left: Expr
    right: Expr


class MatrixScale(Expr):
    """matrix times `scalar` (of the component type)."""

    matrix: Expr
    scalar: Expr


class MatrixNegate(Expr):
    operand: Expr
