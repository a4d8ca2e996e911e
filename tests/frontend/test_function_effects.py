"""Functions that are operands may store to what is their own, by whatever pointers, and to nothing else."""

from __future__ import annotations

import pytest
from valid_modules import assert_valid

import coopmat

HEAD = """
typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_A)));
typedef struct { float *p; float own[2]; } S;
void clear(float *p) { *p = 0; }
void clear_behind(float **p) { **p = 0; }
float *second(float *a, float *b) { return b; }
void relay(float *p) { clear(p + 1); }
"""
KERNEL = """
kernel void k(global float *g, read_only image2d_t image, sampler_t sampler)
{
    float mine[4];
    for (int i = 0; i < 4; i++)
        mine[i] = i;
    M m = coop_mat_build(f%s);
    coop_mat_store(g, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}
"""
OWN = {
    "a variable": ("float x = r; x += c; return x;", ""),
    "an array": ("float a[2]; a[c % 2] = r; a[1 - c % 2] = c; return a[0];", ""),
    "by its address": ("float x; float *p = &x; *p = r; return x;", ""),
    "a copy of a pointer": ("float x; float *p = &x, *q; q = p; *q = r; return x;", ""),
    "in a callee": ("float x = r; clear(&x); return x;", ""),
    "in a callee's callee": ("float a[2] = {r, c}; relay(a); return a[1];", ""),
    "one of two pointers": ("float x = r, y = c; clear(r > c ? &x : &y); return x;", ""),
    "given back": ("float x, y; float *p = second(&x, &y); *p = r; return y;", ""),
    "in a record": ("S s; s.p = s.own; s.own[0] = 1; s.own[1] = r; return s.own[1];", ""),
    "a builtin's result": ("float whole; return fract(r / 3.0f, &whole) + whole;", ""),
    "a vector": ("float a[4]; vstore4((float4)(r), 0, a); return a[c % 4];", ""),
    "reading elsewhere": ("return p[r % 4] + p[c % 4];", ", mine"),
    "reading global memory": ("return p[r];", ", g"),
}
ELSEWHERE = {
    "a parameter": ("*p = r; return 0;", ", mine"),
    "global memory": ("p[r] = c; return 0;", ", g"),
    "a copy": ("float *q = p; *q = r; return 0;", ", mine"),
    "a copy of a copy": ("float *q, *s; q = p + 1; s = q; s[r] = c; return 0;", ", mine"),
    "in a callee": ("clear(p); return 0;", ", mine"),
    "in a callee's callee": ("relay(p + 1); return 0;", ", mine"),
    "one of two pointers": ("float x = r; clear(r > c ? &x : p); return x;", ", mine"),
    "given back": ("float x; float *q = second(&x, p); *q = r; return 0;", ", mine"),
    "in a record": ("S s; s.p = p; *s.p = r; return 0;", ", mine"),
    "behind two pointers": ("float *q = p; clear_behind(&q); return 0;", ", mine"),
    "a builtin's result": ("return fract(r / 3.0f, p);", ", mine"),
    "a vector": ("vstore4((float4)(r), 0, p); return 0;", ", mine"),
}


def compile(body: str, argument: str) -> str:
    kind = "global float *" if argument == ", g" else "float *"
    extra = f", {kind}p" if argument else ""
    function = f"float f(uint r, uint c{extra}) {{ {body} }}"
    return coopmat.compile(HEAD + function + KERNEL % argument, ["-w", "--matrices", "one"]).llvm_ir


@pytest.mark.parametrize("name", OWN)
def test_a_functions_own_memory(name: str) -> None:
    assert "kernel" in compile(*OWN[name])


@pytest.mark.parametrize("name", ELSEWHERE)
def test_effects_elsewhere_are_refused(name: str) -> None:
    with pytest.raises(coopmat.CompileError) as refused:
        compile(*ELSEWHERE[name])
    (error,) = refused.value.diagnostics
    assert error.code == "coop-mat-function-effect"


def test_images_are_read() -> None:
    read = "float f(uint r, uint c, read_only image2d_t i, sampler_t s) { return read_imagef(i, s, (int2)(c, r)).x; }"
    source = HEAD + read + KERNEL % ", image, sampler"
    for route in ("native", "one", "lanes", "scratch"):
        assert_valid(coopmat.compile(source, ["-w", "--matrices", route]))


def test_images_are_not_written() -> None:
    write = "float f(uint r, uint c, write_only image2d_t i) { write_imagef(i, (int2)(c, r), (float4)(r)); return 0; }"
    kernel = (KERNEL % ", image").replace("read_only", "write_only")
    with pytest.raises(coopmat.CompileError, match="write_imagef"):
        coopmat.compile(HEAD + write + kernel, ["-w"])
