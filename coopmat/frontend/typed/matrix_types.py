"""Nodes for Clang's matrix types (`types.ConstantMatrixType`).

A matrix operand is any expression of that type: one of these nodes, a Load, a Call, a Conditional, ...
"""

from __future__ import annotations

from .base import Expr, LValue


class MatrixSubscript(LValue):
    """An lvalue: the element `m[row][column]` of the object `matrix`; the indices have any integer type.

    If the matrix is an rvalue, it is held in an unnamed object (a CompoundLiteral), and the element counts as an
    rvalue.
    """

    matrix: LValue
    row: Expr
    column: Expr


class MatrixBroadcast(Expr):
    """A matrix all of whose elements are `value`, which has the element type."""

    value: Expr


class MatrixElementwise(Expr):
    """The operation add, sub or mul, element by element.

    All three types have the same shape and element type, but may differ in layout. The operands of `mul` are a matrix
    and a MatrixBroadcast, in either order.
    """

    op: str
    left: Expr
    right: Expr


class MatrixProduct(Expr):
    """The product of an M x K and a K x N matrix; all element types are equal."""

    left: Expr
    right: Expr


class MatrixTranspose(Expr):
    operand: Expr


class MatrixCast(Expr):
    """A matrix whose elements are converted as by a cast of scalars; the shape is unchanged.

    Also a conversion between matrices that differ only in layout or padding.
    """

    operand: Expr


class MatrixOfVector(Expr):
    """An OpenCL vector as a matrix of one row or one column, with the same number and type of elements."""

    operand: Expr


class VectorOfMatrix(Expr):
    """A matrix of one row or one column as an OpenCL vector; a matrix of one element as a scalar."""

    operand: Expr


class MatrixPart(Expr):
    """A row (a 1 x C matrix) or a column (an R x 1 matrix) of a matrix.

    `which` is "row" or "column"; `index` is an integer less than the number of rows or columns.
    """

    which: str
    operand: Expr
    index: Expr


class MatrixWithPart(Expr):
    """The operand with a row, column or element replaced by `part`.

    For `which` "row" or "column", row or column `index` becomes `part`, a 1 x C or R x 1 matrix of the same element
    type. For "element", the element in row `index`, column `column` becomes the scalar `part`.
    """

    which: str
    operand: Expr
    index: Expr
    part: Expr
    column: Expr | None = None


class MatrixMemoryLoad(Expr):
    """A matrix loaded from memory.

    pointer: a pointer to the element type, in any address space; the access is volatile if the pointee is.
    stride: a ulong, the elements from the start of one column (row, if `row_major`) to the next.
    """

    pointer: Expr
    stride: Expr
    row_major: bool = False


class MatrixMemoryStore(Expr):
    """A store of a matrix, of type void, with the fields of `MatrixMemoryLoad`."""

    matrix: Expr
    pointer: Expr
    stride: Expr
    row_major: bool = False
