"""Cooperative matrices: every error that analysis can raise, and the nearest programs that are right."""

from __future__ import annotations

import pytest
from sema_support import MATRICES, analysed, dumped, expect, expression, good, type_of

import coopmat
from coopmat.diagnostics import render_text
from coopmat.frontend import typed
from coopmat.frontend.typed_dump import dump
from coopmat.frontend.types import CoopMatrixType, MatrixUse
from coopmat.matrices.variants import Conversion

SUBGROUP = "CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP"
USE_A = "CLK_COOPERATIVE_MATRIX_A"
ATTRIBUTE = f"__attribute__((coop_mat({SUBGROUP}, 4, 8, {USE_A})))"

# Two more matrices: integers, and an accumulator of another shape.
MORE = """\
typedef char AI MATRIX(16, 8, A);
typedef uchar BI MATRIX(8, 32, B);
typedef int CI MATRIX(16, 32, ACCUMULATOR);
typedef float D MATRIX(16, 16, ACCUMULATOR);
typedef double C64 MATRIX(16, 32, ACCUMULATOR);
"""
# What the statements of the tables below have at hand.
HEAD = (
    MATRICES
    + MORE
    + """\
struct S { C c; int n; };
struct T { struct S s[2]; C m[2][2]; };
void g(C c) { }
void __attribute__((overloadable)) o(C c, float x) { }
void __attribute__((overloadable)) o(D d, float x) { }
void __attribute__((overloadable)) o(C c, global float *p) { }
C made(int n) { if (n) return coop_mat_init(1); return (coop_mat_init(2)); }
void f(A a, B b, C c, D d, AI ai, BI bi, CI ci, C64 c64, struct S s, int n, float x, float4 v, size_t z,
global float *gf, const global float *cf, constant float *kf, local float *lf, private float *pf, global half *gh,
global float4 *gf4, global float3 *gf3, global int *gi, global char *gc, global int4 *gi4)
{
"""
)


# The same, as a kernel.
KERNEL = (
    HEAD.partition("void f(")[0]
    + """\
kernel void f(int n, float x, float4 v, ulong z, global float *gf, const global float *cf, constant float *kf,
local float *lf, global half *gh, global float4 *gf4, global float3 *gf3, global int *gi, global char *gc)
{
A a = coop_mat_init(0); B b = coop_mat_init(0); C c = coop_mat_init(0); D d = coop_mat_init(0);
AI ai = coop_mat_init(0); BI bi = coop_mat_init(0); CI ci = coop_mat_init(0); C64 c64 = coop_mat_init(0);
struct S s = { c, 1 };
"""
)


PRAGMA = "#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable\n"


def wrong(marked: str, *codes: str) -> None:
    expect(f"{marked}\n}}", *codes, before=HEAD)


def native(statements: str) -> None:
    """Compiles to valid SPIR-V; what is computed is stored, so that none of it can be left out."""
    end = "coop_mat_store(gf, c, ROW_MAJOR, 32); coop_mat_store(gi, ci, ROW_MAJOR, 32); gf[n] = x;"
    module = coopmat.compile(f"{KERNEL}{statements}\n{end}\n}}")
    assert module.diagnostics == []
    assert module.spirv and module.validated


def right(statements: str) -> typed.Unit:
    return good(f"{HEAD}{statements}\n}}")


def message(source: str) -> str:
    """The rendered text of all findings."""
    diagnostics = analysed(source)[1]
    return render_text(diagnostics.items, diagnostics.sources)


# --- the type ---


@pytest.mark.parametrize(
    "declaration",
    [
        f"float m {ATTRIBUTE};",
        f"float {ATTRIBUTE} m;",
        f"{ATTRIBUTE} float m;",
        f"float const {ATTRIBUTE} volatile n = m;",
        f"typedef float T {ATTRIBUTE}; T m;",
        f"typedef float {ATTRIBUTE} T; T m;",
        f"typedef {ATTRIBUTE} float T; T m;",
        f"typedef float F; F m {ATTRIBUTE};",
        f"float __attribute__((__coop_mat__({SUBGROUP}, 4, 8, {USE_A}))) m;",
        f"float __attribute__((unused, coop_mat({SUBGROUP}, 4, 8, {USE_A}))) m;",
        f"float __attribute__((coop_mat(memory_scope_sub_group, 4, 8, {USE_A}))) m;",
        f"float __attribute__((coop_mat((memory_scope_sub_group), 4, 8, {USE_A}))) m;",
        f"float __attribute__((coop_mat((memory_scope)memory_scope_sub_group, 4, 8, {USE_A}))) m;",
        "float __attribute__((coop_mat(3, 2 + 2, sizeof(double), 0))) m;",
        f"enum {{ R = 4, K = R * 2 }}; float __attribute__((coop_mat({SUBGROUP}, R, K, {USE_A}))) m;",
        f"struct {{ float m {ATTRIBUTE}; }} s;",
    ],
)
def test_spellings_of_the_type(declaration: str) -> None:
    before = f"typedef float M {ATTRIBUTE};\n"
    setup = "M m; " if "n = m" in declaration else ""
    unit = good(f"{before}void f(void) {{ {setup}{declaration} M same = {'s.m' if ' s;' in declaration else 'm'}; }}")
    assert "float coop_mat(4x8, a)" in dump(unit)


def test_attributes_after_a_declarator_mean_the_innermost_type() -> None:
    source = f"float g(float *p {ATTRIBUTE}, float a[2] {ATTRIBUTE}) {ATTRIBUTE};"
    unit = good(f"typedef float M {ATTRIBUTE};\n{source}\nM g(M *p, M *a) {{ p[0] = a[1]; return *p; }}")
    m = "float coop_mat(4x8, a)"
    assert str(unit.functions[0].type) == f"{m} (private {m} *, private {m} *)"


@pytest.mark.parametrize(
    "component",
    [
        *("half", "float", "double", "bfloat16", "floate4m3_t", "floate5m2_t"),
        *(s + t for s in ("", "u") for t in ("char", "short", "int", "long")),
    ],
)
@pytest.mark.parametrize("use", list(MatrixUse))
def test_component_types_and_uses(component: str, use: MatrixUse) -> None:
    spelled = f"CLK_COOPERATIVE_MATRIX_{use.name}"
    attribute = f"__attribute__((coop_mat({SUBGROUP}, 1, 1048575, {spelled})))"
    e = expression("m", "T m", f"typedef {component} T {attribute};")
    t = e.type
    assert isinstance(t, CoopMatrixType)
    assert (t.component.name, t.scope, t.rows, t.columns, t.use) == (component, 3, 1, 1048575, use)


def test_bfloat16_components() -> None:
    before = f"typedef __bf16 T {ATTRIBUTE}; typedef float F {ATTRIBUTE};"
    parameters = "T t, F f, int n, float x, global bfloat16 *p"
    for text in (
        "t = (T)f",
        "f = (F)t",
        "t = coop_mat_init(x)",
        "t = coop_mat_load(p, 0, 8) * n",
        "x = t[0]",
        "t[n] = x",
    ):
        expression(text, parameters, before)
    assert type_of("t[0] + t[1]", parameters, before) == "float"
    assert type_of("t[0]", parameters, before) == "bfloat16"
    e = expression("t = coop_mat_init(257)", parameters, before)
    assert isinstance(e, typed.Assign) and isinstance(e.value, typed.MatrixFill)
    assert isinstance(e.value.value, typed.FloatConst) and e.value.value.value == 256
    expect(
        f"{before} void f({parameters}, half h) {{ t §= f; t = coop_mat_load(§&h, 0, 8); }}",
        "coop-mat-mismatch",
        "coop-mat-pointee",
    )


def test_enumerators_as_strings() -> None:
    source = f'typedef float T __attribute__((coop_mat("{SUBGROUP}", 4, 8, "{USE_A}")));\nvoid f(T a) {{ }}\n'
    unit, diagnostics = analysed(source)
    assert [(item.code, item.severity.value) for item in diagnostics.items] == [
        ("coop-mat-string-enumerator", "warning")
    ] * 2
    assert [item.fixits[0].replacement for item in diagnostics.items] == [SUBGROUP, USE_A]
    assert str(unit.functions[0].parameters[0].type) == "float coop_mat(4x8, a)"


def test_types_are_the_same_where_all_five_agree() -> None:
    good(f"{MATRICES}typedef half A2 MATRIX(8 * 2, 4 + 4, A); void f(A a) {{ A2 b = a; a = b; }}")
    for other in ("half A2 MATRIX(8, 16, A)", "half A2 MATRIX(16, 8, B)", "float A2 MATRIX(16, 8, A)"):
        expect(f"typedef {other}; void f(A a) {{ A2 b = §a; }}", "coop-mat-mismatch", before=MATRICES)


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        ("float m __attribute__((coop_mat(§memory_scope_work_item, 4, 4, 0)));", "coop-mat-scope"),
        ("float m __attribute__((coop_mat(§memory_scope_device, 4, 4, 0)));", "coop-mat-scope"),
        ("float m __attribute__((coop_mat(§1, 4, 4, 0)));", "coop-mat-scope"),
        # Of the same value as the right one, by chance.
        ("float m __attribute__((coop_mat(§memory_scope_all_svm_devices, 4, 4, 0)));", "coop-mat-scope"),
        ("float m __attribute__((coop_mat(§(int)memory_scope_all_devices, 4, 4, 0)));", "coop-mat-scope"),
        ("float m __attribute__((coop_mat(3, 4, 4, §memory_scope_sub_group)));", "coop-mat-use"),
        (f"struct __attribute__((§coop_mat({SUBGROUP}, 4, 4, 0))) S {{ int a; }};", "coop-mat-attribute"),
        (f"struct S {{ int a; }} __attribute__((§coop_mat({SUBGROUP}, 4, 4, 0)));", "coop-mat-attribute"),
        (f"enum __attribute__((§coop_mat({SUBGROUP}, 4, 4, 0))) E {{ X }};", "coop-mat-attribute"),
        (f"__attribute__((§coop_mat({SUBGROUP}, 4, 4, 0))) while (n) n--;", "coop-mat-attribute"),
        ("float m __attribute__((coop_mat(§4, 4, 4, 0)));", "coop-mat-scope"),
        ("float m __attribute__((coop_mat(§n, 4, 4, 0)));", "coop-mat-scope"),
        ('float m __attribute__((coop_mat(§"SUBGROUP", 4, 4, 0)));', "coop-mat-scope"),
        ("float m __attribute__((coop_mat(3, §0, 4, 0)));", "coop-mat-shape"),
        ("float m __attribute__((coop_mat(3, §-1, 4, 0)));", "coop-mat-shape"),
        ("float m __attribute__((coop_mat(3, 4, §1048576, 0)));", "coop-mat-shape"),
        ("float m __attribute__((coop_mat(3, §n, 4, 0)));", "coop-mat-shape"),
        ("float m __attribute__((coop_mat(3, 4, §4.0f, 0)));", "coop-mat-shape"),
        ("float m __attribute__((coop_mat(3, 4, §nosuch, 0)));", "undeclared-identifier"),
        ("float m __attribute__((coop_mat(3, 4, 4, §3)));", "coop-mat-use"),
        ("float m __attribute__((coop_mat(3, 4, 4, §n)));", "coop-mat-use"),
        ('float m __attribute__((coop_mat(3, 4, 4, §"A")));', "coop-mat-use"),
        ("float m __attribute__((§coop_mat(3, 4, 4)));", "coop-mat-attribute"),
        ("float m __attribute__((§coop_mat));", "coop-mat-attribute"),
        ("float m __attribute__((§coop_mat(3, 4, 4, 0, 0)));", "coop-mat-attribute"),
        ("bool m __attribute__((§coop_mat(3, 4, 4, 0)));", "coop-mat-component"),
        ("float4 m __attribute__((§coop_mat(3, 4, 4, 0)));", "coop-mat-component"),
        ("struct S m __attribute__((§coop_mat(3, 4, 4, 0)));", "coop-mat-component"),
        ("typedef global int *P; P m __attribute__((§coop_mat(3, 4, 4, 0)));", "coop-mat-component"),
        ("void m __attribute__((§coop_mat(3, 4, 4, 0)));", "coop-mat-component"),
        ("C m __attribute__((§coop_mat(3, 4, 4, 0)));", "coop-mat-component"),
        ("local C §m;", "coop-mat-address-space"),
        ("constant C §m;", "coop-mat-address-space"),
        ("global C §m;", "coop-mat-address-space"),
        ("static C §m;", "coop-mat-address-space"),
        ("local struct S §m;", "coop-mat-address-space"),
        ("local C §m[2];", "coop-mat-address-space"),
        ("local C *§m;", "coop-mat-address-space"),
        ("union { C §m; int k; } u;", "coop-mat-union"),
        ("§sizeof(C);", "coop-mat-opaque"),
        ("§sizeof c;", "coop-mat-opaque"),
        ("§sizeof(struct S);", "coop-mat-opaque"),
        ("§__alignof__(c);", "coop-mat-opaque"),
    ],
)
def test_types_that_are_wrong(marked: str, code: str) -> None:
    wrong(marked, code)


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        ("C §m;", "coop-mat-file-scope"),
        ("constant C §m[2] = { };", "coop-mat-file-scope"),
        ("struct S { C c; }; constant struct S §m = { };", "coop-mat-file-scope"),
        ("kernel void k(C §m) { }", "coop-mat-kernel-parameter"),
        ("kernel void k(int n, C *§m) { }", "coop-mat-kernel-parameter"),
        ("struct S { C c; }; kernel void k(struct S §m) { }", "coop-mat-kernel-parameter"),
        ("kernel void k(C §m[2]) { }", "coop-mat-kernel-parameter"),
        ("kernel void k(global C *§m) { }", "coop-mat-address-space"),
        ("void k(local C *§m) { }", "coop-mat-address-space"),
        ("struct S { C c; }; void k(global struct S *§m) { }", "coop-mat-address-space"),
        ("kernel C §k(void) { C c; return c; }", "kernel-result"),
    ],
)
def test_places_where_no_matrix_may_be(marked: str, code: str) -> None:
    expect(marked, code, before=MATRICES)


@pytest.mark.parametrize(
    "marked",
    [
        "float *q = §(float *)&c;",
        "C *q = §(C *)gf;",
        "C *q = §(C *)&f;",
        "C *q = §(C *)&s;",
        "C *q = §(C *)1024ul;",
        "int *q = §(int *)&s;",
        "void *q = §&c;",
        "void *q = §&s;",
        "C *q; q §= (private void *)&f;",
        "struct S *q = §(struct S *)&c;",
        "AI *q = §(AI *)&c;",
        "n = (int)*§(int *)&all;",
        "C (*q)[2] = §(C (*)[2])&c;",
        "atomic_store(§(atomic_int *)&c, 1);",
        "float x = *(float *)(§n ? (void *)&f : &c);",
    ],
)
def test_the_memory_of_a_matrix_is_nothing_else(marked: str) -> None:
    head = "struct S { int n; C c; }; void f(global float *gf, C c, struct S s, float f, int n) { C all[2]; "
    expect(f"{head}{marked} }}", "coop-mat-pointer", before=MATRICES + MORE)


def test_pointers_to_matrices() -> None:
    right(
        "const C *p = &c; C *q = 0, **r = &q; volatile C *w = &s.c; q = n ? &c : 0; q = (C *)0; q = (C *)&c;"
        " n = q == p; n = q != 0; n = !q; ulong u = (ulong)q; *r = q + 1; n = r[0] - q; n = (bool)q; c = *p; *w = c;"
    )


def test_the_extension_turned_off() -> None:
    marked = (
        "typedef float M __attribute__((§coop_mat(3, 4, 4, 0)));\n"
        "void f(global float *p) {\n    §coop_mat_store(p, 1, 0, 4);\n    M m;\n"
        "    int n = §CLK_COOPERATIVE_MATRIX_A;\n}"
    )
    expect(marked, *["coop-mat-extension-off"] * 3, matrices=False)
    for name in ("cl_khr_cooperative_matrix", "__opencl_c_ext_cooperative_matrix"):
        with pytest.raises(coopmat.CompileError, match=f"needs {name}, which is turned off") as caught:
            coopmat.compile(marked.replace("§", ""), [f"-cl-ext=-{name}"])
        assert str(caught.value).count(f"remove -cl-ext=-{name}") == 3
    good("void f(void) { int coop_mat = 1, coop_mat_row = coop_mat; }")


# --- builtins ---


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("§coop_mat_load(gf, ROW_MAJOR, 32);", ["coop-mat-no-target"]),
        ("§coop_mat_init(0);", ["coop-mat-no-target"]),
        ("c * §coop_mat_init(0);", ["coop-mat-no-target"]),
        ("c *= §coop_mat_init(0);", ["coop-mat-no-target"]),
        ("x + §coop_mat_init(0);", ["coop-mat-no-target"]),
        ("§coop_mat_init(0) - §coop_mat_init(0);", ["coop-mat-no-target"] * 2),
        ("n ? §coop_mat_init(0) : §coop_mat_init(0);", ["coop-mat-no-target"] * 2),
        ("n ? x : §coop_mat_init(0);", ["coop-mat-no-target"]),
        ("c §= d + coop_mat_init(0);", ["coop-mat-mismatch"]),
        ("o(§coop_mat_init(0), x);", ["coop-mat-no-target"]),
        ("o(§coop_mat_init(0), x, x);", ["coop-mat-no-target"]),
        ("(void)§coop_mat_init(0);", ["coop-mat-no-target"]),
        ("c = coop_mat_mulAdd(§coop_mat_load(gh, ROW_MAJOR, 8), b, c);", ["coop-mat-no-target"]),
        ("coop_mat_mulAdd(a, b, §coop_mat_init(0));", ["coop-mat-no-target"]),
        ("x = coop_mat_mulAdd(a, b, §coop_mat_init(0));", ["coop-mat-mismatch"]),
        ("coop_mat_store(gf, §coop_mat_init(0), ROW_MAJOR, 32);", ["coop-mat-no-target"]),
        ("x = §coop_mat_load(gf, ROW_MAJOR, 32);", ["coop-mat-mismatch"]),
        ("int i = §coop_mat_init(0);", ["coop-mat-mismatch"]),
        ("v = §coop_mat_init(0);", ["coop-mat-mismatch"]),
        ("x §= coop_mat_mulAdd(a, b, c);", ["coop-mat-mismatch"]),
        ("d §= coop_mat_mulAdd(a, b, c);", ["coop-mat-mismatch"]),
        ("c = coop_mat_load(gf, §3, 32);", ["coop-mat-layout"]),
        ("c = coop_mat_load(gf, §-1, 32);", ["coop-mat-layout"]),
        ("c = coop_mat_load(gf, §n, 32);", ["coop-mat-layout"]),
        ("c = coop_mat_load(gf, §0.0f, 32);", ["coop-mat-layout"]),
        ("c = coop_mat_load(gf, ROW_MAJOR, §1.0f);", ["coop-mat-invalid-stride"]),
        ("c = coop_mat_load(gf, ROW_MAJOR, §gf);", ["coop-mat-invalid-stride"]),
        ("c = coop_mat_load(gf, ROW_MAJOR, §(int4)1);", ["coop-mat-invalid-stride"]),
        ("c = coop_mat_load(gf, ROW_MAJOR, §c);", ["coop-mat-invalid-stride"]),
        ("c = coop_mat_load(§gh, ROW_MAJOR, 32);", ["coop-mat-pointee"]),
        ("c = coop_mat_load(§gi4, ROW_MAJOR, 8);", ["coop-mat-pointee"]),
        ("c = coop_mat_load(§x, ROW_MAJOR, 32);", ["coop-mat-pointee"]),
        ("c = coop_mat_load(§c, ROW_MAJOR, 32);", ["coop-mat-pointee"]),
        ("bi = coop_mat_load(§gc, ROW_MAJOR, 32);", ["coop-mat-pointee"]),
        ("c = coop_mat_load(gf, ROW_MAJOR, §-1);", ["coop-mat-invalid-stride"]),
        ('c = coop_mat_load(gf, §"ROW", 32);', ["coop-mat-layout"]),
        ("c = §coop_mat_load(gf, ROW_MAJOR);", ["argument-count"]),
        ("coop_mat_store(§cf, c, ROW_MAJOR, 32);", ["coop-mat-const-store"]),
        ("coop_mat_store(§kf, c, ROW_MAJOR, 32);", ["coop-mat-const-store"]),
        ("coop_mat_store(§gh, c, ROW_MAJOR, 32);", ["coop-mat-pointee"]),
        ("coop_mat_store(gf, §x, ROW_MAJOR, 32);", ["coop-mat-not-a-matrix"]),
        ("coop_mat_store(gf, §s, ROW_MAJOR, 32);", ["coop-mat-not-a-matrix"]),
        ("coop_mat_store(gf, c, ROW_MAJOR, §0);", ["coop-mat-zero-stride"]),
        ("coop_mat_store(gf, c, §7, 32);", ["coop-mat-layout"]),
        ("§coop_mat_store(gf, c, ROW_MAJOR);", ["argument-count"]),
        ("c = coop_mat_mulAdd(§b, §a, c);", ["coop-mat-wrong-use"] * 2),
        ("c = coop_mat_mulAdd(a, b, §a);", ["coop-mat-wrong-use"]),
        ("c = coop_mat_mulAdd(§1, §x, §v);", ["coop-mat-not-a-matrix"] * 3),
        ("d = coop_mat_mulAdd(a, b, §d);", ["coop-mat-shapes"]),
        ("c = coop_mat_mulAdd((A)a, (B)b, §(D)d);", ["coop-mat-shapes"]),
        ("c = §coop_mat_mulAdd(ai, b, c);", ["coop-mat-component-class"]),
        ("ci = §coop_mat_mulAdd(a, b, ci);", ["coop-mat-component-class"]),
        ("ci = coop_mat_mulAdd(ai, bi, ci, §n);", ["coop-mat-operands"]),
        ("ci = coop_mat_mulAdd(ai, bi, ci, §32);", ["coop-mat-operands"]),
        ("ci = coop_mat_mulAdd(ai, bi, ci, §-1);", ["coop-mat-operands"]),
        ("ci = coop_mat_mulAdd(ai, bi, ci, §ci);", ["coop-mat-operands"]),
        ("ci = coop_mat_mulAdd(ai, bi, ci, §1.0f);", ["coop-mat-operands"]),
        ("ci = coop_mat_mulAdd(ai, bi, ci, §0);", ["coop-mat-operands-sign"]),
        ("ci = coop_mat_mulAdd(ai, bi, ci, §31);", ["coop-mat-operands-sign"]),
        ("c = coop_mat_mulAdd(a, b, c, §1);", ["coop-mat-operands-sign"]),
        ("c = §coop_mat_mulAdd(a, b);", ["argument-count"]),
        ("c = §coop_matmul_add(a, b, c, 0, 0);", ["argument-count"]),
        ("c = coop_mat_init(§v);", ["coop-mat-init"]),
        ("c = coop_mat_init(§c);", ["coop-mat-init"]),
        ("c = coop_mat_init(§gf);", ["coop-mat-init"]),
        ("c = §coop_mat_init();", ["argument-count"]),
        ("coop_mat_length(§x);", ["coop-mat-not-a-matrix"]),
        ("coop_mat_length(§float);", ["coop-mat-not-a-matrix"]),
        ("coop_mat_length(§struct S);", ["coop-mat-not-a-matrix"]),
        ("§coop_mat_length();", ["argument-count"]),
        ("§coop_mat_convert(c64);", ["coop-mat-no-target"]),
        ("x = §coop_mat_convert_rte(c64);", ["coop-mat-mismatch"]),
        ("c = §coop_mat_convert(d);", ["coop-mat-conversion"]),
        ("a = §coop_mat_convert_rtz(b);", ["coop-mat-conversion"]),
        ("c = coop_mat_convert(§x);", ["coop-mat-not-a-matrix"]),
        ("c = coop_mat_convert(§coop_mat_init(1));", ["coop-mat-no-target"]),
        ("c = §coop_mat_convert_sat(ci);", ["coop-mat-saturation"]),
        ("c = §coop_mat_convert_sat_rtn(c64);", ["coop-mat-saturation"]),
        ("c = §coop_mat_convert_rte_sat(c64);", ["undeclared-identifier"]),
        ("c = §coop_mat_convert();", ["argument-count"]),
        ("c = §coop_mat_transpose(ci);", ["coop-mat-conversion"]),
        ("c = §(coop_mat_convert_sat)(ci);", ["coop-mat-saturation"]),
        ("§(coop_mat_init)(1);", ["coop-mat-no-target"]),
        ("c = coop_mat_transpose(§x);", ["coop-mat-not-a-matrix"]),
        ("§coop_mat_transpose(c);", ["coop-mat-no-target"]),
        ("x = §coop_mat_transpose(c);", ["coop-mat-mismatch"]),
        ("c = §coop_mat_load_checked(gf, ROW_MAJOR, 32, 0, 0, 1);", ["argument-count"]),
        ("c = coop_mat_load_checked(gf, ROW_MAJOR, 32, §x, §v, §gf, §c);", ["coop-mat-bounds"] * 4),
        ("c = coop_mat_load_checked(gf, ROW_MAJOR, 32, 0, §-1, 1, §0x100000000);", ["coop-mat-bounds"] * 2),
        ("c = coop_mat_load_checked(§gh, ROW_MAJOR, 32, 0, 0, 1, 1);", ["coop-mat-pointee"]),
        ("c = coop_mat_load_checked(gf, §3, 32, 0, 0, 1, 1);", ["coop-mat-layout"]),
        ("x = §coop_mat_load_checked(gf, 0, 32, 0, 0, 1, 1);", ["coop-mat-mismatch"]),
        ("§coop_mat_store_checked(gf, c, 0, 32, 0, 0, 1);", ["argument-count"]),
        ("coop_mat_store_checked(§cf, c, 0, 32, 0, 0, 1, 1);", ["coop-mat-const-store"]),
        ("coop_mat_store_checked(gf, §x, 0, 32, 0, 0, 1, 1);", ["coop-mat-not-a-matrix"]),
        ("coop_mat_store_checked(gf, c, 0, 32, 0, 0, 1, §x);", ["coop-mat-bounds"]),
        ("coop_mat_coord(§x, 0);", ["coop-mat-not-a-matrix"]),
        ("coop_mat_coord(c, §x);", ["coop-mat-index"]),
        ("coop_mat_coord(C, §-1);", ["coop-mat-index"]),
        ("coop_mat_coord(C, §512);", ["coop-mat-index"]),
        ("§coop_mat_coord(c);", ["argument-count"]),
        ("n §= coop_mat_coord(c, 0);", ["incompatible-types"]),
    ],
)
def test_calls_that_are_wrong(marked: str, codes: list[str]) -> None:
    wrong(marked, *codes)


def test_a_matrix_is_no_argument_of_other_builtins() -> None:
    wrong("§isnan(c);", "coop-mat-builtin")
    wrong("§dot(c, c);", "coop-mat-builtin")
    wrong("§vload4(0, c);", "coop-mat-builtin")
    wrong("§vstore4(v, 0, c);", "coop-mat-builtin")
    wrong("§sub_group_reduce_add(c);", "coop-mat-builtin")
    wrong("§get_global_id(c);", "coop-mat-builtin")
    wrong("§as_int(c);", "no-matching-function")
    wrong("§convert_float(c);", "no-matching-function")


@pytest.mark.parametrize(
    "statements",
    [
        "c = coop_mat_load(gf, ROW_MAJOR, 32); C k = coop_mat_load(lf, 1, z), l = coop_mat_load(kf, 0, n);",
        "C k[2] = { coop_mat_init(1), coop_mat_load(cf, ROW_MAJOR, 0) }; struct S t = { coop_mat_init(2), 3 };",
        "g(coop_mat_load(gf, ROW_MAJOR, 32)); g((C)coop_mat_init(0)); c += coop_mat_init(1);",
        "c = n ? coop_mat_init(1) : coop_mat_load(gf, ROW_MAJOR, 32); c = (n++, coop_mat_init(1));",
        "c = coop_mat_load(gf4, ROW_MAJOR, 8); c = coop_mat_load(gf3, ROW_MAJOR, n); coop_mat_store(gf4, c, 1, 4);",
        "c = coop_mat_load((global float *)gi, ROW_MAJOR, 32); bi = coop_mat_load((global uchar *)gc, 0, 32);",
        "coop_mat_store(gf + n, c + c, ROW_MAJOR, 32); coop_mat_store(lf, (D)coop_mat_init(0), ROW_MAJOR, 8 + 8);",
        "c = coop_mat_mulAdd(a, b, c); c = coop_matmul_add(a, b, c); c = coop_mat_mulAdd(a, b, c, 0);",
        "c = coop_mat_mulAdd(a, b, coop_mat_init(0)); g(coop_mat_mulAdd(a, b, coop_mat_load(gf, ROW_MAJOR, 32)));",
        "c64 = coop_mat_mulAdd(a, b, c64); c = coop_mat_mulAdd(a, b, coop_mat_mulAdd(a, b, c));",
        "ci = coop_mat_mulAdd(ai, bi, ci); ci = coop_mat_mulAdd(ai, bi, ci, 1 | 4 | 8 | 16);",
        "x = coop_mat_length(c) + coop_mat_length(C) + coop_mat_length(float MATRIX(4, 4, A));",
        "c = c + coop_mat_init(1); c = coop_mat_init(1) - c + c; c = x * coop_mat_init(2) + c;",
        "c = -coop_mat_init(x) / c;",
        "c = coop_mat_init(1) + coop_mat_init(2); c = (coop_mat_init(1) * coop_mat_init(2)) - -coop_mat_init(3);",
        "struct S t = { n ? c : coop_mat_init(0), 1 }; c = t.c;",
        "g(n ? coop_mat_init(0) : c); c -= -(n++, coop_mat_init(2));",
        "struct T t = { { coop_mat_init(1), 1, { coop_mat_init(2) } }, { { coop_mat_init(3) } } };"
        " t.m[1][0] = coop_mat_init(4); t.s[0].c = coop_mat_load(gf, 0, 32); c = t.m[1][0] + t.s[0].c;",
        "struct T t = { .m[1] = { [1] = coop_mat_init(1) }, .s[0].c = coop_mat_load(gf, 1, 32) };"
        " c = t.m[1][1] + t.s[0].c;",
        "C k[] = { coop_mat_init(1), [2] = coop_mat_init(2), (coop_mat_init(3)) };"
        " c = k[0] + k[2] + k[3]; c = made(n);",
        "c = ((struct S){ coop_mat_init(1), 2 }).c + (C){ coop_mat_init(2) }; o(coop_mat_init(1), gf); o(c, x);",
        "c = coop_mat_init(x); c = coop_mat_init(n); c = coop_mat_init(true); ci = coop_mat_init(1.5);",
    ],
)
def test_calls_that_are_right(statements: str) -> None:
    right(statements)
    native(statements)


@pytest.mark.parametrize(
    "statements",
    [
        'c = coop_mat_load(gf, 2, 32); coop_mat_store(gf, c, "CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED", 32);',
        "c = coop_mat_load(pf, ROW_MAJOR, 32); float own[512]; coop_mat_store(own, c, ROW_MAJOR, 32);",
        "float4 own[128]; c = coop_mat_load(own, 0, 8); coop_mat_store(&own[1], c, 1, n); c = coop_mat_load(&x, 0, 0);",
        "generic float *p = gf; c = coop_mat_load(p, 0, 32);",
        "volatile global float3 *q = gf3; coop_mat_store(q, c, 0, 8);",
        "c = coop_mat_convert(c64); ci = coop_mat_convert_sat_rte(c64); g(coop_mat_convert_rtn(ci));",
        "c64 += coop_mat_convert(c);",
        "ai = coop_mat_convert((A)coop_mat_convert_rtz(ai)); c = c + coop_mat_convert(c64); (C)coop_mat_convert(ci);",
        "uint2 rc = coop_mat_coord(c, 0) + coop_mat_coord(C, n).yx; rc.x = coop_mat_coord(made(1), 'a').x;",
        "c = coop_mat_load_checked(gf, ROW_MAJOR, z, n, (char)n, 10UL, z);",
        "c += coop_mat_load_checked(lf, 1, 4, 0, 0, 1, 1);",
        "coop_mat_store_checked(gf4, c + c, 1, 4, n, n, n, 3u);",
        "coop_mat_store_checked(lf, c, 0, n, 0, 0xffffffff, 1, 1);",
    ],
)
def test_calls_that_only_analysis_must_take(statements: str) -> None:
    unit, diagnostics = analysed(f"{HEAD}{statements}\n}}")
    assert {item.code for item in diagnostics.items} <= {"coop-mat-string-enumerator"}, message(statements)
    assert "Matrix" in dump(unit)


def test_overloads_of_conversions_say_how_they_round() -> None:
    for suffix in ("", "_sat", "_rte", "_rtz", "_rtp", "_rtn", "_sat_rte", "_sat_rtz", "_sat_rtp", "_sat_rtn"):
        e = expression(f"ci = coop_mat_convert{suffix}(c)", "C c, CI ci", MATRICES + MORE)
        assert isinstance(e, typed.Assign) and isinstance(e.value, typed.MatrixConvert)
        assert (e.value.how.rounding, e.value.how.saturate) == (suffix.removeprefix("_sat")[1:], "_sat" in suffix)
    e = expression("(CI)c", "C c", MATRICES + MORE)
    assert isinstance(e, typed.MatrixConvert) and e.how == Conversion()


def test_bounds_are_of_type_uint() -> None:
    text = dump(right("c = coop_mat_load_checked(gf, ROW_MAJOR, 32, n, z, 10, (uchar)3);"))
    assert "row: Convert 'uint' int-to-int" in text and "rows: IntConst 'uint' value=10" in text


def test_operands_follow_the_component_types() -> None:
    def mask(a: str, b: str, acc: str) -> int:
        before = f"{MATRICES}typedef {a} X MATRIX(16, 8, A); typedef {b} Y MATRIX(8, 32, B); typedef {acc} Z "
        before += "MATRIX(16, 32, ACCUMULATOR);"
        e = expression("coop_mat_mulAdd(x, y, z)", "X x, Y y, Z z", before)
        assert isinstance(e, typed.MatrixMulAdd)
        return e.operands

    assert mask("char", "char", "int") == 1 | 2 | 4 | 8
    assert mask("uchar", "char", "int") == 2 | 4 | 8
    assert mask("char", "uchar", "uint") == 1
    assert mask("uchar", "uchar", "uint") == 0
    assert mask("half", "half", "float") == 0


def test_strides_count_pointees() -> None:
    """In the tree the stride is in components: a 3-vector takes the room of four."""
    for pointer, factor in (("gf", 1), ("gf4", 4), ("gf3", 4)):
        text = dump(right(f"c = coop_mat_load({pointer}, ROW_MAJOR, 5);"))
        assert f"stride: IntConst 'ulong' value={5 * factor}" in text


def test_strides_of_other_types_are_told_to_pedants() -> None:
    source = (
        f"{PRAGMA}{MATRICES}kernel void k(global float *p, NUMBER s) {{ C c = coop_mat_load(p, ROW_MAJOR, STRIDE); }}"
    )
    strides = {"size_t": "(size_t)s", "ulong": "s", "ushort": "s", "int": "s", "long": "s", "constant": "8"}
    codes = {}
    for name, stride in strides.items():
        options = ["-DNUMBER=" + (name if name in ("ushort", "int", "long") else "ulong"), f"-DSTRIDE={stride}"]
        codes[name] = [item.code for item in coopmat.compile(source, ["-Wpedantic", *options]).diagnostics]
        assert coopmat.compile(source, options).diagnostics == []
    told = ["stride-type"]
    assert codes == {"size_t": [], "ulong": [], "ushort": told, "int": told, "long": told, "constant": []}


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (PRAGMA, False),
        ("#pragma OPENCL EXTENSION cl_ext_kernel_cooperative_matrix : enable\n", False),
        ('_Pragma("OPENCL EXTENSION cl_khr_cooperative_matrix : enable")\n', False),
        ("", True),
        ("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n", True),
        (f"{PRAGMA}#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : disable\n", True),
    ],
)
def test_pedants_want_the_pragma(before: str, told: bool) -> None:
    """Once for a source, where matrices are met first; nobody else is told."""
    source = (
        f"{before}{MATRICES}kernel void k(global float *p) {{ C c = coop_mat_init(0); coop_mat_store(p, c, 0, 32); }}"
    )
    found = coopmat.compile(source, ["-Wpedantic"]).diagnostics
    line = source[: source.index("typedef")].count("\n") + 1
    assert [(item.code, item.span and item.span.line) for item in found] == [("coop-mat-pragma", line)] * told
    assert coopmat.compile(source).diagnostics == []


@pytest.mark.parametrize(("pointer", "is_cast"), [("gh", False), ("gi", True), ("gc", True)])
def test_a_pointer_is_cast_only_to_components_of_its_size(pointer: str, is_cast: bool) -> None:
    """A larger component would reach beyond the object; a pointer to char is one to bytes."""
    (error,) = analysed(f"{HEAD}c = coop_mat_load({pointer}, 0, 32);\n}}")[1]
    assert error.code == "coop-mat-pointee" and bool(error.fixits) == is_cast


@pytest.mark.parametrize(
    ("macro", "statement", "replacements"),
    [
        ("LOAD coop_mat_load(gi + 1, 0, 8)", "c = LOAD;", []),
        ("LOAD(i, p) coop_mat_load(i + p, 0, 8)", "c = LOAD(1, gi);", ["(global float *)(", ")"]),
        ("LOAD(p) coop_mat_load(1 + p, 0, 8)", "c = LOAD(gi);", []),
        ("LOAD(p) coop_mat_load(p, 0, 8)", "c = LOAD(gi + n);", ["(global float *)(", ")"]),
        ("P gi", "c = coop_mat_load(P, 0, 8);", ["(global float *)"]),
        ("MULTIPLY coop_mat_mulAdd(b, a, c)", "c = MULTIPLY;", []),
        ("MULTIPLY(x) coop_mat_mulAdd(b, x, c)", "c = MULTIPLY(a);", []),
        ("MULTIPLY(x, y) coop_mat_mulAdd(x, y, c)", "c = MULTIPLY(b, a);", ["a", "b"]),
        ("SUM ci + ci", "c = SUM;", []),
        ("GIVE g(ci)", "GIVE;", []),
    ],
)
def test_fixits_change_no_macro(macro: str, statement: str, replacements: list[str]) -> None:
    """What stands at a macro's use is not what is wrong, unless that is an argument or all that the macro says."""
    diagnostics = analysed(f"#define {macro}\n{HEAD}{statement}\n}}")[1]
    assert diagnostics.has_errors
    assert [fixit.replacement for item in diagnostics for fixit in item.fixits] == replacements


# --- operators, components, conversions ---


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("c §+ v;", ["coop-mat-operator"]),
        ("v §- c;", ["coop-mat-operator"]),
        ("c §/ v;", ["coop-mat-operator"]),
        ("c §+ gf;", ["coop-mat-operator"]),
        ("gf §- c;", ["coop-mat-operator"]),
        ("s §/ c;", ["coop-mat-operator"]),
        ("ci §% n;", ["coop-mat-operator"]),
        ("n §& ci;", ["coop-mat-operator"]),
        ("c §> x;", ["coop-mat-operator"]),
        ("x §!= c;", ["coop-mat-operator"]),
        ("c §* v;", ["coop-mat-operator"]),
        ("c §* gf;", ["coop-mat-operator"]),
        ("c §* s;", ["coop-mat-operator"]),
        ("c §% c;", ["coop-mat-operator"]),
        ("ci §& ci;", ["coop-mat-operator"]),
        ("ci §| ci;", ["coop-mat-operator"]),
        ("ci §^ ci;", ["coop-mat-operator"]),
        ("ci §<< 1;", ["coop-mat-operator"]),
        ("ci §>> ci;", ["coop-mat-operator"]),
        ("c §== c;", ["coop-mat-operator"]),
        ("c §!= c;", ["coop-mat-operator"]),
        ("c §< c;", ["coop-mat-operator"]),
        ("c §>= x;", ["coop-mat-operator"]),
        ("c §&& c;", ["coop-mat-operator"]),
        ("x §|| c;", ["coop-mat-operator"]),
        ("§+c;", ["coop-mat-operator"]),
        ("§~ci;", ["coop-mat-operator"]),
        ("§!c;", ["coop-mat-operator"]),
        ("§c++;", ["coop-mat-operator"]),
        ("§--c;", ["coop-mat-operator"]),
        ("c §+= v;", ["coop-mat-operator"]),
        ("c §-= gf;", ["coop-mat-operator"]),
        ("c §/= s;", ["coop-mat-operator"]),
        ("ci §%= n;", ["coop-mat-operator"]),
        ("x §+= c;", ["coop-mat-operator"]),
        ("x §-= c;", ["coop-mat-operator"]),
        ("n §/= ci;", ["coop-mat-operator"]),
        ("ci §&= ci;", ["coop-mat-operator"]),
        ("ci §<<= 1;", ["coop-mat-operator"]),
        ("x §*= c;", ["coop-mat-operator"]),
        ("c §+ d;", ["coop-mat-operand-types"]),
        ("a §* b;", ["coop-mat-operand-types"]),
        ("c §- c64;", ["coop-mat-operand-types"]),
        ("c §+= d;", ["coop-mat-operand-types"]),
        ("§n ? c : d;", ["coop-mat-operand-types"]),
        ("§n ? c : x;", ["coop-mat-operand-types"]),
        ("c §= x;", ["coop-mat-mismatch"]),
        ("x §= c;", ["coop-mat-mismatch"]),
        ("c §= d;", ["coop-mat-mismatch"]),
        ("c §= c64;", ["coop-mat-mismatch"]),
        ("C k = §0;", ["coop-mat-mismatch"]),
        ("g(§d); g(§x);", ["coop-mat-mismatch"] * 2),
        ("if (§c) ;", ["coop-mat-condition"]),
        ("while (§c) ;", ["coop-mat-condition"]),
        ("do ; while (§c);", ["coop-mat-condition"]),
        ("for (; §c; ) ;", ["coop-mat-condition"]),
        ("switch (§c) { }", ["coop-mat-condition"]),
        ("§c ? 1 : 2;", ["coop-mat-condition"]),
        ("c[§x] = 1;", ["coop-mat-index"]),
        ("c[§-1] = 1;", ["coop-mat-index"]),
        ("c[§512] = 1;", ["coop-mat-index"]),
        ("c[§c] = 1;", ["coop-mat-index"]),
        ("c[§gf] = 1;", ["coop-mat-index"]),
        ("c = §(int4)(n) ? c : c;", ["coop-mat-operator"]),
        ("(c + c)[0] §= 1;", ["not-an-lvalue"]),
        ("§(c + c)[0]++;", ["not-an-lvalue"]),
        ("§&(c + c)[0];", ["not-an-lvalue"]),
        ("(c + c)[§512];", ["coop-mat-index"]),
        ("§c[0][0];", ["not-subscriptable"]),
        ("C k[2]; k[§2] = c; struct { C m[1]; int n; } t; t.m[§-1][0] = 1;", ["array-bounds"] * 2),
        ("§&c[0];", ["coop-mat-element-address"]),
        ("§&s.c[n];", ["coop-mat-element-address"]),
        ("c.§x;", ["no-member"]),
        ("c[0] §= c;", ["coop-mat-mismatch"]),
        ("c[0] §= v;", ["incompatible-types"]),
        ("const C k = c; §k[0] = 1; §k = c; §k *= 2;", ["read-only"] * 3),
        ("§(D)c;", ["coop-mat-conversion"]),
        ("§(A)b;", ["coop-mat-conversion"]),
        ("§(C)x;", ["coop-mat-conversion"]),
        ("§(float)c;", ["coop-mat-conversion"]),
        ("§(global float *)c;", ["coop-mat-conversion"]),
        ("§(float4)c;", ["coop-mat-conversion"]),
        ("(float4)(§c, x);", ["vector-literal"]),
        ("gf[§c];", ["invalid-index"]),
    ],
)
def test_operations_that_are_wrong(marked: str, codes: list[str]) -> None:
    wrong(marked, *codes)


def test_operations_that_are_right() -> None:
    statements = """
        c = c + c - c * c / c; c += c; c -= c; c *= c; c /= c; c = -c; c = -(-c);
        c = c * x; c = x * c; c = c * n; c = 'a' * c * 2.0 * true; c *= x; ci *= 1.5f; a = a * gh[0];
        c = c + x; c = x - c; c = c / n; c = 'a' / c + 2.0 - true; c += x; c -= n; ci /= 1.5f; a = gh[0] - a;
        c[0] = 1; c[n] = c[n + 1] * 2; c[z] += x; c[0]++; --c[1]; x = c['a'] + ci[0]; c[0] = ci[1] = 3;
        x = (c + c)[0] + made(n)[n] + (-c)[1] + (n ? c : c * 2)[z] + (s.c = c)[2] + ((C)ci)[3];
        C k[3], *p = &c, *q = k; *p = k[1]; q[2] = *p; (*p)[0] = q[1][2];
        (&s)->c[1] = s.c[0]; s.c = c;
        c64 = (C64)c; c = (C)c64; c = (C)ci; ci = (CI)c; c = (C)c; c = n ? c : -c; c = (n++, c); (void)c;
        const C constant_matrix = c; c = constant_matrix * 2; x = constant_matrix[0];
        { C c = coop_mat_init(1), inner = c; } for (C i = c; n < 3; i += c, n++) ;
        """
    right(statements)
    native(statements)


def test_types_of_operations() -> None:
    m = "float coop_mat(16x32, accumulator)"
    for text in ("c + c", "c * x", "n * c", "-c", "c = c", "c *= 2", "coop_mat_mulAdd(a, b, c)", "(C)ci"):
        assert type_of(text, "A a, B b, C c, CI ci, int n, float x", MATRICES + MORE) == m
    assert type_of("c[0]", "C c", MATRICES) == "float"
    assert type_of("ai[0] + ai[0]", "AI ai", MATRICES + MORE) == "int"
    assert type_of("&c", "C c", MATRICES) == f"private {m} *"
    assert type_of("coop_mat_length(c)", "C c", MATRICES) == "uint"


def test_scalars_become_the_component_type() -> None:
    text = dumped("ci *= x; ai = n * ai; c = coop_mat_init(n)", "CI ci, AI ai, C c, int n, float x", MATRICES + MORE)
    for kind in ("'int' float-to-int", "'char' int-to-int", "'float' int-to-float"):
        assert f"Convert {kind}" in text


# --- the text of the messages ---


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("kernel void k(C m) { }", "pass a pointer to the components, and load the matrix with coop_mat_load"),
        (
            "kernel void k(void) { local C m; }",
            "declare an array of components there, and access it with coop_mat_load",
        ),
        ("ulong f(C m) { return sizeof(m); }", "coop_mat_length(m) is the number of components that a work-item has"),
        ('void f(C m) { printf("%f", m); }', "coop_mat_print(m) prints a matrix"),
    ],
)
def test_messages_say_what_to_write_instead(source: str, advice: str) -> None:
    assert f"note: {advice}" in message(MATRICES + source)


def test_rendered_text_of_a_wrong_operator() -> None:
    source = f"{MATRICES}void f(C c, float2 v)\n{{\n    c = c / (v + 1);\n}}\n"
    assert message(source) == (
        "m.cl:9:11: error: invalid operands to '/': 'float coop_mat(16x32, accumulator)' and 'float2' "
        "[coop-mat-operator]\n"
        "    c = c / (v + 1);\n"
        "        ~ ^  ~~~~~\n"
        "m.cl:9:11: note: matrices take + - * / with an identical type or a scalar, and unary -; "
        "coop_mat_map calls any function\n"
    )


def test_rendered_text_of_shapes_that_do_not_fit() -> None:
    source = f"{MATRICES}typedef float D MATRIX(16, 16, ACCUMULATOR);\nvoid f(A a, B b, D d)\n{{\n"
    assert message(source + "    d = coop_mat_mulAdd(a, b, d);\n}\n") == (
        "m.cl:10:31: error: shapes do not fit: 32 columns of B, 16 columns of the accumulator [coop-mat-shapes]\n"
        "    d = coop_mat_mulAdd(a, b, d);\n"
        "                           ~  ^\n"
        "m.cl:10:31: note: A is M x K, B is K x N, the accumulator M x N\n"
        "m.cl:8:15: note: 'b' is declared here\n"
        "void f(A a, B b, D d)\n"
        "              ^\n"
        "m.cl:8:20: note: 'd' is declared here\n"
        "void f(A a, B b, D d)\n"
        "                   ^\n"
    )


def test_rendered_text_of_a_mismatch_in_a_call() -> None:
    source = f"{MATRICES}void g(C c) {{ }}\nvoid f(A a) {{ g(a); }}\n"
    assert message(source) == (
        "m.cl:8:17: error: argument 1 of 'g': 'half coop_mat(16x8, a)' does not convert to "
        "'float coop_mat(16x32, accumulator)' [coop-mat-mismatch]\n"
        "void f(A a) { g(a); }\n"
        "                ^\n"
        "m.cl:8:10: note: 'a' is declared here\n"
        "void f(A a) { g(a); }\n"
        "         ^\n"
        "m.cl:7:6: note: 'g' is declared here\n"
        "void g(C c) { }\n"
        "     ^\n"
    )
