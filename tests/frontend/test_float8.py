"""Floating-point types of 8 bits: types for storage, which casts and conversions by name convert, and nothing else."""

from __future__ import annotations

import pytest
from sema_support import expression, type_of

import coopmat
from coopmat.frontend import typed

SUBGROUP = "CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP"
ATTRIBUTE = f"__attribute__((coop_mat({SUBGROUP}, 4, 8, CLK_COOPERATIVE_MATRIX_A)))"
PARAMETERS = "floate4m3_t e, floate5m2_t g, global floate4m3_t *p, float x, half h, bfloat16 b, uchar u, int n"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        *(("e = (floate4m3_t)x", "floate4m3_t"), ("x = (float)e", "float"), ("g = (floate5m2_t)e", "floate5m2_t")),
        *(("b = (bfloat16)g", "bfloat16"), ("h = (half)e", "half"), ("p[n] = *p", "floate4m3_t")),
        *(("u = as_uchar(e)", "uchar"), ("e = as_floate4m3_t(u)", "floate4m3_t"), ("n = sizeof(e)", "ulong")),
        *(("g = as_floate5m2_t(e)", "floate5m2_t"), ("e = n ? e : *p", "floate4m3_t")),
        *(("e = convert_floate4m3_t(x)", "floate4m3_t"), ("e = convert_floate4m3_t_sat_rtz(h)", "floate4m3_t")),
        *(("g = convert_floate5m2_t_sat(e)", "floate5m2_t"), ("x = convert_float(g)", "float")),
        *(("b = convert_bfloat16(e)", "bfloat16"), ("h = convert_half_rtn(g)", "half")),
    ],
)
def test_types_of_values_and_assignments(text: str, result: str) -> None:
    target, _, value = text.partition(" = ")
    assert type_of(value, PARAMETERS) == result
    assert type_of(text, PARAMETERS) == type_of(target, PARAMETERS)


def codes(source: str, *options: str) -> list[str]:
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile(source, options)
    return [diagnostic.code for diagnostic in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *(
            (text, "invalid-operands")
            for text in ("e + e", "e * x", "n < g", "-e", "!e", "e & g", "e++", "e += e", "e *= 2")
        ),
        *((text, "incompatible-types") for text in ("e = x", "x = e", "e = g", "n = e", "e = 1")),
        *(("e ? 1 : 2", "invalid-condition"), ("e && n", "invalid-condition"), ("n ? e : x", "invalid-operands")),
        *(("convert_floate4m3_t3(x)", "undeclared-identifier"), ("fabs(e)", "ambiguous-call")),
        *(("native_sin(e)", "incompatible-types"), ('printf("%f", e)', "no-matching-function")),
    ],
)
def test_what_there_is_not(text: str, code: str) -> None:
    assert codes(f"void f({PARAMETERS}) {{ {text}; }}") == [code]


def test_declarations() -> None:
    assert codes("kernel void k(floate5m2_t x) { }") == ["kernel-parameter"]
    assert codes("floate4m3_t f(float x) { return x; }") == ["incompatible-types"]
    assert "unknown-type" in codes("void f(global floate4m3_t3 *x) { }")


def test_the_extension() -> None:
    assert codes("void f(global floate4m3_t *p) { }", "-cl-ext=-cl_ext_float8") == ["extension-off"]
    assert codes("uchar f(uchar x) { return as_uchar(as_floate5m2_t(x)); }", "-cl-ext=-cl_ext_float8") == [
        "extension-off"
    ]
    source = "#ifndef cl_ext_float8\n#error off\n#endif\nkernel void k() { }"
    assert coopmat.compile(source).unit and codes(source, "-cl-ext=-cl_ext_float8")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.0625f", 1.0),
        ("1.1875f", 1.25),
        ("448.0", 448.0),
        ("464.0", 448.0),
        ("-0.0f", 0.0),
        ("0x1p-10f", 0.0),
        ("17", 16.0),
    ],
)
def test_constants_round_once(text: str, value: float) -> None:
    e = expression(f"(floate4m3_t){text}", PARAMETERS)
    assert isinstance(e, typed.FloatConst) and e.value == value


def test_constants_beyond_the_range() -> None:
    for text in ("480.0f", "INFINITY", "1e300", "-INFINITY"):
        e = expression(f"(floate4m3_t){text}", PARAMETERS)
        assert isinstance(e, typed.FloatConst) and e.value != e.value
    e = expression("(floate5m2_t)65536", PARAMETERS)
    assert isinstance(e, typed.FloatConst) and e.value == float("inf")


def test_matrices() -> None:
    before = f"typedef floate4m3_t T {ATTRIBUTE}; typedef float F {ATTRIBUTE};"
    parameters = f"T t, F f, {PARAMETERS}"
    for text in (
        *("t = (T)f", "f = (F)t", "t = coop_mat_init(x)", "t = coop_mat_init(e)", "t = coop_mat_load(p, 0, 8) * x"),
        *("e = t[0]", "t[n] = e", "t = coop_mat_convert_sat_rtz(f)", "t = -t + t / t"),
    ):
        expression(text, parameters, before)
    assert type_of("t[0]", parameters, before) == "floate4m3_t"
