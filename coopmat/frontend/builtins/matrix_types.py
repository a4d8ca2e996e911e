"""Clang's matrix types: names and documentation only.

Their signatures depend on matrix types and on constants, so semantic analysis checks and types the calls itself; `M`
here is a matrix type, `T` its element type, `Row` and `Column` are matrices of one row or column.
"""

from __future__ import annotations

from .rows import Builtin

SECTION = "matrix_type"

#: Every name with its signature.
DOCUMENTED: dict[str, str] = {
    "__builtin_matrix_transpose": "M2 __builtin_matrix_transpose(M m)",
    "__builtin_matrix_column_major_load": (
        "M __builtin_matrix_column_major_load(const T *p, size_t rows, size_t columns[, size_t stride])"
    ),
    "__builtin_matrix_column_major_store": "void __builtin_matrix_column_major_store(M m, T *p[, size_t stride])",
    "__builtin_matrix_row_major_load": (
        "M __builtin_matrix_row_major_load(const T *p, size_t rows, size_t columns[, size_t stride])"
    ),
    "__builtin_matrix_row_major_store": "void __builtin_matrix_row_major_store(M m, T *p[, size_t stride])",
    "__builtin_matrix_row": "Row __builtin_matrix_row(M m, int row)",
    "__builtin_matrix_column": "Column __builtin_matrix_column(M m, int column)",
    "__builtin_matrix_insert_row": "M __builtin_matrix_insert_row(M m, int row, Row x)",
    "__builtin_matrix_insert_column": "M __builtin_matrix_insert_column(M m, int column, Column x)",
    "__builtin_matrix_insert": "M __builtin_matrix_insert(M m, int row, int column, T x)",
    "__builtin_matrix_extract": "T __builtin_matrix_extract(M m, int row, int column)",
    "__builtin_matrix_add": "M __builtin_matrix_add(M a, M b)",
    "__builtin_matrix_sub": "M __builtin_matrix_sub(M a, M b)",
    "__builtin_matrix_multiply": "M3 __builtin_matrix_multiply(M1 a, M2 b)",
    "__builtin_matrix_scalar_multiply": "M __builtin_matrix_scalar_multiply(M m, T x)",
    "__builtin_matrix_column_load": (
        "M __builtin_matrix_column_load(const T *p, size_t rows, size_t columns, size_t stride)"
    ),
    "__builtin_matrix_column_store": "void __builtin_matrix_column_store(M m, T *p, size_t stride)",
}

TABLE = tuple(Builtin(name, (), SECTION, lowering="analysis") for name in DOCUMENTED)
