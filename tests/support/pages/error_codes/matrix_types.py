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
        "the attribute stands outside of a typedef, or lacks the number of rows or columns",
        "float __attribute__((matrix_type(4, 4))) m;\ntypedef float V __attribute__((matrix_type(4)));",
    ),
    ErrorCode(
        "matrix-type-element",
        "no element can be of this type",
        "typedef bool B __attribute__((matrix_type(4, 4)));\ntypedef float *P __attribute__((matrix_type(4, 4)));",
    ),
    ErrorCode(
        "matrix-type-shape",
        "the number of rows or columns is no constant, or out of range, or there are too many elements",
        "typedef float Z __attribute__((matrix_type(4, 0)));\n"
        "typedef float L __attribute__((matrix_type(1024, 1024)));",
    ),
    ErrorCode(
        "matrix-type-clause",
        "a clause of the attribute is none of those that there are, or does not fit the others",
        "typedef float D __attribute__((matrix_type(4, 4, layout(diagonal))));\n"
        "typedef float P __attribute__((matrix_type(4, 4, row_padding(1))));",
    ),
    ErrorCode(
        "matrix-type-redeclaration",
        "a typedef's name is declared again as another matrix type",
        "typedef float M __attribute__((matrix_type(4, 5)));",
    ),
    ErrorCode(
        "matrix-type-kernel-parameter",
        "a kernel takes matrices by pointer",
        "kernel void k(M m) { }",
    ),
    # What becomes one.
    ErrorCode(
        "matrix-type-mismatch",
        "nothing converts implicitly, from or to a matrix",
        "void f(I i, float x) { M m = x; m = i; }",
    ),
    ErrorCode("matrix-type-cast", "no cast converts so", "void f(M m, float4 v) { W w = (W)m; m = (M)v; }"),
    ErrorCode(
        "matrix-type-initializer", "a matrix has no list of initial values", "void f() { M m = { 1, 2, 3, 4 }; }"
    ),
    # Operators.
    ErrorCode("matrix-type-operator", "an operator that matrices do not have", "void f(M m) { m = m / 2; m = -m; }"),
    ErrorCode(
        "matrix-type-operand-types",
        "the operands are of different matrix types",
        "void f(M m, I i, R r) { m = m + i; m = m * r; }",
    ),
    ErrorCode("matrix-type-shapes", "the shapes do not fit in a product", "void f(M m, W w) { w = w * m; }"),
    ErrorCode("matrix-type-condition", "a matrix is neither true nor false", "void f(M m) { if (m) return; }"),
    # Elements.
    ErrorCode(
        "matrix-type-subscript",
        "an element has two subscripts, without a comma operator",
        "float f(M m) { return m[1, 2][0] + m[1]; }",
    ),
    ErrorCode(
        "matrix-type-index",
        "an index is no integer, or outside of the matrix",
        "float f(M m, float x) { return m[4][0] + m[x][0]; }",
    ),
    ErrorCode("matrix-type-element-address", "the address of an element", "void f(M m) { float *p = &m[0][0]; }"),
    # Builtins.
    ErrorCode(
        "matrix-type-not-a-matrix",
        "a builtin needs a matrix here",
        "void f(float4 v) { __builtin_matrix_transpose(v); }",
    ),
    ErrorCode(
        "matrix-type-pointee",
        "the pointer is to something else than elements of the matrix",
        "void f(global int *p, M m) { __builtin_matrix_column_major_store(m, p); }",
    ),
    ErrorCode(
        "matrix-type-const-store",
        "a store to what is read-only",
        "void f(global const float *p, M m) { __builtin_matrix_column_major_store(m, p); }",
    ),
    ErrorCode(
        "matrix-type-stride",
        "the stride is no number, or less than what lies between two columns (rows)",
        "void f(global float *p) { M m = __builtin_matrix_column_major_load(p, 4, 4, 3); }",
    ),
    ErrorCode(
        "matrix-type-part",
        "the row or column to be inserted is of another shape or element type",
        "void f(M m, float4 v) { m = __builtin_matrix_insert_row(m, 0, v); }",
    ),
)
