"""Clang's page on matrix types, its draft specification, fragment by fragment.

Adapted everywhere: `decltype(M1) Res` is `M Res` (C++), `MTy` is the type's name, missing semicolons are there, the
loops that count `++K` count `++R`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from equivalences import CASES, SCALAR, STRIDE, Array, Case, Entry, check, product, written

from coopmat.devices import DeviceInfo

CONVERSIONS, ACCESS, OPERATORS, BUILTINS = (
    "Standard Conversions",
    "Matrix Type Element Access Operator",
    "Matrix Type Binary Operators",
    "Matrix Type Builtin Operations",
)
X, Y, SAME = "M M1 = *(global const M *)x;", "M M2 = *(global const M *)y;", "(EltTy)scalar"
PRODUCT = """
for (int C = 0; C < col; ++C) {
for (int R = 0; R < row; ++R) {
EltTy Elt = 0;
for (int K = 0; K < inner; ++K) {
Elt += M1[R][K] * M2[K][C];
}
Res[R][C] = Elt;
}
}
"""
APPLY: dict[str, Callable[[Array, Array], Array]] = {"+": np.add, "-": np.subtract, "*": np.multiply}
NAMES = {"+": "add", "-": "sub", "*": "mul"}


def binary(sign: str, left: str, right: str) -> Entry:
    """`M1 BIN_OP M2`; a side that is `scalar` is broadcast in the text's code."""
    code = f"for (int C = 0; C < col; ++C)\nfor (int R = 0; R < row; ++R)\nRes[R][C] = M1[R][C] {sign} M2[R][C];\n"
    first = X if left == "M1" else "M M1 = (M)scalar;"
    second = Y if right == "M2" else "M M2 = (M)scalar;"

    def side(case: Case, memory: Array, name: str) -> Array:
        return memory.dtype.type(SCALAR) if name == "scalar" else case.matrix(memory, "M")

    return Entry(
        OPERATORS,
        f"{NAMES[sign]}_{left}_{right}",
        f"{first} {second}",
        f"{left} {sign} {right}",
        "M",
        code,
        lambda case, x, y: APPLY[sign](side(case, x, left), side(case, y, right)),
    )


def compound(sign: str, operand: str) -> Entry:
    """ "The semantics match their expanded variants"; of square matrices, that products fit."""
    return Entry(
        OPERATORS,
        f"{NAMES[sign]}_assign_{operand}",
        "S M1 = *(global const S *)x, M2 = *(global const S *)y, M3 = M1;",
        f"(M3 {sign}= {operand}, M3)",
        "S",
        f"Res = M1 {sign} {operand};",
        lambda case, x, y: (
            product(case.matrix(x, "S"), case.matrix(y, "S"))
            if (sign, operand) == ("*", "M2")
            else APPLY[sign](case.matrix(x, "S"), case.matrix(y, "S") if operand == "M2" else x.dtype.type(SCALAR))
        ),
    )


def swapped(case: Case, memory: Array) -> Array:
    """The first and the last element of the matrix, exchanged."""
    matrix = case.matrix(memory, "M").copy()
    matrix[0, 0], matrix[-1, -1] = matrix[-1, -1], matrix[0, 0]
    return matrix


EQUIVALENCES = (
    Entry(
        CONVERSIONS,
        "matrix_to_matrix",
        X,
        "(W)M1",
        "W",
        "for (int C = 0; C < col; ++C)\nfor (int R = 0; R < row; ++R)\nRes[R][C] = (int)M1[R][C];\n",
        lambda case, x, y: case.matrix(x, "M").astype(np.int32),
    ),
    Entry(
        CONVERSIONS,
        "real_to_matrix",
        "",
        "(M)(scalar + 0.5f)",
        "M",
        "for (int C = 0; C < col; ++C)\nfor (int R = 0; R < row; ++R)\nRes[R][C] = (EltTy)(scalar + 0.5f);\n",
        lambda case, x, y: np.full(case.shapes["M"], SCALAR + 0.5).astype(x.dtype),
    ),
    Entry(
        ACCESS,
        "elements",
        f"{X} M M2 = M1; M2[0][0] = M1[row - 1][col - 1]; M2[row - 1][col - 1] = (M1 + 0)[0][0];",
        "M2",
        "M",
        # "the value of the element at the given row and column"
        "global EltTy *at = (global EltTy *)text;\nfor (int i = 0; i < row * col; ++i) at[i] = x[i];\n"
        "at[0] = x[row * col - 1]; at[row * col - 1] = x[0];\nRes = *(global M *)text;\n",
        lambda case, x, y: swapped(case, x),
    ),
    *(binary(sign, "M1", "M2") for sign in "+-"),
    *(binary(sign, *sides) for sign in APPLY for sides in (("M1", "scalar"), ("scalar", "M2"))),
    Entry(
        OPERATORS,
        "product",
        "M M1 = *(global const M *)x; N M2 = *(global const N *)y;",
        "M1 * M2",
        "P",
        PRODUCT,
        lambda case, x, y: product(case.matrix(x, "M"), case.matrix(y, "N")),
    ),
    *(compound(sign, "M2") for sign in APPLY),
    *(compound(sign, "scalar") for sign in APPLY),
    Entry(
        BUILTINS,
        "transpose",
        "M matrix = *(global const M *)x;",
        "__builtin_matrix_transpose(matrix)",
        "Q",
        "for (int C = 0; C < col; ++C)\nfor (int R = 0; R < row; ++R)\nRes[C][R] = matrix[R][C];\n",
        lambda case, x, y: case.matrix(x, "M").T,
        of="M",
    ),
    *(
        Entry(
            BUILTINS,
            f"column_major_load_{'packed' if argument == '' else 'strided'}",
            f"global const EltTy *ptr = x; enum {{ columnStride = {'row' if argument == '' else 'stride'} }};",
            f"__builtin_matrix_column_major_load(x, row, col{argument})",
            "M",
            """
for (size_t C = 0; C < col; ++C) {
for (size_t R = 0; R < row; ++R)
Res[R][C] = ptr[R];
ptr += columnStride;
}
""",
            lambda case, x, y, stride=stride: case.matrix(x, "M", stride),
        )
        for argument, stride in (("", 0), (", columnStride", STRIDE))
    ),
    *(
        Entry(
            BUILTINS,
            f"column_major_store_{'packed' if argument == '' else 'strided'}",
            "M matrix = *(global const M *)x; global EltTy *ptr = text;"
            f" enum {{ columnStride = {'row' if argument == '' else 'stride'} }};",
            f"__builtin_matrix_column_major_store(matrix, given{argument})",
            "M",
            """
for (size_t C = 0; C < col; ++C) {
for (size_t R = 0; R < row; ++R)
ptr[R] = matrix[R][C];
ptr += columnStride;
}
""",
            lambda case, x, y, stride=stride: written(case, x, "M", stride or case.rows),
            memory=True,
        )
        for argument, stride in (("", 0), (", columnStride", STRIDE))
    ),
)


@pytest.mark.parametrize("code", ["spirv", "c"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_operations_are_the_code_of_the_text(device: DeviceInfo, case: Case, code: str) -> None:
    check(device, code, case, EQUIVALENCES)
