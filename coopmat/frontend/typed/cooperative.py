"""Nodes for cooperative matrices (`types.CoopMatrixType`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...matrices.variants import CAST, Conversion
from ..nodes import Reference
from ..types import CoopMatrixType, Type
from .base import Expr, LValue

if TYPE_CHECKING:
    from .declarations import FunctionDecl


class MatrixElement(LValue):
    """An lvalue: component `index` (a uint) of the part of a matrix that this work-item holds.

    If the matrix is an rvalue, it is held in an unnamed object, and the component counts as an rvalue.
    """

    matrix: LValue
    index: Expr


class MatrixBounds(Expr):
    """The bounds of a checked load or store, each a uint; the node has type void.

    The pointer points to the origin of a `rows` x `columns` matrix in memory, and the tile starts at `row`, `column` of
    that matrix.
    """

    row: Expr
    column: Expr
    rows: Expr
    columns: Expr


class MatrixLoad(Expr):
    """A load of a matrix; `type` is the matrix type.

    pointer: a pointer to the component type, in any address space. Pointers to vectors are already converted. The
      access is volatile if the pointee is.
    layout: SPIR-V's number; 2 for packed.
    stride: a ulong, in components.
    bounds: if present, components outside of them are zero.
    """

    pointer: Expr
    layout: int
    stride: Expr
    bounds: MatrixBounds | None = None


class MatrixStore(Expr):
    """A store of a matrix, of type void, with the fields of `MatrixLoad`.

    If `bounds` are present, components outside of them are not stored.
    """

    pointer: Expr
    matrix: Expr
    layout: int
    stride: Expr
    bounds: MatrixBounds | None = None


class MatrixMulAdd(Expr):
    """The multiply-add a * b + c; `operands` is SPIR-V's complete mask of cooperative matrix operands."""

    a: Expr
    b: Expr
    c: Expr
    operands: int


class MatrixMulAddScaled(MatrixMulAdd):
    """A multiply-add in which 32 columns of a row of A, and 32 rows of a column of B, share a scale.

    scales_a, scales_b: pointers to E8M0 scales, as uchar. Row r (or column c) has in block k of K the scale with the
      index r * stride + k.
    stride_a, stride_b: the strides, each a ulong.
    """

    scales_a: Expr
    stride_a: Expr
    scales_b: Expr
    stride_b: Expr


class MatrixFill(Expr):
    """A matrix all of whose components are `value`, which has the component type."""

    value: Expr


class MatrixLength(Expr):
    """The number of components of `matrix` that this work-item holds, a uint."""

    matrix: CoopMatrixType


class MatrixCoordinates(Expr):
    """The row (x) and column (y), a uint2, of component `index` (a uint) of this work-item's part of `matrix`."""

    matrix: CoopMatrixType
    index: Expr


class MatrixConvert(Expr):
    """A conversion of the operand's components to those of `type`.

    Scope and shape are the same (a transposition swaps rows and columns); the use may differ.
    """

    operand: Expr
    how: Conversion = CAST


class MatrixBinary(Expr):
    """The operation add, sub, mul or div, component by component; all three types are equal."""

    op: str
    left: Expr
    right: Expr


class MatrixScale(Expr):
    """The product of a matrix and `scalar`, which has the component type."""

    matrix: Expr
    scalar: Expr


class MatrixNegate(Expr):
    operand: Expr


class MatrixComponentWise(Expr):
    """The builtin function `name` applied to each component.

    lowering: the builtin's lowering.
    parameters: the types in which the builtin computes: the component type, or float if components have no arithmetic.
    operands: matrices of `type`, at least one, and scalars of its component type.
    """

    name: str
    lowering: str
    parameters: tuple[Type, ...]
    operands: list[Expr]


class MatrixMap(Expr):
    """The matrix whose component (r, c) is function(r, c, m[r, c]..., arguments...), for each m of `operands`.

    The operands are matrices of `type`. The arguments are evaluated once. The function has no side effects, and the
    number of its calls is unspecified. It may take and return vectors of neighbours in a row or, if `down`, in a
    column; r and c are then the place of the first.
    """

    function: Reference[FunctionDecl]
    operands: list[Expr]
    arguments: list[Expr]
    down: bool


class MatrixReduce(Expr):
    """The components of `operand`, combined by function(x, y) in an unspecified order, each once.

    If `how` is ROW (1), component (r, c) of the result is the value of row r; if COLUMN (2), of column c; if both (3),
    of all components. If `how` is 2X2 (4), component (r, c) is the value of the 2 x 2 block at (2 r, 2 c). Both
    matrices are accumulators of one component type.
    """

    operand: Expr
    how: int
    function: Reference[FunctionDecl]


class MatrixPrint(Expr):
    """A print of a matrix, of type void: a title with `name`, then the rows.

    If `by_lanes`, print a line for each component of each work-item instead.
    """

    matrix: Expr
    name: str
    by_lanes: bool


class MatrixPrefetch(Expr):
    """A hint that `matrix` will be loaded, of type void, with the fields of `MatrixLoad`."""

    matrix: CoopMatrixType
    pointer: Expr
    layout: int
    stride: Expr
