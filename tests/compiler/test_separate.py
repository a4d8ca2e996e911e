"""Objects (`-c`): what they define for other programs, what these define for them, and what stays their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import coopmat
from coopmat.cli import app
from coopmat.diagnostics import CompileError
from coopmat.spirv.module import Module, decode_string
from coopmat.spirv.tools import find_tools, validate

MATRICES = """
#define MATRIX(use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_##use)))
typedef float A MATRIX(A); typedef float B MATRIX(B); typedef float C MATRIX(ACCUMULATOR);
C multiply(A a, B b, C c) { return coop_mat_mulAdd(a, b, c); }
void tile(global float *a, global float *b, global float *c) {
    A ma = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    B mb = coop_mat_load(b, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    C mc = coop_mat_load(c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    coop_mat_store(c, multiply(ma, mb, mc), CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
}
"""
NAMES = """
typedef struct { int a; float b[5]; } S;
extern float declared(float); extern constant float table[4]; extern constant int open[]; float unused(float);
extern global int elsewhere;
S dot(S a, global float4 *p, void *q);
float __attribute__((overloadable)) over(float4 x);
float __attribute__((overloadable)) over(float2 x) { return x.x; }
static constant float own[2] = {1.0f, 2.0f};
constant float shown[2] = {3.0f, 4.0f};
global int zero; global int sin; static global int hidden;
inline float inlined(float x) { return x + hidden; }
extern inline float extern_inlined(float x) { return x; }
static float internal(float x) { return x; }
float user(float x) { return inlined(x) + internal(x) + own[1]; }
kernel void k(global float *p, global float4 *q) {
    S s; s.a = 3; local int z[3]; z[0] = 1;
    constant int *o = open;
    p[0] = declared(p[0]) + table[1] + dot(s, q, z).b[0] + over(q[1]) + o[2] + elsewhere + user(p[1]);
}
"""
IMPORTED = {"declared", "table", "open", "elsewhere", "dot", "_Z4overDv4_f"}
EXPORTED = {"_Z4overDv2_f", "shown", "zero", "sin", "extern_inlined", "user"}


def linkage(spirv: bytes) -> dict[str, set[str]]:
    """Return the names that a module exports and imports."""
    found: dict[str, set[str]] = {"Export": set(), "Import": set()}
    for item in Module.parse(spirv).instructions:
        if item.name == "OpDecorate" and item.operands[1] == 41:
            found["Import" if item.operands[-1] else "Export"].add(decode_string(item.operands[2:])[0])
    return found


@pytest.mark.parametrize("route", ["native", "one", "lanes", "scratch"])
def test_names_of_a_module(route: str) -> None:
    spirv = coopmat.compile(NAMES, ["-c", "--matrices", route]).spirv
    assert linkage(spirv) == {"Export": EXPORTED, "Import": IMPORTED}
    if find_tools() is not None:
        assert validate(spirv, "spv1.4") is None


def test_names_of_opencl_c() -> None:
    text = coopmat.compile(NAMES, ["-c", "--matrices", "one", "--code", "c"]).opencl_c
    for line in (
        "extern __constant float table[4];",
        "extern __global int elsewhere;",
        "static __constant float own[2]",
    ):
        assert line in text
    static = {*re.findall(r"^static .*?(\w+)\(", text, re.MULTILINE)}
    assert {"inlined", "internal"} <= static and not static & {"user", "over", "declared", "dot"}
    assert re.search(r"^float user\(float x\)$", text, re.MULTILINE)
    assert text.count("__attribute__((overloadable)) float over(float") == 2


@pytest.mark.parametrize("route", ["one", "lanes", "scratch"])
def test_matrices_stay_in_their_object(route: str) -> None:
    """Functions of the library are each object's own, as are functions that take matrices."""
    module = coopmat.compile(MATRICES, ["-c", "--matrices", route])
    assert linkage(module.spirv)["Export"] == {"tile"}
    (info,) = module.functions.values()
    assert (info.name, info.uses_matrices, info.sub_group_size) == ("tile", True, 1 if route == "one" else 16)


def test_native_objects_are_lowered_as_spirv() -> None:
    source = MATRICES + "float f(float); kernel void k(global float *p) { tile(p, p, p); p[0] = f(p[1]); }"
    native = coopmat.compile(source, ["-c", "--matrices", "native"]).spirv
    lowered = coopmat.compile(native, ["--matrices", "one"], language="spv").spirv
    assert linkage(lowered) == {"Export": {"tile"}, "Import": {"f"}}


def test_kernels_that_call_other_programs() -> None:
    """On a route of subgroups they have the size that functions with matrices are compiled for."""
    source = "void tile(global float *); kernel void k(global float *p) { tile(p); } kernel void l(global float *p) { }"
    kernels = coopmat.compile(source, ["-c", "--matrices", "lanes"]).kernels
    assert (kernels["k"].imports, kernels["k"].sub_group_size) == (True, 16)
    assert (kernels["l"].imports, kernels["l"].sub_group_size) == (False, None)


def test_subgroups_of_one_are_those_of_all_objects() -> None:
    source = "uint size(void) { return get_sub_group_size(); }"
    module = coopmat.compile(source, ["-c", "--matrices", "one"])
    assert (
        linkage(module.spirv) == {"Export": {"size"}, "Import": set()} and module.functions["size"].sub_group_size == 1
    )


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("static float f(float); kernel void k(global float *p) { p[0] = f(1); }", "undefined-function"),
        (
            MATRICES + "C g(C); kernel void k(global float *p) { C c = g((C)coop_mat_init(0)); }",
            "matrix-between-programs",
        ),
        (MATRICES + "void g(C *); kernel void k(global float *p) { C c; g(&c); }", "matrix-between-programs"),
        (
            MATRICES + "struct S { C *c; }; void g(struct S *); kernel void k(void) { struct S s; g(&s); }",
            "matrix-between-programs",
        ),
        (
            "typedef float M __attribute__((matrix_type(2, 2))); M g(void); kernel void k(global M *p) { p[0] = g(); }",
            "matrix-between-programs",
        ),
        (
            MATRICES + "float g(uint, uint, float); kernel void k(global float *p) { C c = coop_mat_init(0);"
            "c = coop_mat_map(c, g); coop_mat_store(p, c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8); }",
            "coop-mat-function-effect",
        ),
    ],
)
def test_what_no_other_program_can_define(source: str, code: str) -> None:
    with pytest.raises(CompileError) as failure:
        coopmat.compile(source, ["-c"])
    assert [item.code for item in failure.value.diagnostics if item.severity.is_error] == [code]


def test_local_memory_of_shared_functions_in_c() -> None:
    module = coopmat.compile(MATRICES, ["-c", "--matrices", "scratch", "--code", "c"])
    with pytest.raises(CompileError, match="'tile' exchanges values in local memory"):
        _ = module.opencl_c


def test_whole_programs_need_every_definition() -> None:
    with pytest.raises(CompileError, match="'f' is never defined"):
        coopmat.compile("float f(float); kernel void k(global float *p) { p[0] = f(1); }")


def test_command_line(tmp_path: Path) -> None:
    source = tmp_path / "a.cl"
    source.write_text("float f(float); float g(float x) { return f(x); }")
    for words in (["-c"], ["-c", "--emit", "c"], ["-c", "-S"]):
        output = tmp_path / "out"
        assert app.run_command(["compile", *words, str(source), "-o", str(output)]) == 0
        text = output.read_bytes()
        assert b"float g(float x)" in text if "c" in words else b'"g" Export' in text if "-S" in words else text
    assert app.run_command(["compile", str(source), "-o", str(output)]) == 1
