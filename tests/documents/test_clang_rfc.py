"""The proposal of matrix types for Clang ("Matrix Support in Clang"), fragment by fragment.

Adapted everywhere: `*M* Res` is `M Res`, missing semicolons are there, the loops that count `++K` count `++R`.
"""

from __future__ import annotations

import numpy as np
import pytest
from equivalences import CASES, SCALAR, STRIDE, Case, Entry, check, product, written

import coopmat
from coopmat.devices import DeviceInfo

ELEMENTS, BINARY, OTHER = (f"Matrix Type builtin Operations: {s}" for s in ("Element", "Simple Binary", "Other"))
ONE = "M matrix = *(global const M *)x;"
TWO = "M matrix1 = *(global const M *)x, matrix2 = *(global const M *)y;"


def simple(sign: str) -> str:
    return f"""
for (int C = 0; C < col; ++C) {{
for (int R = 0; R < row; ++R) {{
EltTy Elt = __builtin_matrix_extract(matrix1, R, C) {sign}
__builtin_matrix_extract(matrix2, R, C);
Res = __builtin_matrix_insert(Res, R, C, Elt);
}}
}}
"""


def inserted(case: Case, matrix: np.ndarray, at: tuple[int, int], element: object) -> np.ndarray:
    matrix = matrix.copy()
    matrix[at] = element
    return matrix


EQUIVALENCES = (
    Entry(
        ELEMENTS,
        "insert",
        ONE,
        "__builtin_matrix_insert(matrix, 1, 0, y[0])",
        "M",
        "Res = matrix; Res[1][0] = y[0];",  # "a copy of matrix with the element ... set to elt"
        lambda case, x, y: inserted(case, case.matrix(x, "M"), (1, 0), y[0]),
    ),
    Entry(
        ELEMENTS,
        "extract",
        ONE,
        "(M)__builtin_matrix_extract(matrix, 1, 0)",
        "M",
        "Res = (M)x[1];",  # "a copy of the element at the specified row and column"
        lambda case, x, y: np.full(case.shapes["M"], x[1]),
    ),
    Entry(
        BINARY,
        "add",
        TWO,
        "__builtin_matrix_add(matrix1, matrix2)",
        "M",
        simple("+"),
        lambda case, x, y: case.matrix(x, "M") + case.matrix(y, "M"),
    ),
    Entry(
        BINARY,
        "sub",
        TWO,
        "__builtin_matrix_sub(matrix1, matrix2)",
        "M",
        simple("-"),
        lambda case, x, y: case.matrix(x, "M") - case.matrix(y, "M"),
    ),
    Entry(
        OTHER,
        "multiply",
        "M matrix1 = *(global const M *)x; N matrix2 = *(global const N *)y;",
        "__builtin_matrix_multiply(matrix1, matrix2)",
        "P",
        """
for (int C = 0; C < col; ++C) {
for (int R = 0; R < row; ++R) {
EltTy Elt = 0;
for (int K = 0; K < inner; ++K) {
Elt += __builtin_matrix_extract(matrix1, R, K) *
__builtin_matrix_extract(matrix2, K, C);
}
Res = __builtin_matrix_insert(Res, R, C, Elt);
}
}
""",
        lambda case, x, y: product(case.matrix(x, "M"), case.matrix(y, "N")),
    ),
    Entry(
        OTHER,
        "transpose",
        ONE,
        "__builtin_matrix_transpose(matrix)",
        "Q",
        """
for (int C = 0; C < col; ++C) {
for (int R = 0; R < row; ++R) {
EltTy Elt = __builtin_matrix_extract(matrix, R, C);
Res = __builtin_matrix_insert(Res, C, R, Elt);
}
}
""",
        lambda case, x, y: case.matrix(x, "M").T,
        of="M",
    ),
    Entry(
        OTHER,
        "column_load",
        "global const EltTy *ptr = x;",
        "__builtin_matrix_column_load(x, row, col, stride)",
        "M",
        """
for (int C = 0; C < col; ++C) {
for (int R = 0; R < row; ++R)
Res = __builtin_matrix_insert(Res, R, C, ptr[R]);
ptr += stride;
}
""",
        lambda case, x, y: case.matrix(x, "M", STRIDE),
    ),
    Entry(
        OTHER,
        "column_store",
        f"{ONE} global EltTy *ptr = text;",
        "__builtin_matrix_column_store(matrix, given, stride)",
        "M",
        """
for (int C = 0; C < col; ++C) {
for (int R = 0; R < row; ++R)
ptr[R] = __builtin_matrix_extract(matrix, R, C);
ptr += stride;
}
""",
        lambda case, x, y: written(case, x, "M", STRIDE),
        memory=True,
    ),
    Entry(
        OTHER,
        "scalar_multiply",
        ONE,
        "__builtin_matrix_scalar_multiply(matrix, scalar)",
        "M",
        """
for (int C = 0; C < col; ++C) {
for (int R = 0; R < row; ++R) {
EltTy Elt = __builtin_matrix_extract(matrix, R, C) * scalar;
Res = __builtin_matrix_insert(Res, R, C, Elt);
}
}
""",
        lambda case, x, y: case.matrix(x, "M") * x.dtype.type(SCALAR),
    ),
)


@pytest.mark.parametrize("code", ["spirv", "c"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_builtins_are_the_code_of_the_text(device: DeviceInfo, case: Case, code: str) -> None:
    check(device, code, case, EQUIVALENCES)
