"""The proposal of matrix types for Clang ("Matrix Support in Clang"), fragment by fragment.

Adapted everywhere: `*M* Res` is `M Res`, missing semicolons are there, the loops that count `++K` count `++R`.
"""

from __future__ import annotations

import forms
import matrix_jit
import numpy as np
import pytest
from differential import Launch, execute
from equivalences import SCALAR, STRIDE, WAYS, Case, Entry, check, product, written
from sema_support import expect, good

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


@pytest.mark.parametrize(("case", "code"), WAYS, ids=str)
def test_builtins_are_the_code_of_the_text(device: DeviceInfo, case: Case, code: str) -> None:
    check(device, code, case, EQUIVALENCES)


# --- Example --------------------------------------------------------------------------------------

EXAMPLE = """
typedef float m4x4_t __attribute__((matrix_type(4, 4)));
void f(m4x4_t *a, m4x4_t *b, m4x4_t *c, m4x4_t *r) {
*r = __builtin_matrix_add(__builtin_matrix_multiply(*a, *b), *c);
}
"""
EXAMPLE_IR = """\
define void @f([16 x float]* %a, [16 x float]* %b, [16 x float]* %c, [16 x float]* %r) #0 {
entry:
%a.addr = alloca [16 x float]*, align 8
%b.addr = alloca [16 x float]*, align 8
%c.addr = alloca [16 x float]*, align 8
%r.addr = alloca [16 x float]*, align 8
store [16 x float]* %a, [16 x float]** %a.addr, align 8
store [16 x float]* %b, [16 x float]** %b.addr, align 8
store [16 x float]* %c, [16 x float]** %c.addr, align 8
store [16 x float]* %r, [16 x float]** %r.addr, align 8
%0 = load [16 x float]*, [16 x float]** %a.addr, align 8
%1 = bitcast [16 x float]* %0 to <16 x float>*
%2 = load <16 x float>, <16 x float>* %1, align 4
%3 = load [16 x float]*, [16 x float]** %b.addr, align 8
%4 = bitcast [16 x float]* %3 to <16 x float>*
%5 = load <16 x float>, <16 x float>* %4, align 4
%6 = call <16 x float> @llvm.matrix.multiply.v16f32.v16f32.v16f32(<16 x float> %2, <16 x float> %5, i32 4, i32 4, i32 4)
%7 = load [16 x float]*, [16 x float]** %c.addr, align 8
%8 = bitcast [16 x float]* %7 to <16 x float>*
%9 = load <16 x float>, <16 x float>* %8, align 4
%10 = fadd <16 x float> %6, %9
%11 = load [16 x float]*, [16 x float]** %r.addr, align 8
%12 = bitcast [16 x float]* %11 to <16 x float>*
store <16 x float> %10, <16 x float>* %12, align 4
ret void
}
declare <16 x float> @llvm.matrix.multiply.v16f32.v16f32.v16f32(<16 x float>, <16 x float>, i32 immarg, i32 immarg, i32 immarg)
"""  # noqa: E501
# Who calls it: from a kernel, by way of private memory.
KERNEL = """
kernel void k(global const m4x4_t *a, global const m4x4_t *b, global const m4x4_t *c, global m4x4_t *r)
{
    m4x4_t x = *a, y = *b, z = *c, sum;
    f(&x, &y, &z, &sum);
    *r = sum;
}
"""
KERNEL_IR = """
define spir_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %r) {
  %x = alloca [16 x float]
  %y = alloca [16 x float]
  %z = alloca [16 x float]
  %sum = alloca [16 x float]
  %1 = load [16 x float], ptr addrspace(1) %a, align 4
  %2 = load [16 x float], ptr addrspace(1) %b, align 4
  %3 = load [16 x float], ptr addrspace(1) %c, align 4
  store [16 x float] %1, ptr %x
  store [16 x float] %2, ptr %y
  store [16 x float] %3, ptr %z
  call void @f(ptr %x, ptr %y, ptr %z, ptr %sum)
  %4 = load [16 x float], ptr %sum
  store [16 x float] %4, ptr addrspace(1) %r, align 4
  ret void
}
"""


def example() -> tuple[list[np.ndarray], np.ndarray]:
    """a, b, c, r in memory, and what r is afterwards; whole numbers, so that contraction does not show."""
    generator = np.random.default_rng(4)
    a, b, c = (generator.integers(-9, 10, (4, 4)).astype(np.float32) for _ in range(3))
    return [m.ravel(order="F") for m in (a, b, c, np.zeros_like(a))], (a @ b + c).ravel(order="F")


def test_the_example_is_lowered_to_the_ir_of_the_text() -> None:
    """Storage, loads of vectors with the element's alignment, the intrinsic, `fadd`, the store: all of it, in order."""
    found, shown = forms.written(EXAMPLE), forms.modern(EXAMPLE_IR)
    assert forms.numbered(forms.body(found, "f")) == forms.numbered(forms.body(shown, "f"))
    assert shown.splitlines()[-1] in found
    variable = forms.written(EXAMPLE.replace("*r =", "m4x4_t sum; *r = sum ="))
    assert "%sum = alloca [16 x float], align 4" in variable


@pytest.mark.parametrize("code", ["spirv", "c", "llvm"])
def test_the_example_runs(device: DeviceInfo, code: str) -> None:
    arguments, expected = example()
    if code == "llvm":
        # Both by LLVM's own lowering. "typed pointers", and the attributes #0 that the text leaves out.
        for text in (forms.written(EXAMPLE), forms.modern(EXAMPLE_IR).replace(" #0", "")):
            _, ((*_, r),) = matrix_jit.run(text.replace(" addrspace(4)", ""), [("f", arguments)])
            assert np.array_equal(r, expected)
        return
    module = coopmat.compile(EXAMPLE + KERNEL, ["--code", code], name="example.cl")
    programs = [(module.opencl_c, module.opencl_c_options)] if code == "c" else [(module.spirv, [])]
    if code == "spirv":
        # The text's IR as it stands: one expression, too.
        module = coopmat.compile(EXAMPLE_IR + KERNEL_IR, name="example.ll", language="ir")
        assert forms.body(module.llvm_ir, "f").count("call ") == 1
        programs.append((module.spirv, []))
    for program, options in programs:
        (found,) = execute(device, program, [Launch("k", arguments)], options)
        assert np.array_equal(found[3], expected)


# --- what the text says in words -------------------------------------------------------------------

TYPE, ATTRIBUTE, EXTENSIONS = "Matrix Type", "Matrix TYPE Attribute", "Extensions"
M44, M23, M34, I44 = (
    f"typedef {t} __attribute__((matrix_type({s})));\n"
    for t, s in (("float M", "4, 4"), ("float W", "2, 3"), ("float V", "3, 4"), ("int I", "4, 4"))
)
CONST = "typedef const float C __attribute__((matrix_type(4, 4)));\n"
# Section, what is right, what is wrong with a mark before each place, and the errors' codes.
RULES = (
    # "It shall appear at most once in each attribute-list."
    (
        ATTRIBUTE,
        M44,
        "typedef float M __attribute__((matrix_type(4, 4), §matrix_type(4, 4)));",
        ["matrix-type-element"],
    ),
    # "Shall only appertain to a typedef-name of a typedef ..."
    (ATTRIBUTE, f"{M44}M m(M a);", "float __attribute__((§matrix_type(4, 4))) m;", ["matrix-type-attribute"]),
    # "... of a nonvolatile type that is a signed integer type, an unsigned integer type, or a floating-point type."
    (
        ATTRIBUTE,
        "".join(
            f"typedef {t} X{i} __attribute__((matrix_type(2, 2)));\n"
            for i, t in enumerate(("char", "ulong", "signed short", "half", "float", "double", "const float"))
        ),
        "struct S { int i; };\ntypedef volatile float V __attribute__((§matrix_type(2, 2)));\n"
        "typedef struct S X __attribute__((§matrix_type(2, 2)));\n"
        "typedef float4 Y __attribute__((§matrix_type(2, 2)));",
        ["matrix-type-element"] * 3,
    ),
    # "An element type of the cv-qualified type the attribute appertains to."
    (
        ATTRIBUTE,
        f"{CONST}{M44}void f(C c, M m) {{ m = c + m; m[0][1] = c[1][0]; }}",
        f"{CONST}{M44}void f(C c, M m) {{ §c[0][1] = 1; §c += m; }}",
        ["read-only"] * 2,
    ),
    # "An attribute-argument-clause must be present", of two constant expressions.
    (
        ATTRIBUTE,
        "enum { N = 3 };\ntypedef float M __attribute__((matrix_type(N, 1 + 1)));",
        "typedef float A __attribute__((§matrix_type));\ntypedef float B __attribute__((§matrix_type(4)));",
        ["matrix-type-attribute"] * 2,
    ),
    # "Both shall be positive nonzero integral constant expressions."
    (
        ATTRIBUTE,
        "typedef float M __attribute__((matrix_type(1, 1)));",
        "".join(
            f"typedef float {n} __attribute__((matrix_type({s})));\n"
            for n, s in (("A", "§0, 4"), ("B", "4, §-1"), ("C", "§2.0, 4"))
        )
        + "int n;",
        ["matrix-type-shape"] * 3,
    ),
    # "The maximum of the product of the constants is implementation defined": here 65536.
    (
        ATTRIBUTE,
        "typedef char M __attribute__((matrix_type(256, 256)));",
        "typedef char M __attribute__((§matrix_type(257, 256)));",
        ["matrix-type-shape"],
    ),
    # "All declarations of that typedef-name shall have ... the same element type, number of rows, and columns."
    (
        ATTRIBUTE,
        M44 + M44,
        f"{M44}typedef float §M;",
        ["matrix-type-redeclaration"],
    ),
    (
        ATTRIBUTE,
        M23 + M23,
        f"{M23}typedef float §W __attribute__((matrix_type(3, 2)));\n"
        "typedef int §W __attribute__((matrix_type(2, 3)));",
        ["matrix-type-redeclaration"] * 2,
    ),
    # "Matrix types with the same element type, rows, and columns are the same type."
    (
        TYPE,
        f"{M44}typedef float N __attribute__((matrix_type(4, 4)));\nvoid f(M m) {{ N n = m; M *p = &n; (void)p; }}",
        f"{M44}{M23}{I44}void f(M m, W w, I i) {{ w §= m; i §= m; }}",
        ["matrix-type-mismatch"] * 2,
    ),
    # "rows * columns values ... in column-major order without padding", "the same alignment as its ... element type".
    (
        TYPE,
        f'{M23}_Static_assert(sizeof(W) == 6 * sizeof(float) && _Alignof(W) == _Alignof(float), "");',
        f'{M23}_Static_assert(§sizeof(W) == 8 * sizeof(float), "");',
        ["static-assert"],
    ),
    # "Objects of matrix type are not usable in constant expressions."
    (
        TYPE,
        f"{M23}void f(const W w) {{ float x = w[0][0]; (void)x; }}",
        f"{M23}void f(const W w) {{ enum {{ E = §(int)w[0][0] }}; }}",
        ["not-constant"],
    ),
    # "row and col are in the ranges [0, rows in M) and [0, columns in M)."
    (
        ELEMENTS,
        f"{M23}float f(W w) {{ return __builtin_matrix_extract(__builtin_matrix_insert(w, 1, 2, 1), 1, 2); }}",
        f"{M23}float f(W w) {{ __builtin_matrix_insert(w, §2, 2, 1); return __builtin_matrix_extract(w, 1, §3); }}",
        ["matrix-type-index"] * 2,
    ),
    # "Matrix values of the same cv-unqualified type."
    (
        BINARY,
        f"{M44}void f(const M a, M b) {{ b = __builtin_matrix_add(a, b); b = __builtin_matrix_sub(b, a); }}",
        f"{M44}{M23}void f(M a, W b) {{ §__builtin_matrix_add(a, b); __builtin_matrix_sub(a, §1); }}",
        ["matrix-type-operand-types", "matrix-type-not-a-matrix"],
    ),
    # "The same cv-unqualified element type and M1's number of columns matching M2's number of rows."
    (
        OTHER,
        f"{M44}{M23}{M34}void f(const W w, V v) {{ (void)__builtin_matrix_multiply(w, v); }}",
        f"{M44}{M23}{I44}void f(M m, W w, I i) {{ §__builtin_matrix_multiply(m, w);\n"
        "§__builtin_matrix_multiply(m, i); }",
        ["matrix-type-shapes", "matrix-type-operand-types"],
    ),
    # "row and col shall be integral constants greater than 0", "stride >= row".
    (
        OTHER,
        "void f(const float *p, int n) { (void)__builtin_matrix_column_load(p, 2, 3, n); }",
        "void f(const float *p, int n) {\n(void)__builtin_matrix_column_load(p, §n, §0, 4);\n"
        "(void)__builtin_matrix_column_load(p, 4, 3, §3); }",
        ["matrix-type-shape", "matrix-type-shape", "matrix-type-stride"],
    ),
    # "The type T is the const-unqualified version of the matrix argument's element type."
    (
        OTHER,
        f"{M23}void f(const W w, float *p) {{ __builtin_matrix_column_store(w, p, 2); }}",
        f"{M23}void f(W w, const float *p, int *q) {{ __builtin_matrix_column_store(w, §p, 2);\n"
        "__builtin_matrix_column_store(w, §q, 2); }",
        ["matrix-type-const-store", "matrix-type-pointee"],
    ),
    # "T is the ... cv-unqualified element type": a scalar, and no matrix.
    (
        OTHER,
        f"{M23}void f(const W w) {{ W x = __builtin_matrix_scalar_multiply(w, 2); (void)x; }}",
        f"{M23}void f(W w) {{ __builtin_matrix_scalar_multiply(w, §w); }}",
        ["matrix-type-mismatch"],
    ),
    # "Adding a column_padding clause", "adding a layout clause".
    (
        EXTENSIONS,
        "typedef float P __attribute__((matrix_type(3, 2, column_padding(1))));\n"
        "typedef float R __attribute__((matrix_type(3, 2, layout(row_major))));\n"
        '_Static_assert(sizeof(P) == 32 && sizeof(R) == 24, "");\nvoid f(P p, R *r) { *r = (R)p; }',
        "typedef float P __attribute__((matrix_type(3, 2, column_padding(§-1))));\n"
        "typedef float R __attribute__((matrix_type(3, 2, layout(§diagonal))));",
        ["matrix-type-clause"] * 2,
    ),
    # "We require known integer constants as dimensions"; and two of them.
    (
        EXTENSIONS,
        M34,
        "typedef float N __attribute__((matrix_type(2, 3, §4)));",
        ["matrix-type-clause"],
    ),
)


@pytest.mark.parametrize(("section", "right", "wrong", "codes"), RULES, ids=lambda value: "")
def test_rules(section: str, right: str, wrong: str, codes: list[str]) -> None:
    good(right)
    expect(wrong, *codes)


def test_contraction_of_products_is_an_option() -> None:
    """ "We propose to provide a Clang option to ... allow contraction ... (e.g. -ffp-contract=matrix)"."""
    source = EXAMPLE.replace("*r =", "#pragma OPENCL FP_CONTRACT OFF\n*r =")
    assert "call <16 x float> @llvm.matrix.multiply" in forms.written(source)
    assert "call contract <16 x float> @llvm.matrix.multiply" in forms.written(source, "-ffp-contract=matrix")
