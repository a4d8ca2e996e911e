"""The types of OCP's microscaling formats: for storage, as types of 8 bits are, and no component types."""

from __future__ import annotations

import pytest
from sema_support import expression, type_of

import coopmat
from coopmat.frontend import typed

PARAMETERS = "floate2m1_t e, floate8m0_t s, global floate3m2_t *p, float x, half h, uchar u, floate4m3_t f"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        *(("(floate2m1_t)x", "floate2m1_t"), ("(float)s", "float"), ("p[1] = *p", "floate3m2_t")),
        *(("(floate8m0_t)h", "floate8m0_t"), ("(floate4m3_t)e", "floate4m3_t"), ("as_uchar(s)", "uchar")),
        *(("as_floate2m3_t(u)", "floate2m3_t"), ("convert_floate2m1_t_sat_rtz(f)", "floate2m1_t")),
    ],
)
def test_expressions(text: str, result: str) -> None:
    assert type_of(text, PARAMETERS) == result


@pytest.mark.parametrize("text", ["e + e", "s * x", "-e", "e < e", "x = s", "e = x", "fabs(e)"])
def test_invalid_expressions(text: str) -> None:
    with pytest.raises(coopmat.CompileError):
        coopmat.compile(f"void f({PARAMETERS}) {{ {text}; }}")


@pytest.mark.parametrize(
    ("text", "value"), [("2.5f", 2.0), ("2.6f", 3.0), ("-7.0f", -6.0), ("INFINITY", 6.0), ("5", 4.0), ("NAN", 0.0)]
)
def test_constants_round_once(text: str, value: float) -> None:
    e = expression(f"(floate2m1_t){text}", PARAMETERS)
    assert isinstance(e, typed.FloatConst) and e.value == value


def test_the_extension_and_components() -> None:
    matrix = "__attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 8, CLK_COOPERATIVE_MATRIX_A)))"
    for source, options, code in (
        ("void f(floate2m1_t x) { }", ["-cl-ext=-cl_ext_microscaling_types"], "extension-off"),
        ("kernel void k(floate8m0_t x) { }", [], "kernel-parameter"),
        (f"void f(floate8m0_t x {matrix}) {{ }}", [], "coop-mat-component"),
    ):
        with pytest.raises(coopmat.CompileError) as caught:
            coopmat.compile(source, options)
        assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [code]


VECTORS = "floate2m1_t4 v, floate4m3_t8 w, floate2m1_t e, global floate2m1_t *p, uchar2 u, int i, float4 x"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        *(("v.xy", "floate2m1_t2"), ("v.s3", "floate2m1_t"), ("w.even", "floate4m3_t4"), ("w[i]", "floate4m3_t")),
        *(("as_uchar2(v)", "uchar2"), ("as_floate2m1_t4(u)", "floate2m1_t4"), ("as_ulong(w)", "ulong")),
        *(("(floate2m1_t4)(e)", "floate2m1_t4"), ("(floate2m1_t4)(v.xy, e, 1.5f)", "floate2m1_t4")),
        *(("convert_float4(v)", "float4"), ("convert_floate2m1_t4_sat_rtn(x)", "floate2m1_t4")),
        *(("vload8(0, p)", "floate2m1_t8"), ("vstore4(v, 1, p)", "void"), ("v = i ? v : v", "floate2m1_t4")),
        *(("convert_floate8m0_t8(w)", "floate8m0_t8"), ("v.x = e", "floate2m1_t")),
    ],
)
def test_expressions_of_vectors(text: str, result: str) -> None:
    assert type_of(text, VECTORS) == result


@pytest.mark.parametrize(
    ("t", "size"),
    [("floate4m3_t4", 4), ("floate2m1_t16", 8), ("floate2m1_t2", 1), ("signed4_t8", 4), ("floate8m0_t2", 2)],
)
def test_sizes_of_vectors(t: str, size: int) -> None:
    assert f"{expression(f'(int)sizeof({t})', VECTORS).value}" == str(size)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *(("v + v", "invalid-operands"), ("-w", "invalid-operands"), ("v == v", "invalid-operands")),
        *(("v++", "invalid-operands"), ("v += v", "invalid-operands"), ("w * 2.0f", "invalid-operands")),
        *(("x = v", "incompatible-types"), ("v = e", "incompatible-types"), ("v[i]", "vector-subscript")),
        *(("v.xyz", "swizzle"), ("fabs(v)", "no-matching-function"), ("vload3(0, p)", "no-matching-function")),
        *(("as_uint(v)", "no-matching-function"), ("(float4)v", "invalid-cast"), ("!v", "invalid-operands")),
    ],
)
def test_invalid_expressions_of_vectors(text: str, code: str) -> None:
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile(f"void f({VECTORS}) {{ {text}; }}", ["-w"])
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [code]


def test_arithmetic_on_vectors_has_a_hint() -> None:
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile(f"float4 f({VECTORS}) {{ return x * v; }}")
    assert [note.message for note in caught.value.diagnostics[0].notes] == [
        "'floate2m1_t4' is a storage type; convert it by 'convert_float4'"
    ]


NARROW = """
#define MATRIX(T, use) T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, use)))
typedef MATRIX(floate2m1_t, CLK_COOPERATIVE_MATRIX_A) A;
typedef MATRIX(floate3m2_t, CLK_COOPERATIVE_MATRIX_B) B;
typedef MATRIX(signed4_t, CLK_COOPERATIVE_MATRIX_A) S;
typedef MATRIX(unsigned4_t, CLK_COOPERATIVE_MATRIX_B) U;
typedef MATRIX(signed4_t, CLK_COOPERATIVE_MATRIX_ACCUMULATOR) R;
typedef MATRIX(float, CLK_COOPERATIVE_MATRIX_ACCUMULATOR) C;
typedef MATRIX(int, CLK_COOPERATIVE_MATRIX_ACCUMULATOR) I;
floate2m1_t4 rows(uint r, uint c) { return (floate2m1_t4)(1.0f); }
floate2m1_t first(floate2m1_t x, floate2m1_t y) { return x; }
"""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *(("a + a", "coop-mat-narrow"), ("-b", "coop-mat-narrow"), ("s * 2", "coop-mat-narrow")),
        *(("a *= 2.0f", "coop-mat-narrow"), ("fmax(a, a)", "coop-mat-narrow"), ("u -= u", "coop-mat-narrow")),
        *(("c = coop_mat_mulAdd(a, b, c)", "coop-mat-component-class"), ("i = coop_mat_mulAdd(s, u, i)", "")),
        *(("r = coop_mat_mulAdd(s, u, r)", "coop-mat-component-class"), ("a = coop_mat_build(rows)", "not-supported")),
        ("i = coop_mat_mulAdd(s, u, i, CLK_COOPERATIVE_MATRIX_OPERAND_NONE)", "coop-mat-operands"),
        ("A t = coop_mat_reduce(a, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, first)", "coop-mat-narrow"),
        *(("c = (C)a", ""), ("a = (A)c", ""), ("s = coop_mat_convert_sat_rte(c)", ""), ("a[0] = a[1]", "")),
    ],
)
def test_matrices(text: str, code: str) -> None:
    source = f"{NARROW}void f(A a, B b, S s, U u, R r, C c, I i) {{ {text}; }}"
    try:
        coopmat.compile(source, ["-w", "--matrices", "one"])
    except coopmat.CompileError as error:
        assert [diagnostic.code for diagnostic in error.diagnostics] == [code]
    else:
        assert code == ""


def test_no_extension_has_matrices_of_few_bits() -> None:
    with pytest.raises(coopmat.CompileError) as caught:
        _ = coopmat.compile(f"{NARROW}kernel void k() {{ A a = coop_mat_init(0); }}", ["--matrices", "native"]).spirv
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "native-matrix" and "'floate2m1_t'" in diagnostic.message
