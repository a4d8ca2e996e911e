"""Functions of Clang's matrix types.

The table has names and documentation only. The signatures depend on matrix types and on constants, so semantic
analysis checks and types the calls. In the signatures, `M` is a matrix type and `T` its element type; `Row` and
`Column` are matrices of one row or one column.
"""

from __future__ import annotations

from .matrix import MatrixBuiltin
from .rows import Builtin

SECTION = "matrix_type"
_PREFIX = "__builtin_matrix_"
_SHAPE = "const T *p, size_t rows, size_t columns"
_ROWS = (
    ("M2", "transpose", "M m"),
    ("M", "column_major_load", f"{_SHAPE}[, size_t stride]"),
    ("void", "column_major_store", "M m, T *p[, size_t stride]"),
    ("M", "row_major_load", f"{_SHAPE}[, size_t stride]"),
    ("void", "row_major_store", "M m, T *p[, size_t stride]"),
    ("Row", "row", "M m, int row"),
    ("Column", "column", "M m, int column"),
    ("M", "insert_row", "M m, int row, Row x"),
    ("M", "insert_column", "M m, int column, Column x"),
    ("M", "insert", "M m, int row, int column, T x"),
    ("T", "extract", "M m, int row, int column"),
    ("M", "add", "M a, M b"),
    ("M", "sub", "M a, M b"),
    ("M3", "multiply", "M1 a, M2 b"),
    ("M", "scalar_multiply", "M m, T x"),
    ("M", "column_load", f"{_SHAPE}, size_t stride"),
    ("void", "column_store", "M m, T *p, size_t stride"),
)
BUILTINS: dict[str, MatrixBuiltin] = {
    _PREFIX + name: MatrixBuiltin(name, f"{result} {_PREFIX}{name}({parameters})") for result, name, parameters in _ROWS
}

TABLE = tuple(Builtin(name, (), SECTION, lowering="analysis") for name in BUILTINS)
