"""Errors about Clang's matrix types."""

from __future__ import annotations

from .rows import ErrorCode

PRELUDE = """\
typedef float M __attribute__((matrix_type(4, 4)));
typedef float W __attribute__((matrix_type(4, 8)));
typedef int I __attribute__((matrix_type(4, 4)));
typedef float R __attribute__((matrix_type(4, 4, layout(row_major))));
"""

MATRIX_TYPES: tuple[ErrorCode, ...] = (
    # The type.
    ErrorCode(
        "matrix-type-attribute",
        "the attribute `matrix_type` is outside of a typedef, or lacks the number of rows or columns",
        "float __attribute__((matrix_type(4, 4))) m;\ntypedef float V __attribute__((matrix_type(4)));",
    ),
    ErrorCode(
        "matrix-type-element",
        "the attribute `matrix_type` is applied to a type that cannot be the element type of a matrix",
        "typedef bool B __attribute__((matrix_type(4, 4)));\ntypedef float *P __attribute__((matrix_type(4, 4)));",
    ),
    ErrorCode(
        "matrix-type-shape",
        "the number of rows or columns is not a constant or is out of range, or the matrix has too many elements",
        "typedef float Z __attribute__((matrix_type(4, 0)));\n"
        "typedef float L __attribute__((matrix_type(1024, 1024)));",
    ),
    ErrorCode(
        "matrix-type-clause",
        "a clause of `matrix_type`, such as a layout or padding, is unknown or invalid, or contradicts another clause",
        "typedef float D __attribute__((matrix_type(4, 4, layout(diagonal))));\n"
        "typedef float P __attribute__((matrix_type(4, 4, row_padding(1))));",
    ),
    ErrorCode(
        "matrix-type-redeclaration",
        "a typedef name is declared again with another matrix type",
        "typedef float M __attribute__((matrix_type(4, 5)));",
    ),
    ErrorCode(
        "matrix-type-kernel-parameter",
        "a matrix is a parameter of a kernel; kernels accept only pointers to matrices",
        "kernel void k(M m) { }",
    ),
    # What becomes one.
    ErrorCode(
        "matrix-type-mismatch",
        "a value would have to be converted implicitly from or to a matrix type, but only casts do this",
        "void f(I i, float x) { M m = x; m = i; }",
    ),
    ErrorCode(
        "matrix-type-cast",
        "a cast from or to a matrix type is not allowed, for example because the shapes differ",
        "void f(M m, float4 v) { W w = (W)m; m = (M)v; }",
    ),
    ErrorCode(
        "matrix-type-initializer",
        "a matrix has a list in braces as its initial value",
        "void f() { M m = { 1, 2, 3, 4 }; }",
    ),
    # Operators.
    ErrorCode(
        "matrix-type-operator",
        "an operator is applied to a matrix, but does not accept it or the other operand's type",
        "void f(M m) { m = m / 2; m = -m; }",
    ),
    ErrorCode(
        "matrix-type-operand-types",
        "the operands of an operator are matrices of different types, "
        "for example with different element types or layouts",
        "void f(M m, I i, R r) { m = m + i; m = m * r; }",
    ),
    ErrorCode(
        "matrix-type-shapes",
        "the first factor of a product does not have as many columns as the second factor has rows",
        "void f(M m, W w) { w = w * m; }",
    ),
    ErrorCode("matrix-type-condition", "a matrix is used as a condition", "void f(M m) { if (m) return; }"),
    # Elements.
    ErrorCode(
        "matrix-type-subscript",
        "a matrix element is selected by one subscript instead of two, or a subscript contains a comma operator",
        "float f(M m) { return m[1, 2][0] + m[1]; }",
    ),
    ErrorCode(
        "matrix-type-index",
        "an index of a matrix element is not an integer, or is outside of the matrix",
        "float f(M m, float x) { return m[4][0] + m[x][0]; }",
    ),
    ErrorCode(
        "matrix-type-element-address",
        "the source takes the address of an element of a matrix",
        "void f(M m) { float *p = &m[0][0]; }",
    ),
    # Builtins.
    ErrorCode(
        "matrix-type-not-a-matrix",
        "a builtin requires a matrix as an argument, but the argument has another type",
        "void f(float4 v) { __builtin_matrix_transpose(v); }",
    ),
    ErrorCode(
        "matrix-type-pointee",
        "the pointer argument of a load or store does not point to the element type of the matrix",
        "void f(global int *p, M m) { __builtin_matrix_column_major_store(m, p); }",
    ),
    ErrorCode(
        "matrix-type-const-store",
        "a store goes through a pointer to read-only memory",
        "void f(global const float *p, M m) { __builtin_matrix_column_major_store(m, p); }",
    ),
    ErrorCode(
        "matrix-type-stride",
        "a stride is not a number, or is less than the number of rows (with row-major builtins, of columns)",
        "void f(global float *p) { M m = __builtin_matrix_column_major_load(p, 4, 4, 3); }",
    ),
    ErrorCode(
        "matrix-type-part",
        "the row or column that a builtin inserts into a matrix has a wrong shape or element type",
        "void f(M m, float4 v) { m = __builtin_matrix_insert_row(m, 0, v); }",
    ),
)
