"""Clang's page on matrix types, its draft specification, fragment by fragment.

Adapted everywhere: `decltype(M1) Res` is `M Res` (C++), `MTy` is the type's name, missing semicolons are there, the
loops that count `++K` count `++R`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from differential import Launch, execute
from equivalences import SCALAR, STRIDE, WAYS, Array, Case, Entry, check, product, written
from sema_support import expect, good

import coopmat
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


@pytest.mark.parametrize(("case", "code"), WAYS, ids=str)
def test_operations_are_the_code_of_the_text(device: DeviceInfo, case: Case, code: str) -> None:
    check(device, code, case, EQUIVALENCES)


# --- what the text says in words -------------------------------------------------------------------

TYPE, ATTRIBUTE, ARITHMETIC, DECISIONS = (
    "Matrix Type",
    "Matrix Type Attribute",
    "Arithmetic Conversions",
    "Decisions for the Implementation in Clang",
)


def typedef(name: str, shape: str, element: str = "float", mark: str = "") -> str:
    return f"typedef {element} {name} __attribute__(({mark}matrix_type({shape})));\n"


M, W, V, INTS = typedef("M", "4, 4"), typedef("W", "2, 3"), typedef("V", "3, 4"), typedef("I", "4, 4", "int")
# Section, what is right, what is wrong with a mark before each place, and the errors' codes.
RULES = (
    # "Matrix types with the same element type, rows, and columns are the same type", others are not.
    (
        TYPE,
        M + typedef("N", "4, 4") + "void f(M m) { N n = m; M *p = &n; (void)p; }",
        M + INTS + "void f(M m, I i) { i §= m; }",
        ["matrix-type-mismatch"],
    ),
    # "If that implementation-defined limit is exceeded, the program is ill-formed": 65536 elements.
    (TYPE, typedef("X", "65536, 1"), "typedef int X __attribute__((§matrix_type(65537, 1)));", ["matrix-type-shape"]),
    # "An integer type, but excluding enumerated types and _Bool; float or double; half-precision".
    (
        TYPE,
        "".join(
            typedef(f"X{i}", "2, 2", e)
            for i, e in enumerate(
                ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double")
            )
        ),
        "enum E { A };\n"
        + "".join(typedef(f"X{i}", "2, 2", e, "§") for i, e in enumerate(("enum E", "bool", "int *"))),
        ["matrix-type-element"] * 3,
    ),
    # "Integer constant expressions that evaluate to a value greater than zero."
    (
        ATTRIBUTE,
        typedef("X", "sizeof(int), 1 ? 2 : 0"),
        "int n;\n" + typedef("X", "§0, 2") + typedef("Y", "2, §-3") + typedef("Z", "2, §2.5f"),
        ["matrix-type-shape"] * 3,
    ),
    # "All declaration of that typedef-name shall have a matrix_type attribute with the same ..."
    (
        ATTRIBUTE,
        W + W,
        W + "typedef float §W __attribute__((matrix_type(2, 4)));\ntypedef float §W;",
        ["matrix-type-redeclaration"] * 2,
    ),
    # "Only permitted as explicit casts, not as implicit conversions."
    (
        CONVERSIONS,
        M + INTS + "void f(M m, I i, int n) { m = (M)i; i = (I)m; m = (M)n; m = (M)1.0; }",
        M + INTS + "M g(M m) { return m; }\nvoid f(M m, I i, int n) { m §= i; m §= n; g(§i); M k = §1.0f; }",
        ["matrix-type-mismatch"] * 4,
    ),
    # "If the number of rows or columns differ between the original and resulting type, the program is ill-formed."
    (
        CONVERSIONS,
        W + typedef("X", "2, 3", "char") + "void f(W w, X x) { x = (X)w; }",
        W + typedef("X", "3, 2") + typedef("Y", "2, 2") + "void f(W w, X x, Y y) { x = §(X)w; y = §(Y)w; }",
        ["matrix-type-cast"] * 2,
    ),
    # "If one operand is of matrix type and the other operand is of a real type, convert the real type operand".
    (
        ARITHMETIC,
        M + "void f(M m, int n, double d, bool b) { m = m + n; m = d - m; m = m * b; }",
        M + "struct S { int i; };\nvoid f(M m, float4 v, struct S s, int *p) { m §+ v; s §- m; m §* p; }",
        ["matrix-type-operator"] * 3,
    ),
    # "Integral or unscoped enumeration type, and shall not be uses of the comma operator unless parenthesized."
    (
        ACCESS,
        M + "enum E { A };\nvoid f(M m, enum E e, char c) { float x = m[e][c] + m[(c, 1)][2]; m[0][1] = x; }",
        M + "void f(M m, float x, int n) { m[§x][0] = 1; m[§n, 1][0] = 1; m[0][§n, 1] = 1; }",
        ["matrix-type-index", "matrix-type-subscript", "matrix-type-subscript"],
    ),
    # "A non-negative value less than R", "less than C": told where it is constant.
    (
        ACCESS,
        W + "float f(W w) { return w[1][2]; }",
        W + "float f(W w) { float x = w[§2][2]; x = w[§-1][0]; return w[1][§3]; }",
        ["matrix-type-index"] * 3,
    ),
    # "If E1 is a prvalue, the result is a prvalue ... Otherwise, a glvalue with type cv T."
    (
        ACCESS,
        W + "void f(W w) { float x = (w + w)[1][2]; w[1][2] = x; w[0][0] += x; w[1][1]++; }",
        W + "void f(W w, const W c) { (w + w)[1][2] §= 1; §c[1][2] = 1; }",
        ["not-an-lvalue", "read-only"],
    ),
    # "Programs containing a single subscript expression into a matrix are ill-formed."
    (
        ACCESS,
        M + "float f(M *p) { return (*p)[1][2] + p[1][2][3]; }",
        M + "void f(M m, M *p) { §m[1]; §(*p)[1]; (§m[1])[2]; }",
        ["matrix-type-subscript"] * 3,
    ),
    # The note: builtins extract rows and columns, and no subscript does.
    (
        ACCESS,
        M + typedef("R", "1, 4") + "R f(M m) { return __builtin_matrix_row(m, 1); }",
        M + typedef("R", "1, 4") + "R f(M m) { return §m[1]; }",
        ["matrix-type-subscript"],
    ),
    # "Each matrix type supports the following binary operators: +, - and *."
    (
        OPERATORS,
        M + "void f(M m) { m = m + m - m * m; m += m; m -= m; m *= m; m += 1; m -= 2; m *= 3; }",
        M + "void f(M m) { m §/ m; m §% 2; m §& m; m §== m; m §/= 2; §-m; }",
        ["matrix-type-operator"] * 6,
    ),
    # "M1 and M2 shall be of the same matrix type."
    (
        OPERATORS,
        M + "void f(const M m, M n) { n = m + n; }",
        M + W + INTS + "void f(M m, W w, I i) { m §+ w; m §- i; }",
        ["matrix-type-operand-types"] * 2,
    ),
    # "The type of M1 shall have the same number of columns as the type of M2 has rows; the same element types."
    (
        OPERATORS,
        M + W + V + typedef("P", "2, 4") + "void f(W w, V v) { P p = w * v; (void)p; }",
        M + W + V + INTS + "void f(M m, W w, V v, I i) { v §* w; m §* i; }",
        ["matrix-type-shapes", "matrix-type-operand-types"],
    ),
    # "The same number of rows as M1 has columns ...": the result's type.
    (
        BUILTINS,
        W + typedef("X", "3, 2") + "void f(const W w) { X x = __builtin_matrix_transpose(w); (void)x; }",
        W + "void f(W w, float4 v) { w §= __builtin_matrix_transpose(w); __builtin_matrix_transpose(§v); }",
        ["matrix-type-mismatch", "matrix-type-not-a-matrix"],
    ),
    # "row and col shall be integral constants greater than 0", "columnStride is greater than or equal to row".
    (
        BUILTINS,
        W + "void f(const float *p, int n) { W w = __builtin_matrix_column_major_load(p, 2, 3);\n"
        "w = __builtin_matrix_column_major_load((const volatile float *)p, 2, 3, n); }",
        "void f(const float *p, int n) { __builtin_matrix_column_major_load(p, §n, 3);\n"
        "__builtin_matrix_column_major_load(p, 2, §0); __builtin_matrix_column_major_load(p, 2, 3, §1); }",
        ["matrix-type-shape", "matrix-type-shape", "matrix-type-stride"],
    ),
    # "T is the const-unqualified version of the matrix argument's element type", the stride at least the rows.
    (
        BUILTINS,
        W + "void f(const W w, float *p) { __builtin_matrix_column_major_store(w, p, 2); }",
        W + "void f(W w, const float *p, double *q, float *r) { __builtin_matrix_column_major_store(w, §p);\n"
        "__builtin_matrix_column_major_store(w, §q); __builtin_matrix_column_major_store(w, r, §1); }",
        ["matrix-type-const-store", "matrix-type-pointee", "matrix-type-stride"],
    ),
    # "Laid out in column-major order without padding."
    (
        DECISIONS,
        W + '_Static_assert(sizeof(W) == 6 * sizeof(float), "");',
        W + '_Static_assert(§sizeof(W) == 8 * sizeof(float), "");',
        ["static-assert"],
    ),
)


@pytest.mark.parametrize(("section", "right", "wrong", "codes"), RULES, ids=lambda value: "")
def test_rules(section: str, right: str, wrong: str, codes: list[str]) -> None:
    good(right)
    expect(wrong, *codes)


LOST = """
typedef float row __attribute__((matrix_type(1, 2)));
typedef float column __attribute__((matrix_type(2, 1)));
kernel void on(global const row *a, global const column *b, global float *o) { o[0] = (*a * *b)[0][0]; }
kernel void off(global const row *a, global const column *b, global float *o)
{
    #pragma STDC FP_CONTRACT OFF
    o[0] = (*a * *b)[0][0];
}
"""


@pytest.mark.parametrize("code", ["spirv", "c"])
def test_contraction_is_subject_to_the_pragma(device: DeviceInfo, code: str) -> None:
    """By the pragma that the text names. What x * x loses by rounding remains where the step is contracted."""
    module = coopmat.compile(LOST, ["--code", code], name="document.cl")
    x = np.float32(1 + 2.0**-12)
    arguments = [np.array([-x * x, x], np.float32), np.array([1, x], np.float32), np.zeros(1, np.float32)]
    program, options = (module.spirv, []) if code == "spirv" else (module.opencl_c, module.opencl_c_options)
    on, off = execute(device, program, [Launch(kernel, arguments) for kernel in ("on", "off")], options)
    assert on[2][0] in (0, 2.0**-24) and off[2][0] == 0
