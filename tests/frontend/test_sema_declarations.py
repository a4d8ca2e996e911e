"""Declarations: scopes, tags, enumerations, functions, initialisers, address spaces (OpenCL C 3.0, 6.5 to 6.9)."""

from __future__ import annotations

import pytest
from sema_support import analysed, constant, expect, findings, good

import coopmat
from coopmat.frontend import typed
from coopmat.frontend.typed_dump import dump
from coopmat.frontend.types import AddressSpace

HOST_SIZED = ("size_t", "ptrdiff_t", "intptr_t", "uintptr_t")

# --- scopes ---


@pytest.mark.parametrize(
    "source",
    [
        "int f(int a) { { float a = 1; a *= 2; } return a; }",
        "int f(int a) { for (int a = 0; a < 3; a++) { int a = 1; a++; } return a; }",
        "typedef int T; void f(void) { float T = 1; T = T + 1; { typedef char T; T x = 1; x++; } }",
        "struct S { int S; }; void f(struct S S) { S.S = 1; }",
        'enum E { X = 3 }; void f(void) { enum E { X = 4 }; _Static_assert(X == 4, ""); }',
        "void f(void) { int x = sizeof(x); }",
        "kernel void f(global size_t *p, local ptrdiff_t *q) { p[0] = q[0]; }",
        "struct S { global size_t *p; }; kernel void f(struct S s, global struct S *t) { } void g(size_t n) { }",
        "typedef size_t T; kernel void f(global const T *p) { } typedef ulong U; kernel void g(U u) { }",
        "typedef int T; typedef int T; void f(void) { typedef float U; typedef float U; U x = 1; x++; }",
        "int g(int); int g(int x); int g(int y) { return y; } int g(int);",
        "static int g(int); static int g(int y) { return y; } kernel void k(void) { g(1); }",
        "void f(void) { int g(int); g(1); } int g(int x) { return x; }",
        "int g(int); void f(void) { int g(int); g(1); } int g(int x) { return x; }",
        "struct S { int a; } g(void); struct S g(void) { struct S s = { 1 }; return s; }",
        "struct S { int a; } g(void) { struct S s = { 1 }; return s; }",
        "void f(struct S { int a; } s) { s.a = 1; }",
        "struct S; struct S { struct S *next; }; void f(struct S *s) { s = s->next; }",
        "void f(float dot) { float cross = dot; cross = sin(dot); }",
        "inline int g(void) { return 1; } void f(void) { g(); }",
        "void f(void) { goto end; { int x; } end: ; }",
        "void f(void) { int end = 1; end: end++; goto end; }",
    ],
)
def test_scopes_that_are_right(source: str) -> None:
    good(source)


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("void f(int a) { int §a; }", ["redefinition"]),
        ("void f(int a, float §a) { }", ["redefinition"]),
        ("void f(void) { int a; { int b; } §b = a; }", ["undeclared-identifier"]),
        ("void f(void) { for (int i = 0; i < 1; i++) ; §i = 1; }", ["undeclared-identifier"]),
        ("typedef int T; typedef float §T;", ["redefinition"]),
        ("struct S { int a; }; §struct S { int a; };", ["redefinition"]),
        ("struct S { int a; }; void f(§union S *u) { }", ["wrong-tag"]),
        ("enum E { X }; void f(§struct E *u) { }", ["wrong-tag"]),
        ("void f(§enum F e) { }", ["unknown-type"]),
        ("enum E { X, §X };", ["redefinition"]),
        ("enum E { X = §1.5f };", ["not-constant"]),
        ("int f(int n) { enum { X = §n }; return X; }", ["not-constant"]),
        ("struct S { int a; float §a; };", ["redefinition"]),
        ("struct S { struct { int a; }; int §a; };", ["redefinition"]),
        ("static kernel void §f(void) { }", ["kernel-static"]),
        ("kernel void f(event_t §e) { }", ["kernel-parameter"]),
        ("struct S { int *p; }; kernel void f(struct S §s) { }", ["kernel-parameter"]),
        ("void f(§restrict int x) { }", ["restrict"]),
        ("kernel void f(int a) { if (a) { local int §x; } }", ["address-space"]),
        ("struct S { int §a : 3; };", ["bit-field"]),
        ("struct S { struct S §s; };", ["incomplete-type"]),
        ("struct S { int §a[]; };", ["incomplete-type"]),
        ("struct S { global int §a; };", ["address-space"]),
        ("struct S { void §a; };", ["incomplete-type"]),
        ("int g(int); int §g(float);", ["redefinition"]),
        ("int g(int x) { return x; } int §g(int x) { return x; }", ["redefinition"]),
        ("int g(int); float §g(int x) { return x; }", ["redefinition"]),
        ("kernel void k(void); void §k(void) { }", ["redefinition"]),
        ("void f(void) { } constant int §f = 1;", ["redefinition"]),
        ("typedef int T = §3;", ["invalid-initializer"]),
        ("void f(void) { typedef int T = §3; }", ["invalid-initializer"]),
        ("§foo x;", ["unknown-type"]),
        ("void f(void) { int §x[]; }", ["incomplete-type"]),
        ("void f(void) { struct S §x; }", ["incomplete-type"]),
        ("void f(int n) { int x[§n]; }", ["not-constant"]),
        ("void f(void) { int x[§-1]; int y[§0]; int z[§1.0f]; }", ["array-size", "array-size", "not-constant"]),
        ("void f(void) { void §x[3]; }", ["invalid-type"]),
        ("int §f(void)[3];", ["invalid-type"]),
        ("void f(§int g(int)) { }", ["function-pointer"]),
        ("void §f(int a, ...) { }", ["variadic"]),
        ("void f(§short float x) { }", ["invalid-type"]),
        ("void f(§unsigned float x) { }", ["invalid-type"]),
        ("void f(§long long long x) { }", ["invalid-type"]),
        ("void f(§image2d_msaa_t x) { }", ["not-supported"]),
        ("void f(§long double x) { }", ["invalid-type"]),
        ('_Static_assert(§1 == 2, "no");', ["static-assert"]),
        ('void f(int x) { _Static_assert(§x, "no"); }', ["not-constant"]),
    ],
)
def test_declarations_that_are_wrong(marked: str, codes: list[str]) -> None:
    expect(marked, *codes)


def test_the_place_of_function_pointers_and_void_variables() -> None:
    assert findings("void f(void) { int (*p)(void); }") == [(1, 22, "function-pointer")]
    assert findings("void x;") == [(1, 6, "incomplete-type")]
    assert findings("void f(void) { void x; }") == [(1, 21, "incomplete-type")]


def test_clashes_show_the_earlier_place() -> None:
    item = analysed("int g(int);\nint g(float);\n")[1].items[0]
    assert item.message == "'g' is declared again as 'int (float)'"
    (note,) = item.notes
    assert note.span is not None
    assert (note.message, note.span.line) == ("the previous declaration, 'int (int)', is here", 1)


# --- one mistake, one message ---


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("§foo x; void f(void) { x = 1; x++; }", ["unknown-type"]),
        ("void f(void) { §foo x, y; x = y; }", ["unknown-type"]),
        ("int f(§foo x) { return x; } void g(void) { f(2); f(3); }", ["unknown-type"]),
        ("void f(int a, §foo x, §bar y) { }", ["unknown-type", "unknown-type"]),
        ("void f(void) { int a = §bad, b = 2; a = b; }", ["undeclared-identifier"]),
        ("void f(void) { §bad = 1; bad = 2; bad++; { bad(3); } }", ["undeclared-identifier"]),
        ("void f(void) { §bad(1); bad(2); } void g(void) { §bad(3); }", ["undeclared-identifier"] * 2),
        ("enum E { X = §bad, Y, Z = 3 }; void f(void) { int x = X + Y; int a[Z]; }", ["undeclared-identifier"]),
        ("struct S { §foo x; int y; }; void f(struct S s) { s.x = 1; s.y = 2; }", ["unknown-type"]),
        ("struct S { §foo x; int y; }; constant struct S s = { 1, 2 };", ["unknown-type"]),
        ("struct S { int x[§bad]; }; void f(struct S *s) { s->x[0] = 1; }", ["undeclared-identifier"]),
        ("void f(void) { typedef §foo T; T x; x = 1; }", ["unknown-type"]),
        ("typedef §foo T; T g(T); void f(T x) { g(x); }", ["unknown-type"]),
        ("void f(void) { if (§bad) { §worse(); } else { §worst(); } }", ["undeclared-identifier"] * 3),
        ("void f(void) { for (int i = §bad; i < §worse; i++) { i = §worst; } }", ["undeclared-identifier"] * 3),
        ("void g(int x) { } void f(void) { min(§bad, §worse); g(§worst); }", ["undeclared-identifier"] * 3),
        ("void f(void) { switch (§bad) { case 1: ; } }", ["undeclared-identifier"]),
    ],
)
def test_one_mistake_gives_one_message(marked: str, codes: list[str]) -> None:
    expect(marked, *codes)


def test_several_mistakes_are_told_in_order() -> None:
    source = (
        "constant int a = bad;\n"
        "kernel void f(global int *p, int *q) {\n"
        "    p[0] = nosuch;\n"
        "    1 = 2;\n"
        "    p = 1.0f;\n"
        "    p[1.5f] = 3;\n"
        "}\n"
        "int g(void) { return p; }\n"
    )
    assert findings(source) == [
        (1, 18, "undeclared-identifier"),
        (2, 35, "kernel-parameter"),
        (3, 12, "undeclared-identifier"),
        (4, 7, "not-an-lvalue"),
        (5, 7, "incompatible-types"),
        (6, 7, "invalid-index"),
        (8, 22, "undeclared-identifier"),
    ]


def test_bodies_are_analysed_whatever_the_head_is() -> None:
    expect(
        "kernel int f(§foo x, global float *p, int *§q) { p[0] = x; §bad = 1; local int l; return x; }\n"
        "§foo g(int n) { n = §worse; return n; }\n"
        "void h(int n) { } int §h(float n) { n = §worst; return 1; } void i(void) { }",
        *["unknown-type", "kernel-parameter", "undeclared-identifier", "unknown-type", "undeclared-identifier"],
        *["redefinition", "undeclared-identifier"],
    )


def test_names_where_a_macro_failed_are_not_told_again() -> None:
    expect("#define ADD(a, b) a\nint f(void) { return §ADD(1); }", "invalid-macro-use")


@pytest.mark.parametrize(
    ("source", "meant"),
    [
        ("void f(int count) { cout = 1; }", "count"),
        ("void f(float x) { x = sqr(x); }", "sqrt"),
        ("void f(void) { int i = get_globl_id(0); }", "get_global_id"),
        ("struct S { int width; }; void f(struct S s) { s.widht = 1; }", "width"),
        ("void f(flaot x) { }", "float"),
        ("typedef int number; void f(nubmer x) { }", "number"),
        ("void f(global float *p) { coop_mat_lod(p, 0, 1); }", "coop_mat_load"),
    ],
)
def test_near_names_are_suggested(source: str, meant: str) -> None:
    (item,) = analysed(source)[1].items
    assert [note.message for note in item.notes] == [f"did you mean '{meant}'?"]


def test_far_names_are_not_suggested() -> None:
    (item,) = analysed("void f(int count) { zzzzzz = 1; }")[1].items
    assert item.notes == ()


# --- enumerations ---


def test_enumerators() -> None:
    before = "enum E { A, B = 5, C, D = -3, F, G = B | 8, H = sizeof(int), I = 'a' };"
    values = {"A": 0, "B": 5, "C": 6, "D": -3, "F": -2, "G": 13, "H": 4, "I": 97}
    for name, value in values.items():
        assert constant(name, before=before) == value
    assert constant("X", before="enum { X = 0xffffffff };") == 0xFFFFFFFF
    assert constant("X", before="enum { X = 0xffffffffffffffff };") == 2**64 - 1
    expect("enum { X = 0xffffffffffffffff, §Y };", "enumerator-range")
    good("enum E { A, B }; int f(enum E e) { switch (e) { case A: return 1; case B: return 2; } return 0; }")


# --- functions ---


def test_functions_that_are_called_need_a_body() -> None:
    expect("int g(int); int h(int); void f(void) { §g(1); g(2); }", "undefined-function")
    (item,) = analysed("int g(int);\nvoid f(void) { g(1); }")[1].items
    assert [(note.message, note.span.line) for note in item.notes if note.span] == [("declared here", 1)]


def test_functions_stand_in_order_of_definition() -> None:
    unit = good("int b(void); int a(void) { return b(); } int b(void) { return 1; } int unused(void);")
    assert [f.name for f in unit.functions] == ["a", "b"]
    assert all(f.body is not None for f in unit.functions)


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("kernel int §f(void) { return 1; }", ["kernel-result"]),
        ("kernel void f(bool §b) { }", ["kernel-parameter"]),
        *((f"kernel void f(const {t} §n) {{ }}", ["kernel-parameter"]) for t in HOST_SIZED),
        *(
            (f"struct S {{ int a; {t} n; }}; kernel void f(struct S §s) {{ }}", ["kernel-parameter"])
            for t in HOST_SIZED
        ),
        ("kernel void f(size_t§);", ["kernel-parameter"]),
        ("typedef size_t A; typedef const A B; kernel void f(int i, B §b) { }", ["kernel-parameter"]),
        ("typedef struct { struct { ptrdiff_t n[2]; } t[3]; } S; kernel void f(S §s) { }", ["kernel-parameter"]),
        ("union U { int a; intptr_t n; }; kernel void f(union U §u) { }", ["kernel-parameter"]),
        ("struct S { bool b; }; kernel void f(struct S §s) { }", ["kernel-parameter"]),
        ("kernel void f(int *§p) { }", ["kernel-parameter"]),
        ("kernel void f(private int *§p) { }", ["kernel-parameter"]),
        ("kernel void f(int *global *§p) { }", ["kernel-parameter"]),
        ("global int §f(void) { return 1; }", ["address-space"]),
        ("int f(void) { §return; }", ["return-type"]),
        ("void f(void) { return §1; }", ["return-type"]),
        ("struct S { int a; }; int f(struct S s) { return §s; }", ["incompatible-types"]),
        ("int g(int a); void f(void) { §g(); }", ["argument-count"]),
        ("int g(int a) { return a; } void f(void) { §g(1, 2); g(§f); }", ["argument-count", "function-pointer"]),
        ("void g(global int *p) { } void f(local int *p) { g(§p); }", ["address-space"]),
        ("void f(int x) { §x(1); }", ["not-a-function"]),
        ("enum { X }; void f(void) { §X(1); }", ["not-a-function"]),
        ("void g(void) { } void f(void) { int x = §g(); }", ["incompatible-types"]),
        ("void g(void) { } void f(void) { sin(§g()); }", ["void-value"]),
        ("void f(void) { §sin(); }", ["no-matching-function"]),
        ("void f(global int *p) { §sin(p); }", ["no-matching-function"]),
        ("void f(int4 v) { §convert_float2(v); §convert_int4(v, v); }", ["no-matching-function", "argument-count"]),
    ],
)
def test_functions_that_are_wrong(marked: str, codes: list[str]) -> None:
    expect(marked, *codes)


def test_arguments_are_counted_where_they_stand() -> None:
    (first, second) = analysed("void f(int a, int *b) { } void g(void) { f(bad, 1.0f); }")[1].items
    assert first.code == "undeclared-identifier"
    assert second.message == "argument 2 of 'f': 'float' does not convert to 'generic int *'"


def test_array_parameters_are_pointers() -> None:
    unit = good("int f(int a[4], const global float b[], constant char c[2][3]) { return a[0] + b[1] + c[1][2]; }")
    assert [str(p.type) for p in unit.functions[0].parameters] == [
        "generic int *",
        "global const float *",
        "constant char (*)[3]",
    ]


def test_kernel_attributes() -> None:
    unit = good(
        "__attribute__((reqd_work_group_size(8, 4, 1))) __attribute__((vec_type_hint(float4)))"
        "kernel __attribute__((intel_reqd_sub_group_size(16), work_group_size_hint(64, 1, 1))) void f(void) { }"
    )
    marks = unit.kernels[0].attributes
    assert marks["reqd_work_group_size"] == (8, 4, 1)
    assert marks["work_group_size_hint"] == (64, 1, 1)
    assert marks["intel_reqd_sub_group_size"] == 16
    assert str(marks["vec_type_hint"]) == "float4"


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("kernel __attribute__((§reqd_work_group_size(8, 4))) void f(void) { }", ["attribute"]),
        ("kernel __attribute__((reqd_work_group_size(§0x10000, 0x10000, 1))) void f(void) { }", ["attribute"]),
        ("kernel __attribute__((reqd_work_group_size(8, §0, 1))) void f(void) { }", ["attribute"]),
        ("kernel __attribute__((intel_reqd_sub_group_size(§-1))) void f(void) { }", ["attribute"]),
        ("kernel __attribute__((§vec_type_hint(3))) void f(void) { }", ["attribute"]),
        ("void __attribute__((§reqd_work_group_size(8, 4, 1))) f(void) { }", ["attribute"]),
        ("kernel __attribute__((§nosuch(1))) void f(void) { }", ["unknown-attributes"]),
        ("kernel void __attribute__((§overloadable)) f(void) { }", ["attribute"]),
        ("typedef float T __attribute__((§aligned(2)));", ["not-supported"]),
        ("typedef float T __attribute__((§ext_vector_type(5)));", ["attribute"]),
        ("typedef int T __attribute__((§vector_size(20)));", ["attribute"]),
        ("typedef float T __attribute__((§address_space(4)));", ["not-supported"]),
        ("void f(void) { int x __attribute__((§nosuch)); }", ["unknown-attributes"]),
    ],
)
def test_attributes_that_are_wrong(marked: str, codes: list[str]) -> None:
    expect(marked, *codes)


@pytest.mark.parametrize(
    ("declared", "vector"),
    [
        ("char __attribute__((vector_size(16)))", "char16"),
        ("float __attribute__((vector_size(16)))", "float4"),
        ("long __attribute__((vector_size(128)))", "long16"),
        ("int __attribute__((ext_vector_type(3)))", "int3"),
    ],
)
def test_vectors_by_attributes(declared: str, vector: str) -> None:
    """Each is the type of OpenCL C: a pointer to it is one to the other."""
    good(f"typedef {declared} T; global {vector} *f(global T *x) {{ return x; }}")


def test_alignment_of_variables() -> None:
    unit = good(
        "__attribute__((aligned(32))) constant int a = 1; constant int b __attribute__((aligned(64))) = 1;"
        "void f(void) { int c __attribute__((aligned(128))); c = 1; }"
    )
    assert [variable.alignment for variable in unit.variables] == [32, 64]
    body = unit.functions[0].body
    assert body is not None and isinstance(body.items[0], typed.DeclStmt)
    assert body.items[0].decl.alignment == 128


# --- initialisers ---


def values(declaration: str, before: str = "") -> tuple[str, object]:
    """The type of a constant and its initial value: numbers, and dictionaries for aggregates."""
    variable = good(f"{before} {declaration}").variables[-1]
    assert variable.initializer is not None
    return str(variable.type), _plain(variable.initializer)


def _plain(e: typed.Expr) -> object:
    if isinstance(e, typed.Aggregate):
        return {position: _plain(item) for position, item in e.items}
    if isinstance(e, (typed.IntConst, typed.FloatConst)):
        return e.value
    return type(e).__name__


STRUCTS = "struct P { int x, y; }; struct L { struct P a[2]; char name[4]; float f; }; union U { int i; float f; };"


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("constant int a = { 3 };", ("int", 3)),
        ("constant int a[3] = { 1, 2 };", ("int[3]", {0: 1, 1: 2})),
        ("constant int a[] = { 1, 2, 3, };", ("int[3]", {0: 1, 1: 2, 2: 3})),
        ("constant int a[] = { [4] = 1, 2, [1] = 3 };", ("int[6]", {1: 3, 4: 1, 5: 2})),
        ("constant int a[2] = { 1, 2, [0] = 5 };", ("int[2]", {0: 5, 1: 2})),
        ("constant int a[2] = { };", ("int[2]", {})),
        ("constant int a[2][2] = { { 1 }, { 2, 3 } };", ("int[2][2]", {0: {0: 1}, 1: {0: 2, 1: 3}})),
        ("constant int a[2][2] = { 1, 2, 3 };", ("int[2][2]", {0: {0: 1, 1: 2}, 1: {0: 3}})),
        ("constant int a[][2] = { 1, 2, 3 };", ("int[2][2]", {0: {0: 1, 1: 2}, 1: {0: 3}})),
        ("constant int a[][2] = { { 1 }, 2, 3, 4 };", ("int[3][2]", {0: {0: 1}, 1: {0: 2, 1: 3}, 2: {0: 4}})),
        ('constant char a[] = "ab";', ("char[3]", {0: 97, 1: 98})),
        ('constant char a[2] = "ab";', ("char[2]", {0: 97, 1: 98})),
        ('constant char a[5] = { "ab" };', ("char[5]", {0: 97, 1: 98})),
        ('constant char a[][3] = { "ab", "c" };', ("char[2][3]", {0: {0: 97, 1: 98}, 1: {0: 99}})),
        ('constant uchar a[] = "\\xff";', ("uchar[2]", {0: 255})),
        ('constant char a[] = "\\xff" "a";', ("char[3]", {0: -1, 1: 97})),
        ("constant struct P a = { 1, 2 };", ("struct P", {0: 1, 1: 2})),
        ("constant struct P a = { .y = 1 };", ("struct P", {1: 1})),
        ("constant struct P a = { .y = 1, .x = 2 };", ("struct P", {0: 2, 1: 1})),
        ("constant struct P a[] = { 1, 2, 3 };", ("struct P[2]", {0: {0: 1, 1: 2}, 1: {0: 3}})),
        ("constant struct P a[] = { [1] = { 1 }, { .y = 2 } };", ("struct P[3]", {1: {0: 1}, 2: {1: 2}})),
        (
            'constant struct L a = { 1, 2, 3, 4, "ab", 5 };',
            ("struct L", {0: {0: {0: 1, 1: 2}, 1: {0: 3, 1: 4}}, 1: {0: 97, 1: 98}, 2: 5.0}),
        ),
        ("constant struct L a = { .f = 1, .a = { 1 } };", ("struct L", {0: {0: {0: 1}}, 2: 1.0})),
        ("constant union U a = { 1 };", ("union U", {0: 1})),
        ("constant union U a = { .f = 1 };", ("union U", {1: 1.0})),
        ("constant union U a = { .i = 1, .f = 2 };", ("union U", {1: 2.0})),
        ("constant union U a[] = { 1, 2 };", ("union U[2]", {0: {0: 1}, 1: {0: 2}})),
        ("constant float a = 1;", ("float", 1.0)),
        ("constant char a = 300;", ("char", 44)),
        ("constant int a = 2.9;", ("int", 2)),
        ("constant bool a = 0.5f;", ("bool", 1)),
        ("constant half a = 0.1;", ("half", 0.0999755859375)),
    ],
)
def test_initial_values(declaration: str, expected: tuple[str, object]) -> None:
    assert values(declaration, STRUCTS) == expected


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("constant int a[2] = { 1, 2, §3 };", ["excess-initializers"]),
        ("constant int a = §{ };", ["invalid-initializer"]),
        ("constant int a = { §{ 1 } };", ["invalid-initializer"]),
        ("constant int a[2] = §1;", ["invalid-initializer"]),
        ('constant int a[2] = §"ab";', ["invalid-initializer"]),
        ('constant char a[2] = §"abc";', ["invalid-initializer"]),
        ("constant struct P a = { §.z = 1 };", ["no-member"]),
        ("constant struct P a = { §[0] = 1 };", ["invalid-initializer"]),
        ("constant int a[2] = { §[2] = 1 };", ["invalid-initializer"]),
        ("constant int a[2] = { §[-1] = 1 };", ["invalid-initializer"]),
        ("constant int a[2] = { §.x = 1 };", ["no-member"]),
        ("constant int a[4] = { §[2 ... 1] = 1 };", ["invalid-initializer"]),
        ("constant int a[2][2] = { [0 ... 1]§[0] = 1 };", ["not-supported"]),
        ("constant struct P a = §1;", ["incompatible-types"]),
        ("constant union U a = { 1, §2 };", ["excess-initializers"]),
        ("constant float4 a = §{ 1, 2, 3, 4, 5 };", ["invalid-initializer"]),
        ("constant int a[3] = { §bad, §worse, 1 };", ["undeclared-identifier"] * 2),
        ("int g(void) { return 1; } constant int a = §g();", ["not-constant"]),
        ("void f(int n) { constant int a = §n; }", ["not-constant"]),
        ("void f(void) { const int a[2] = { 1, 2, §3 }; }", ["excess-initializers"]),
    ],
)
def test_initial_values_that_are_wrong(marked: str, codes: list[str]) -> None:
    expect(marked, *codes, before=STRUCTS + "\n")


def test_objects_of_records_initialise_whole_parts() -> None:
    unit = good(f"{STRUCTS} void f(struct P p) {{ struct P q = p, r[2] = {{ p, 1, 2 }}; struct L l = {{ p, p }}; }}")
    assert dump(unit).count("VarRef 'struct P' p") == 4


def test_zeros_have_no_items() -> None:
    zeros = 'constant struct L a = { { { 0, 0 } }, "", 0.0f };'
    assert values(zeros, STRUCTS) == ("struct L", {})
    assert values("constant int a[2000000000] = { 0 };") == ("int[2000000000]", {})
    assert values("constant float a[2] = { -0.0f };") == ("float[2]", {0: 0.0})


def test_large_initial_values() -> None:
    good("constant char a[65532] = { 1 };")
    expect("constant char a[65533] = §{ 1 };", "not-supported")
    expect("void f(void) { char a[] = §{ [2000000000] = 1 }; }", "not-supported")
    pieces = '"' + "a" * 1000 + '"\n'
    expect("constant char a[] = §" + pieces * 66 + ";", "not-supported")


def test_addresses_are_constants() -> None:
    good("constant int a[4] = { 0 }; constant int *constant p = a + 1; constant int *constant q = &a[2];")
    good('constant char *constant s = "abc"; constant struct { constant char *s; } t = { "abc" };')


# --- address spaces ---


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("local int §x;", ["address-space"]),
        ("private int §x;", ["address-space"]),
        ("generic int §x;", ["address-space"]),
        ("extern global int §x;", ["undefined-variable"]),
        ("extern global int x; global float §x;", ["redefinition"]),
        ("global int x = 1; global float §x;", ["redefinition"]),
        ("global int x = 1; global int §x = 1;", ["redefinition"]),
        ("int a = 1; int b = §a;", ["not-constant"]),
        ("constant int §x;", ["address-space"]),
        ("void f(void) { local int §x; }", ["address-space"]),
        ("kernel void f(void) { local int §x = 1; }", ["address-space"]),
        ("kernel void f(void) { constant int §x; }", ["address-space"]),
        ("kernel void f(void) { global int §x; }", ["address-space"]),
        ("kernel void f(int a) { static int x = §a; }", ["not-constant"]),
        ("void f(local §global int *p) { }", ["address-space"]),
        ("void f(constant int *c) { generic int *p = §c; }", ["address-space"]),
        ("void f(generic int *p) { global int *q = §p; }", ["address-space"]),
        ("void f(constant int *p) { §*p = 1; §p[1]++; §p[2] += 1; }", ["read-only"] * 3),
        ("void f(const global int *p) { §*p = 1; p++; }", ["read-only"]),
        ("void f(global int *const p) { *p = 1; §p = 0; }", ["read-only"]),
        ("void f(global int *p, local int *q) { p §= q; }", ["address-space"]),
        ("void f(global int *p) { private int *q = §p; }", ["address-space"]),
        ("void f(void) { int x; global int *p = §&x; }", ["address-space"]),
        ("void f(global int *p) { §(local int *)p; }", ["address-space"]),
        ("void f(void) { local int *p = §(global int *)0; }", ["address-space"]),
        ("void f(global int *global *p, global int *local *q) { p §= q; }", ["address-space"]),
        ("void f(global int **p) { local int **q = §p; int **r = §p; global int **s = p; }", ["address-space"] * 2),
        ("void g(global int ***p) { } void f(local int ***p, global float **q) { g(§p); }", ["address-space"]),
        (
            "void f(const global int *p) { global int *q = §p; }",
            ["incompatible-pointer-types-discards-qualifiers"],
        ),
        ("void f(global uint *p) { global int *q = §p; }", ["pointer-sign"]),
        ("void f(global float *p) { global int *q = §p; }", ["incompatible-pointer-types"]),
        ("void f(global int *p) { global float *q = §p; global void *r = p; q = r; }", ["incompatible-pointer-types"]),
    ],
)
def test_address_spaces(marked: str, codes: list[str]) -> None:
    expect(marked, *codes)


def test_variables_know_where_they_live() -> None:
    unit = good(
        "constant int c = 1; kernel void k(global int *p) { local int l[4]; constant int d = 2; const int e = c + d;"
        "local float m; l[0] = e; p[0] = l[0]; m = 1; }"
    )
    spaces = {variable.name: variable.qualifiers.space for variable in unit.variables}
    assert spaces == {
        "c": AddressSpace.CONSTANT,
        "l": AddressSpace.LOCAL,
        "d": AddressSpace.CONSTANT,
        "m": AddressSpace.LOCAL,
    }
    assert all(variable.storage == "static" for variable in unit.variables)


def test_typedefs_carry_qualifiers() -> None:
    expect("typedef const int T; void f(T x) { §x = 1; }", "read-only")
    expect("typedef global int *T; void f(T p, local int *q) { p §= q; *p = 1; }", "address-space")
    good('typedef const constant char *T; constant T s[] = { "a", "b" };')


def test_recursion_is_told_once_for_a_cycle() -> None:
    expect("int f(int x) { return §f(x) + f(x); }", "recursion")
    expect(
        "int g(int); int f(int x) { return §g(x); } int g(int x) { return f(x); } int h(void) { return f(1); }",
        "recursion",
    )


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("int a[3] = { [1]§[2] = 3 };", ["invalid-initializer"]),
        ("struct { int x; } s = { .x§.y = 3 };", ["invalid-initializer"]),
        ("enum __attribute__((§packed)) E { A };", ["not-supported"]),
        ("void f(void) { §enum E { A = -1, B = 0xffffffffffffffff }; }", ["enumerator-range"]),
        ("enum E { A }; §enum E { B };", ["redefinition"]),
    ],
)
def test_initial_values_and_enumerations_that_are_wrong(marked: str, codes: list[str]) -> None:
    expect(marked, *codes)


def test_a_variable_may_be_declared_again_after_its_definition() -> None:
    unit = good(
        "constant int x = 5; extern constant int x; int y = 3; int y; kernel void k(global int *o) { *o = x + y; }"
    )
    assert [variable.name for variable in unit.variables] == ["x", "y"]


def test_kernels_take_pointers_to_pointers_from_2_0_on() -> None:
    source = "kernel void k(global int *global *p) { **p = 1; }"
    assert coopmat.compile(source).kernels
    with pytest.raises(coopmat.CompileError, match="cannot be a pointer to pointers"):
        coopmat.compile(source, ["-cl-std=CL1.2"])


WITHOUT_FP16 = ["-cl-ext=-cl_khr_fp16"]


def test_without_fp16_halves_are_pointed_to() -> None:
    source = """typedef half H; struct S { int i; half h; };
    void f(H *p, global struct S *s, global float *o) { vstore_half(o[1] + sizeof(half), 0, &s->h); }
    kernel void k(global half *h, global struct S *s, global float *o) {
        half *q = h + 1; o[0] = vload_half(0, q) + vload_half4(0, h).x; vstore_half4((float4)1, 0, &h[4]); f(q, s, o); }
    """
    assert "vstore_half" in coopmat.compile(source, WITHOUT_FP16).spirv_text


@pytest.mark.parametrize(
    ("source", "column"),
    [
        ("half x;", 6),
        ("void f(half x) { }", 13),
        ("half f(void) { for (;;) { } }", 6),
        ("void f(void) { half a[2]; }", 21),
        ("void f(half *p, float *o) { *o = *p; }", 34),
        ("void f(half *p, float *o) { *o = p[1] + 1; }", 34),
        ("void f(half *p) { p[1]++; }", 19),
        ("void f(half *p) { *p = 1; }", 19),
        ("void f(int i) { if ((half)i) { } }", 21),
        ("void f(half4 *p) { }", 8),
    ],
)
def test_without_fp16_nothing_computes_with_halves(source: str, column: int) -> None:
    with pytest.raises(coopmat.CompileError, match="needs cl_khr_fp16") as caught:
        coopmat.compile(source, WITHOUT_FP16)
    assert [item.span.column for item in caught.value.diagnostics if item.span is not None] == [column]


@pytest.mark.parametrize("code", ["c", "spirv"])
def test_without_fp16_no_operand_of_a_reduction_is_a_builtin_of_halves(code: str) -> None:
    source = """typedef half C __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8,
        CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
    void f(C m) { C r = coop_mat_reduce(m, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, fmax); }
    """
    with pytest.raises(coopmat.CompileError, match="needs cl_khr_fp16"):
        coopmat.compile(source, [*WITHOUT_FP16, "--matrices", "one", "--code", code])
