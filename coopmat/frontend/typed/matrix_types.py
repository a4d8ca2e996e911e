"""Clang's matrix types (`types.ConstantMatrixType`).

An operand whose type is a matrix is any expression of that type: one of these, a Load, a Call, a Conditional, ...
"""

from __future__ import annotations

from .base import Expr, LValue


class MatrixSubscript(LValue):
    """The element `m[row][column]` (each of any integer type) of the object `matrix`. If the matrix is not an object,
    it is held in an unnamed one (a CompoundLiteral), and then the element is no object either."""

    matrix: LValue
    row: Expr
    column: Expr


class MatrixBroadcast(Expr):
    """Every element of the matrix `type` is `value` (of its element type)."""

    value: Expr


class MatrixElementwise(Expr):
    """add sub mul, element by element; all three types have the same shape and element type, but may differ in layout.
    The operands of `mul` are a matrix and a MatrixBroadcast, in either order."""

    op: str
    left: Expr
    right: Expr


class MatrixProduct(Expr):
    """The product (M x K) (K x N); all element types are equal."""

    left: Expr
    right: Expr


class MatrixTranspose(Expr):
    operand: Expr


class MatrixCast(Expr):
    """A matrix with its elements converted as a cast of scalars does it; the shape is unchanged. Also between matrices
    that differ in layout or padding only."""

    operand: Expr


class MatrixOfVector(Expr):
    """An OpenCL vector as a matrix `type` of one row or column, of as many elements of the same type."""

    operand: Expr


class VectorOfMatrix(Expr):
    """A matrix of one row or column as an OpenCL vector or, where it has one element, a scalar: `type`."""

    operand: Expr


class MatrixPart(Expr):
    """Row (a 1 x C matrix) or column (R x 1) `index` of a matrix, an integer below their number. `which` is "row" or
    "column"."""

    which: str
    operand: Expr
    index: Expr


class MatrixWithPart(Expr):
    """The operand with row or column `index` replaced by `part` (1 x C or R x 1, of the same element type); with
    `which` "element", element `index`, `column` replaced by the scalar `part`."""

    which: str
    operand: Expr
    index: Expr
    part: Expr
    column: Expr | None = None


class MatrixMemoryLoad(Expr):
    """A submatrix in memory: `pointer` points to the element type, in any address space, and the access is volatile
    where the pointee is; `stride` (ulong) counts elements from one column (row, where `row_major`) to the next."""

    pointer: Expr
    stride: Expr
    row_major: bool = False


class MatrixMemoryStore(Expr):
    """Void: a store, with the fields of `MatrixMemoryLoad`."""

    matrix: Expr
    pointer: Expr
    stride: Expr
    row_major: bool = False
