"""Statements, objects that may be changed, parts of objects (OpenCL C 3.0, 6.3 and 6.10; C11 6.8)."""

from __future__ import annotations

import pytest
from sema_support import analysed, dumped, expect, findings, good

import coopmat
from coopmat.frontend import typed


def body(statements: str, parameters: str = "int n") -> list[typed.Stmt]:
    block = good(f"void f({parameters}) {{ {statements} }}").functions[-1].body
    assert block is not None
    return block.items


# --- control ---


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("§break;", ["outside-loop"]),
        ("§continue;", ["outside-loop"]),
        ("switch (n) { case 1: §continue; }", ["outside-loop"]),
        ("if (n) { §break; }", ["outside-loop"]),
        ("for (;;) { break; } §break;", ["outside-loop"]),
        ("§case 1: ;", ["outside-switch"]),
        ("§default: ;", ["outside-switch"]),
        ("switch (n) { case 1: case §1: ; }", ["duplicate-case"]),
        ("switch (n) { case 4294967297: case §1: ; }", ["duplicate-case"]),
        ("switch (n) { default: ; §default: ; }", ["duplicate-case"]),
        ("switch (n) { case §n: ; }", ["not-constant"]),
        ("switch (§1.0f) { case 1: ; }", ["invalid-condition"]),
        ("switch (§bad) { here: case 1: §worse(); } goto here;", ["undeclared-identifier"] * 2),
        ("§goto here;", ["undeclared-label"]),
        ("here: §here: ;", ["redefinition"]),
        ("if (§v) ;", ["invalid-condition"]),
        ("while (§v) n++;", ["invalid-condition"]),
        ("do n++; while (§v == v);", ["invalid-condition"]),
        ("for (; §v; ) n++;", ["invalid-condition"]),
        ("if (§bad) §worse = 1; else §worst = 1;", ["undeclared-identifier"] * 3),
        ("for (§bad; §worse; §worst) ;", ["undeclared-identifier"] * 3),
    ],
)
def test_control_that_is_wrong(marked: str, codes: list[str]) -> None:
    expect(f"void f(int n, float4 v) {{ {marked} }}", *codes)


def test_control_that_is_right() -> None:
    good(
        """
        int f(int n, global int *p, float x)
        {
            if (n) ; else if (p) n = 1; else if (x) n = 2;
            while (p) { if (n) continue; break; }
            do switch (n) { case 'a': n = 1; continue; case 1 + 1: { default: n = 2; } break; case -1: ; } while (x);
            switch (n) { }
            switch (n) case 1: n = 2;
            for (int i = 0, j = 1; i < j; i++, j--) { for (;;) break; }
            for (n = 0; ; n++) if (n > 3) goto done;
        done:
            { goto done2; }
        done2: ;
            switch (n) { int unreached; case 7: unreached = 1; n = unreached; }
            return n;
        }
        """
    )


def test_cases_are_of_the_promoted_type() -> None:
    (switch,) = body("switch (c) { case 255: ; case -1: ; default: ; case 'a': ; }", "char c")
    assert isinstance(switch, typed.Switch)
    assert (str(switch.value.type), switch.cases, switch.has_default) == ("int", [255, -1, 97], True)
    (switch,) = body("switch (u) { case -1: ; }", "uint u")
    assert isinstance(switch, typed.Switch)
    assert switch.cases == [2**32 - 1]


@pytest.mark.parametrize(
    ("hint", "factor"),
    [
        ("#pragma unroll\n", 0),
        ("#pragma unroll 4\n", 4),
        ("#pragma unroll(8)\n", 8),
        ("#define U 6\n#pragma unroll (U / 2 << 1)\n", 6),
        ("#pragma nounroll\n", 1),
        ("#pragma clang loop unroll(full)\n", 0),
        ("#pragma clang loop unroll(disable)\n", 1),
        ("__attribute__((opencl_unroll_hint)) ", 0),
        ("__attribute__((opencl_unroll_hint(2))) ", 2),
        ("__attribute__((__opencl_unroll_hint__(1))) ", 1),
        ("", None),
    ],
)
@pytest.mark.parametrize("loop", ["for (;;) break;", "while (n) n--;", "do n--; while (n);"])
def test_unroll_hints(hint: str, factor: int | None, loop: str) -> None:
    statement = body(f"\n{hint}{loop}")[0]
    assert isinstance(statement, (typed.For, typed.While, typed.DoWhile))
    assert statement.unroll == factor


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("#pragma unroll\nn++;", [(3, 1, "ignored-pragmas")]),
        ("#pragma unroll 0\nwhile (n) ;", [(2, 2, "pragma")]),
        ("#pragma unroll n\nwhile (n) ;", [(2, 2, "pragma")]),
        ("#pragma nosuch thing\nn++;", [(2, 2, "unknown-pragmas")]),
        ("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nn++;", []),
        ("#pragma OPENCL FP_CONTRACT ON\nn++;", []),
        ("#pragma OPENCL FP_CONTRACT OFF\nn++;", []),
        ("#pragma OPENCL FP_CONTRACT MAYBE\nn++;", [(2, 2, "pragma")]),
        ("__attribute__((opencl_unroll_hint(0))) while (n) ;", [(2, 35, "attribute")]),
        ("__attribute__((opencl_unroll_hint)) n++;", [(2, 16, "ignored-attributes")]),
        ("__attribute__((nosuch)) n++;", [(2, 16, "unknown-attributes")]),
    ],
)
def test_pragmas_and_statement_attributes(source: str, expected: list[tuple[int, int, str]]) -> None:
    assert findings(f"void f(int n) {{\n{source}\n}}") == expected


def test_pragmas_at_file_scope() -> None:
    expected = [(1, 2, "ignored-pragmas"), (3, 2, "unknown-pragmas")]
    assert findings("#pragma unroll\nint g(void);\n#pragma nosuch\n") == expected


# --- objects ---


@pytest.mark.parametrize(
    ("marked", "codes"),
    [
        ("1 §= 2;", ["not-an-lvalue"]),
        ("f2() §= 2;", ["not-an-lvalue"]),
        ("n + 1 §= 2;", ["not-an-lvalue"]),
        ("(n = 1) §= 2;", ["not-an-lvalue"]),
        ("n++ §= 1;", ["not-an-lvalue"]),
        ("++n §= 1;", ["not-an-lvalue"]),
        ("(n, n) §= 1;", ["not-an-lvalue"]),
        ("(n ? n : n) §= 1;", ["not-an-lvalue"]),
        ("(float)n §= 1;", ["not-an-lvalue"]),
        ("§(n + 1)++;", ["not-an-lvalue"]),
        ("§--1;", ["not-an-lvalue"]),
        ("&§f;", ["function-pointer"]),
        ("§&1;", ["not-an-lvalue"]),
        ("§&(n + 1);", ["not-an-lvalue"]),
        ("§&v.x;", ["invalid-operands"]),
        ("a §= 0;", ["not-assignable"]),
        ("§a++;", ["not-assignable"]),
        ("§c = 1; §c += 1;", ["read-only"] * 2),
        ('§"abc"[0] = 1;', ["read-only"]),
        ("§s.fixed = 1;", ["read-only"]),
        ("§s = t;", ["read-only"]),
        ("§u[0] = t;", ["read-only"]),
        ("§cs->a = 1;", ["read-only"]),
        ("§cs->v.x = 1;", ["read-only"]),
        ("§v.xx = (float2)(1, 2);", ["duplicate-swizzle"]),
        ("§v.xyx += 1;", ["duplicate-swizzle"]),
        ("(v + v).x §= 1;", ["not-an-lvalue"]),
        ("v.x §= v;", ["incompatible-types"]),
        ("n §+= v;", ["invalid-operands"]),
        ("v §+= d;", ["invalid-operands"]),
        ("v §%= 2;", ["invalid-operands"]),
        ("p §*= 2;", ["invalid-operands"]),
        ("p += §1.0f;", ["invalid-index"]),
        ("n §<<= 1.0f;", ["invalid-operands"]),
        ("§w[0]++;", ["invalid-operands"]),
        ("t.§b;", ["no-member"]),
        ("n.§x;", ["no-member"]),
        ("§n->x;", ["invalid-operands"]),
        ("cs.§a;", ["member-of-pointer"]),
        ("a[§1.5f];", ["invalid-index"]),
        ("a[§5] = 1; a[§-1] = 1;", ["array-bounds"] * 2),
        ("§n[n];", ["not-subscriptable"]),
        ("§vp[0]; §*vp;", ["incomplete-type"] * 2),
        ("n << §32; n >> §-1;", ["shift-count-overflow", "shift-count-negative"]),
    ],
)
def test_objects_that_cannot_be_changed_or_reached(marked: str, codes: list[str]) -> None:
    before = (
        "struct S { int a; float4 v; const int fixed; };\nint f2(void) { return 1; }\n"
        "void f(int n, struct S t, const global struct S *cs, double d, global int *p, void *vp) {\n"
        "struct S s, u[2]; int a[3]; const int c = 1; float4 v; struct { int x; } w[1];\n"
    )
    expect(f"{marked} }}", *codes, before=before)


def test_objects_that_can_be_changed() -> None:
    good(
        """
        struct P { int a[2]; float4 v; struct { int x; } in; };
        void f(struct P p, struct P *q, global struct P *g, float4 v, float3 w, int n)
        {
            p.a[1] = q->a[0]; (p).in.x++; q->v.yz = v.zy; g[n].v.w *= 2; (*g).v.s0 = 1; 1[q].in.x = 2;
            v.hi.lo = 1; v.wzyx.xy = (float2)(1, 2); w.xyz = v.xyz; v.even += v.odd; v.x++; --v.s3;
            *&n = 1; &*&n; *(n ? &n : &p.a[0]) = 2; ((p)) = *q; p = *g; *g = p;
            (struct P){ { 1 }, (float4)(0), { 2 } }.in.x = 3; *(int[]){ 1, 2 } = 3;
            n = n++ + ++n, n -= 1, n <<= 2, n |= 1;
        }
        """
    )


def test_swizzles_of_swizzles_are_one() -> None:
    text = dumped("v.wzy.yz = (float2)(1, 2)", "float4 v")
    assert text.count("Swizzle") == 1
    assert "Swizzle 'float2' indices=(2, 1)" in text


def test_parts_of_values_that_are_no_objects() -> None:
    before = "struct S { int a; float4 v; int b[2]; }; struct S g(void) { struct S s = { 1 }; return s; }"
    assert "ExtractMember 'int'" in dumped("g().a", before=before)
    assert "ExtractSwizzle 'float2'" in dumped("g().v.xy", before=before)
    assert "CompoundLiteral 'struct S' {const}" in dumped("g().b[1]", before=before)


# --- what the tree says ---


def test_nothing_is_implicit() -> None:
    text = dumped("n += x; p += 1; b = p; v *= 2; p[n] = x", "int n, float x, global char *p, bool b, float4 v")
    assert "CompoundAssign 'int' add computation=float int-to-float float-to-int" in text
    assert "CompoundAssign 'global char *' add computation=global char *" in text
    assert "CompoundAssign 'float4' mul computation=float4" in text
    for kind in ("'bool' to-bool", "'float4' splat", "'long' int-to-int", "'char' float-to-int"):
        assert f"Convert {kind}" in text, kind


def test_warnings_do_not_stop_anything() -> None:
    unit, diagnostics = analysed("void f(int n) { n << 40; }")
    assert [item.code for item in diagnostics.items] == ["shift-count-overflow"] and not diagnostics.has_errors
    assert unit.functions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cl_khr_no_such_thing : enable", "OpenCL extension 'cl_khr_no_such_thing' is not known"),
        ("cl_khr_fp16", "'#pragma OPENCL EXTENSION cl_khr_fp16' has no ':' and behaviour"),
        (
            "cl_khr_fp16 : on",
            "the behaviour of OpenCL extension 'cl_khr_fp16' must be enable or disable or begin or end, not 'on'",
        ),
        ("all : enable", "the behaviour of OpenCL extension 'all' must be disable, not 'enable'"),
        ("all : disable", None),
        ("cl_khr_fp16 : enable", None),
        ("cl_intel_subgroups : begin", None),
        ("__opencl_c_images : enable", None),
    ],
)
def test_extension_pragmas(text: str, message: str | None) -> None:
    """A pragma that has no effect is a warning, at file scope and in a function, and an error with -Werror."""
    source = f"#pragma OPENCL EXTENSION {text}\nvoid f(void) {{\n#pragma OPENCL EXTENSION {text}\n}}"
    found = coopmat.compile(source).diagnostics
    expected = [] if message is None else [("ignored-pragmas", f"{message}; the pragma is ignored")] * 2
    assert [(item.code, item.message) for item in found] == expected
    if message is not None:
        with pytest.raises(coopmat.CompileError):
            coopmat.compile(source, ["-Werror"])
