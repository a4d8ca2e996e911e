"""printf: the arguments' promotions, what it does not take, and what a format string is."""

from __future__ import annotations

import pytest

import coopmat
from coopmat.diagnostics import CompileError
from coopmat.frontend import typed


def printf(body: str, *options: str) -> typed.BuiltinCall:
    """The call that is the last statement of a kernel."""
    module = coopmat.compile(f"kernel void k(global half *h) {{ {body} }}", options)
    (function,) = module.unit.kernels
    assert function.body is not None
    last = function.body.items[-1]
    assert isinstance(last, typed.ExprStmt) and isinstance(last.expr, typed.BuiltinCall)
    return last.expr


def test_arguments_are_promoted() -> None:
    body = 'char c = 1; ushort s = 2; bool b = true; float f = 3; float4 v = 4; printf("", c, s, b, f, *h, v, h, "a");'
    types = [str(t) for t in printf(body, "-w").parameters]
    assert types == [
        *("constant const char *", "int", "int", "int", "double", "double", "float4", "global half *"),
        "constant char *",
    ]


def test_floats_stay_floats_without_doubles() -> None:
    types = printf('float f = 3; printf("%f %f", f, *h);', "-cl-ext=-cl_khr_fp64").parameters
    assert [str(t) for t in types[1:]] == ["float", "float"]


ERRORS = {
    "printf();": "'printf' takes a format string",
    "printf(3);": "argument 1 of 'printf'",
    'private char s[] = "a"; printf(s);': "argument 1 of 'printf'",
    'struct S { int x; } s; printf("%d", s);': "'printf' does not take 'struct S'",
    'printf("%d", nothing);': "'nothing' is not declared",
}


@pytest.mark.parametrize("body", ERRORS)
def test_what_it_does_not_take(body: str) -> None:
    with pytest.raises(CompileError) as caught:
        printf(body)
    assert ERRORS[body] in str(caught.value)


def test_it_came_with_opencl_c_1_2() -> None:
    with pytest.raises(CompileError, match=r"'printf' needs CL1\.2, which is off"):
        printf('printf("a");', "-cl-std=CL1.1")
