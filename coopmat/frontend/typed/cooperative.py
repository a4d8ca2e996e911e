"""Cooperative matrices (`types.CoopMatrixType`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...matrices.instances import CAST, Conversion
from ..nodes import Reference
from ..types import CoopMatrixType, Type
from .base import Expr, LValue

if TYPE_CHECKING:
    from .declarations import FunctionDecl


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
    """The operand's components converted to those of `type`: scope and shape are the same, the use may be another."""

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


class MatrixComponentWise(Expr):
    """The builtin function `name` of each component. `operands` are matrices of `type`, at least one, and scalars of
    its component type; `lowering` is the builtin's, `parameters` are the types that it calculates in: the component
    type, or float where components have no arithmetic."""

    name: str
    lowering: str
    parameters: tuple[Type, ...]
    operands: list[Expr]


class MatrixMap(Expr):
    """The matrix whose component (r, c) is function(r, c, m[r, c]..., arguments...), for each m of `operands`, which
    are matrices of `type`; the arguments are evaluated once. How often the function is called is not determined; it has
    no effects."""

    function: Reference[FunctionDecl]
    operands: list[Expr]
    arguments: list[Expr]


class MatrixReduce(Expr):
    """The components of `operand` combined by function(x, y), in any order, each once. `how` is ROW 1, COLUMN 2, or
    both: component (r, c) of the result is the value of row r, of column c, or of all; or 2X2 4: component (r, c) is
    the value of the block at (2 r, 2 c). Both matrices are accumulators of one component type."""

    operand: Expr
    how: int
    function: Reference[FunctionDecl]


class MatrixPrefetch(Expr):
    """Void: a hint that `matrix` will be loaded, with the fields of `MatrixLoad`."""

    matrix: CoopMatrixType
    pointer: Expr
    layout: int
    stride: Expr
