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
