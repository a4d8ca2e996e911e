"""The parser: trees, scopes of type names, spans, recovery from errors, limits."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from timing import processor_seconds

from coopmat.diagnostics import Diagnostics, Span, render_text
from coopmat.frontend import syntax as ast
from coopmat.frontend.parse import load_tables, parse
from coopmat.frontend.preprocess import PreprocessOptions, preprocess


def run(source: str) -> tuple[ast.TranslationUnit, Diagnostics]:
    diagnostics = Diagnostics(error_limit=0)
    return parse(preprocess(source, "m.cl", PreprocessOptions(), diagnostics), diagnostics), diagnostics


def good(source: str) -> ast.TranslationUnit:
    unit, diagnostics = run(source)
    assert not diagnostics.items, render_text(diagnostics.items, diagnostics.sources)
    return unit


def body(statements: str, before: str = "") -> list[ast.BlockItem]:
    function = good(f"{before}\nvoid f(void) {{ {statements} }}").declarations[-1]
    assert isinstance(function, ast.FunctionDefinition)
    return function.body.items


def expression(text: str, before: str = "") -> ast.Expression:
    (statement,) = body(f"{text};", before)
    assert isinstance(statement, ast.ExpressionStatement) and statement.expression is not None
    return statement.expression


def nodes(root: object) -> Iterator[ast.Node]:
    work = [root]
    while work:
        value = work.pop()
        if isinstance(value, list):
            work += value
        elif isinstance(value, ast.Node):
            yield value
            work += [getattr(value, item.name) for item in fields(value)]


def errors(source: str) -> list[tuple[int, int, str]]:
    _, diagnostics = run(source)
    return [(i.span.line, i.span.column, i.code) for i in diagnostics.items if i.span is not None]


# --- expressions ---


def show(node: ast.Expression) -> str:
    """Fully parenthesised, the source's own parentheses left out."""
    if isinstance(node, ast.Paren):
        return show(node.inner)
    if isinstance(node, ast.Binary):
        return f"({show(node.left)} {node.op} {show(node.right)})"
    if isinstance(node, ast.Assign):
        return f"({show(node.target)} {node.op} {show(node.value)})"
    if isinstance(node, ast.Unary):
        return f"({node.op} {show(node.operand)})"
    if isinstance(node, ast.Postfix):
        return f"({show(node.operand)} {node.op})"
    if isinstance(node, ast.Conditional):
        return f"({show(node.condition)} ? {show(node.then)} : {show(node.otherwise)})"
    if isinstance(node, ast.Cast):
        return f"((int) {show(node.operand)})"
    if isinstance(node, ast.Comma):
        return "(" + " , ".join(show(item) for item in node.items) + ")"
    if isinstance(node, ast.Subscript):
        return f"({show(node.base)} [ {show(node.index)} ])"
    if isinstance(node, ast.Call):
        return f"({show(node.callee)} {' , '.join(show(a) for a in node.arguments)} ())"
    if isinstance(node, ast.Member):
        return f"({show(node.base)} {'->' if node.arrow else '.'} {node.name})"
    if isinstance(node, ast.Identifier):
        return node.name
    assert isinstance(node, ast.IntegerLiteral)
    return node.text


#: C99's grammar, 6.5: level, and the least level that each operand may have without parentheses.
BINARY = {
    op: level
    for level, ops in enumerate(["||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %"], start=4)
    for op in ops.split()
}
COMMA, ASSIGN, CONDITIONAL, CAST, POSTFIX, PRIMARY = 1, 2, 3, 20, 22, 23


def wrap(part: tuple[str, str, int], least: int) -> str:
    return part[0] if part[2] >= least else f"({part[0]})"


@st.composite
def expressions(draw: st.DrawFn, depth: int = 5) -> tuple[str, str, int]:
    """Source with as few parentheses as C needs, the tree fully parenthesised, and its level."""
    kinds = (
        ["name"]
        if not depth
        else ["name", "binary", "binary", "unary", "cast", "postfix", "?:", "=", ",", "()", "[]", "."]
    )
    kind = draw(st.sampled_from(kinds))
    sub = expressions(depth=depth - 1)
    if kind == "binary":
        op = draw(st.sampled_from(sorted(BINARY)))
        level = BINARY[op]
        a, b = draw(sub), draw(sub)
        return f"{wrap(a, level)} {op} {wrap(b, level + 1)}", f"({a[1]} {op} {b[1]})", level
    if kind == "unary":
        op, a = draw(st.sampled_from(list("+-!~*&"))), draw(sub)
        return f"{op} {wrap(a, CAST)}", f"({op} {a[1]})", CAST + 1
    if kind == "cast":
        a = draw(sub)
        return f"(int) {wrap(a, CAST)}", f"((int) {a[1]})", CAST
    if kind == "postfix":
        a = draw(sub)
        return f"{wrap(a, POSTFIX)} ++", f"({a[1]} ++)", POSTFIX
    if kind == "?:":
        a, b, c = draw(sub), draw(sub), draw(sub)
        return f"{wrap(a, 4)} ? {b[0]} : {wrap(c, CONDITIONAL)}", f"({a[1]} ? {b[1]} : {c[1]})", CONDITIONAL
    if kind == "=":
        op, a, b = draw(st.sampled_from(["=", "+=", "<<=", "^="])), draw(sub), draw(sub)
        return f"{wrap(a, CAST + 1)} {op} {wrap(b, ASSIGN)}", f"({a[1]} {op} {b[1]})", ASSIGN
    if kind == ",":
        a, b = draw(sub), draw(sub)
        return f"{wrap(a, ASSIGN)} , {wrap(b, ASSIGN)}", f"({a[1]} , {b[1]})", COMMA
    if kind == "()":
        a, b, c = draw(sub), draw(sub), draw(sub)
        return f"{wrap(a, POSTFIX)}({wrap(b, ASSIGN)}, {wrap(c, ASSIGN)})", f"({a[1]} {b[1]} , {c[1]} ())", POSTFIX
    if kind == "[]":
        a, b = draw(sub), draw(sub)
        return f"{wrap(a, POSTFIX)}[{b[0]}]", f"({a[1]} [ {b[1]} ])", POSTFIX
    if kind == ".":
        op, a = draw(st.sampled_from([".", "->"])), draw(sub)
        return f"{wrap(a, POSTFIX)} {op} x", f"({a[1]} {op} x)", POSTFIX
    name = draw(st.sampled_from(["a", "b", "7"]))
    return name, name, PRIMARY


@given(expressions())
@settings(max_examples=400)
def test_operators_bind_as_in_c(case: tuple[str, str, int]) -> None:
    assert show(expression(case[0])) == case[1]


def test_a_long_chain_is_a_left_deep_tree() -> None:
    node, depth = expression("x" + "\n+ x" * 20_000), 0
    while isinstance(node, ast.Binary):
        node, depth = node.left, depth + 1
    assert depth == 20_000
    assert ast.dump(node)


def test_vector_literals_keep_their_parentheses() -> None:
    cast = expression("(float4)(1, a.xy, 2)")
    assert isinstance(cast, ast.Cast) and isinstance(cast.operand, ast.Paren)
    assert isinstance(cast.operand.inner, ast.Comma) and len(cast.operand.inner.items) == 3
    assert [word.text for word in cast.type_name.specifiers.type_words] == ["float4"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("sizeof(T)", ast.TypeName),
        ("sizeof(x)", ast.Paren),
        ("sizeof x", ast.Identifier),
        ("sizeof(T*[3])", ast.TypeName),
        ("_Alignof(struct S)", ast.TypeName),
        ("sizeof(int){0}", ast.CompoundLiteral),
    ],
)
def test_sizeof(text: str, kind: type) -> None:
    node = expression(text, "typedef int T;")
    assert isinstance(node, ast.SizeOf) and isinstance(node.operand, kind)


def test_types_may_be_arguments() -> None:
    call = expression("coop_mat_length(M) + g(M, x, float*)", "typedef float M;")
    assert isinstance(call, ast.Binary) and isinstance(call.left, ast.Call) and isinstance(call.right, ast.Call)
    kinds = [type(a).__name__ for a in call.left.arguments + call.right.arguments]
    assert kinds == ["TypeArgument", "TypeArgument", "Identifier", "TypeArgument"]


def test_strings_are_kept_apart() -> None:
    node = expression('"a" "b"\n"c"')
    assert isinstance(node, ast.StringLiteral) and node.texts == ['"a"', '"b"', '"c"']


# --- declarations ---


def modifiers(declarator: ast.Declarator) -> str:
    letters = {ast.PointerModifier: "*", ast.ArrayModifier: "[]", ast.FunctionModifier: "()"}
    return "".join(letters[type(modifier)] for modifier in declarator.modifiers)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int x;", ""),
        ("int *x;", "*"),
        ("int *x[3];", "[]*"),
        ("int (*x)[3];", "*[]"),
        ("int (*x)(int), y;", "*()"),
        ("int *const *x;", "**"),
        ("int (*(*x)(void))[2][3];", "*()*[][]"),
        ("int x(int (*)(float), int[static 4], int[const], int[*]);", "()"),
    ],
)
def test_declarators_read_outwards(text: str, expected: str) -> None:
    declaration = good(text).declarations[0]
    assert isinstance(declaration, ast.Declaration)
    declarator = declaration.declarators[0].declarator
    assert (declarator.name, modifiers(declarator)) == ("x", expected)


def test_pointer_qualifiers_stay_with_their_star() -> None:
    declaration = good("__global int *const *volatile x;").declarations[0]
    assert isinstance(declaration, ast.Declaration)
    stars = declaration.declarators[0].declarator.modifiers
    assert [[w.text for w in s.qualifiers] for s in stars if isinstance(s, ast.PointerModifier)] == [
        ["volatile"],
        ["const"],
    ]
    assert [w.text for w in declaration.specifiers.qualifiers] == ["global"]


def test_specifiers_are_sorted_by_kind() -> None:
    source = "static inline __constant const unsigned long int __attribute__((aligned(8), __packed__)) x = 3;"
    declaration = good(source).declarations[0]
    assert isinstance(declaration, ast.Declaration)
    s = declaration.specifiers
    words = {name: [w.text for w in getattr(s, name)] for name in ("storage", "functions", "qualifiers", "type_words")}
    assert words == {
        "storage": ["static"],
        "functions": ["inline"],
        "qualifiers": ["constant", "const"],
        "type_words": ["unsigned", "long", "int"],
    }
    assert [(a.name, a.arguments is not None) for a in s.attributes] == [("aligned", True), ("packed", False)]


@pytest.mark.parametrize(
    ("source", "owner"),
    [
        ("__attribute__((k)) int x;", ast.Specifiers),
        ("int __attribute__((k)) x;", ast.Specifiers),
        ("int x __attribute__((k));", ast.Declarator),
        ("int x __attribute__((k)) = 3, y;", ast.Declarator),
        ("int * __attribute__((k)) x;", ast.PointerModifier),
        ("struct __attribute__((k)) S { int x; };", ast.StructSpecifier),
        ("struct S { int x; } __attribute__((k));", ast.StructSpecifier),
        ("struct S { int x; } __attribute__((k)) s;", ast.StructSpecifier),
        ("struct S { int x __attribute__((k)); };", ast.Declarator),
        ("struct S { int x : 3 __attribute__((k)); };", ast.Declarator),
        ("enum __attribute__((k)) E { A };", ast.EnumSpecifier),
        ("enum E { A } __attribute__((k));", ast.EnumSpecifier),
        ("struct S __attribute__((k)) x;", ast.Specifiers),
        ("typedef float M __attribute__((k));", ast.Declarator),
        ("void f(int x __attribute__((k)));", ast.Declarator),
        ("void f(void) __attribute__((k));", ast.Declarator),
        ("void f(void) __attribute__((k)) { }", ast.Declarator),
        ("void f(void) { __attribute__((k)) for (;;) ; }", ast.Attributed),
        ("void f(void) { L: __attribute__((k)) ; }", ast.Attributed),
        ("void f(void) { __attribute__((k)) int x; }", ast.Specifiers),
    ],
)
def test_attributes_belong_to_what_they_stand_at(source: str, owner: type) -> None:
    found = [n for n in nodes(good(source)) if [a.name for a in getattr(n, "attributes", [])] == ["k"]]
    assert [type(node) for node in found] == [owner]


def test_prototypes() -> None:
    unit = good("void a(void); void b(); void c(int, ...); void d(float x);")
    functions = []
    for declaration in unit.declarations:
        assert isinstance(declaration, ast.Declaration)
        functions.append(declaration.declarators[0].declarator.modifiers[0])
    shapes = [(f.parameters if f.parameters is None else len(f.parameters), f.variadic)
              for f in functions if isinstance(f, ast.FunctionModifier)]  # fmt: skip
    assert shapes == [(0, False), (None, False), (1, True), (1, False)]


def test_initializers() -> None:
    declaration = good("int a[] = { [1] = 2, 3, .x.y[4] = { 5, }, {} };").declarations[0]
    assert isinstance(declaration, ast.Declaration)
    lists = declaration.declarators[0].initializer
    assert isinstance(lists, ast.InitializerList)
    assert [len(item.designators) for item in lists.items] == [1, 0, 3, 0]


def test_every_statement() -> None:
    items = body(
        "; { } if (a) ; else ; while (a) b; do c; while (d); for (;;) break; for (int i = 0; i < n; i++) continue;"
        "for (i = 0, j = 1; ; ) { } switch (a) { case 1: default: ; } L: goto L; return; return a, b; int x;"
    )
    assert [type(item).__name__ for item in items] == [
        "ExpressionStatement", "Compound", "If", "While", "DoWhile", "For", "For", "For", "Switch", "Label", "Return",
        "Return", "Declaration",
    ]  # fmt: skip


def test_else_goes_to_the_nearest_if() -> None:
    (outer,) = body("if (a) if (b) c; else d;")
    assert isinstance(outer, ast.If) and outer.otherwise is None
    assert isinstance(outer.then, ast.If) and outer.then.otherwise is not None


def test_a_pragma_may_stand_before_a_controlled_statement() -> None:
    unit = good("void f(void) { for (;;)\n#pragma unroll\nfor (;;)\n#pragma nounroll\n; }")
    found = [[type(item).__name__ for item in node.items] for node in nodes(unit) if isinstance(node, ast.Compound)]
    assert sorted(found) == [["For"], ["Pragma", "ExpressionStatement"], ["Pragma", "For"]]


def test_pragmas_are_items() -> None:
    unit = good("#pragma OPENCL EXTENSION x : enable\nvoid f(void) {\n#pragma unroll 4\nfor (;;) ; }")
    found = sorted((node.span.line, node.text) for node in nodes(unit) if isinstance(node, ast.Pragma))
    assert found == [(1, "OPENCL EXTENSION x : enable"), (3, "unroll 4")]


# --- which names are types ---


@pytest.mark.parametrize(
    ("source", "typedefs"),
    [
        ("typedef int T; T x;", 1),
        ("typedef int T, *P; P x; T y;", 2),
        ("typedef int F(int a), G; G x;", 1),
        ("typedef int T; void f(T T) { T = 1; T * T; }", 1),
        ("typedef int T; void f(T); void g(T (T));", 3),
        ("typedef int T; void f(void) { T T = 3; T = T * T; } T x;", 2),
        ("typedef int T; void f(void) { { int T; T * 2; } T * x; }", 1),
        ("typedef int T; void f(void) { for (int T = 0; T < 3; T++) T * 2; T x; }", 1),
        ("typedef int T; void f(void) { for (int T = 0; ; ) if (T) T; T x; }", 1),
        ("typedef int T; void f(void) { for (int T = 0; ; ) while (T) for (;;) if (T) T; else T; T x; }", 1),
        ("typedef int T; struct S { T T; T : 3; T b : 2; }; void f(struct S s) { s.T = 1; (&s)->T; }", 3),
        ("typedef int T; void f(void) { T: goto T; T x; }", 1),
        ("typedef int T; void f(void) { sizeof(T); (T)x; (T){1}; g(T); }", 4),
        ("typedef int T; void f(void) { enum { T }; T + 1; }", 0),
        ("int T; void f(void) { { typedef int T; T x; } T * 2; }", 1),
        ("enum { T }; void f(void) { typedef int T; T x; } int y = T;", 1),
        ("typedef int T; struct T { T x; }; struct T y; enum T { A }; union T z;", 1),
        ("typedef int T; void f(void) { int x = sizeof(T), T = 3, y = T; }", 1),
        ("typedef int T; void f(void) { typedef float T; T x; } T y;", 2),
        ("typedef int T; const T x; T const y; static T z;", 3),
        ("typedef struct S { int T; } T; T x;", 1),
        ("typedef int T; int x = 1 ? 2 : sizeof(T);", 1),
        ("typedef int T; void f(void) { struct { T T; } T; T.T = 1; }", 1),
    ],
)
def test_type_names_follow_their_scopes(source: str, typedefs: int) -> None:
    unit = good(source)
    used = [n for n in nodes(unit) if isinstance(n, ast.Specifiers) and n.typedef_name is not None]
    assert len(used) == typedefs


def test_builtin_types_may_be_hidden() -> None:
    good("typedef unsigned int uint; uint x;")
    items = body("int float4 = 3; float4 * 2;")
    assert isinstance(items[1], ast.ExpressionStatement)


# --- spans ---

KERNEL = """
typedef float M __attribute__((coop_mat(SCOPE, 16, 16, USE)));
struct S { int a, *b; float4 v; };
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void
gemm(__global const float *restrict a, local int (*p)[4], uint n) {
  int i = 0, *q = &i;
  for (uint k = 0; k < n; k += 16) {
    M m = coop_mat_load(a + k * 16, ROW, n);
    float4 v = (float4)(1.0f, a[k], (float2)(2, 3)).wzyx;
    if (k > 3 && !(k & 1)) q[k]++; else { p[0][k] = -~i << 2; continue; }
    do { i = i ? i - 1 : sizeof(struct S); } while (i > 0x10ul);
  }
  switch (i) { case 1: return; default: goto out; }
out: ;
}
"""


def text_of(source: str, span: Span) -> str:
    lines = source.split("\n")
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    return "\n".join([lines[span.line - 1][span.column - 1 :], *lines[span.line : span.end_line - 1],
                      lines[span.end_line - 1][: span.end_column - 1]])  # fmt: skip


def test_spans_cover_what_they_name() -> None:
    unit = good(KERNEL)
    seen = 0
    for node in nodes(unit):
        text = text_of(KERNEL, node.span)
        if isinstance(node, ast.Identifier):
            assert text == node.name
        elif isinstance(node, (ast.IntegerLiteral, ast.FloatLiteral)):
            assert text == node.text
        elif isinstance(node, ast.Declarator) and node.name:
            assert text == node.name
        elif isinstance(node, ast.Binary):
            assert text_of(KERNEL, node.op_span) == node.op
            assert text.startswith(text_of(KERNEL, node.left.span)) and text.endswith(text_of(KERNEL, node.right.span))
        elif isinstance(node, (ast.Call, ast.Paren)):
            assert text.endswith(")")
        elif isinstance(node, (ast.Declaration, ast.Return, ast.Goto)):
            assert text.endswith(";") and text.count("(") == text.count(")")
        elif isinstance(node, ast.Compound):
            assert text.startswith("{") and text.endswith("}") and text_of(KERNEL, node.end) == "}"
        elif isinstance(node, ast.Member):
            assert text_of(KERNEL, node.name_span) == node.name
        else:
            continue
        seen += 1
    assert seen > 80


def test_macro_spans_point_at_the_use() -> None:
    unit, _ = run("#define ADD(x, y) ((x) + (y))\nint a = ADD(b, c);")
    binary = next(node for node in nodes(unit) if isinstance(node, ast.Binary))
    assert (binary.span.line, binary.span.column) == (2, 9)


# --- errors ---


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", []),
        ("// nothing\n", []),
        ("void f(void) { x = ({ int y = 1; y; }); x = ; }", [(1, 45, "expected-expression")]),
        ("void f(void) { int x = ({ g(({ 1; })); }) + 2; return x }",
         [(1, 56, "expected-semicolon")]),
        ("void f(void) { x = g(({ 1 }), ({ 2; })); y = ; }",
         [(1, 26, "expected-semicolon"), (1, 46, "expected-expression")]),
        ("void f(void) { x = ({ y = ; z; }) + 1; y = ; }",
         [(1, 27, "expected-expression"), (1, 44, "expected-expression")]),
        ("void f(void) { x = ({ if (y { z; } }); y = ; }",
         [(1, 28, "unmatched-bracket"), (1, 44, "expected-expression")]),
        ("void f(void) { x = ({ 1; }; y = ; }", [(1, 27, "unmatched-bracket"), (1, 33, "expected-expression")]),
        ("int x = { ({ 1; }) };\nint y = ;", [(2, 9, "expected-expression")]),
        ("void f(void) { x = y ?: 2; int z = x ?: 3; x = ; }", [(1, 48, "expected-expression")]),
        ("void f(void) { asm(\"nop\"); if (x) __asm__ volatile (\"a\" : \"=r\"(y) : \"r\"(z[(1)])); else x = 1; }",
         [(1, 16, "not-supported"), (1, 35, "not-supported")]),
        ("__asm__(\"x\");\nint f(int x) asm(\"g\");\nint y;", [(1, 1, "not-supported"), (2, 14, "not-supported")]),
        ("void f(void) { int r __asm(\"r0\") = 1, s; r = s; }", [(1, 22, "not-supported")]),
        ("int x\nint y;", [(1, 6, "expected-semicolon")]),
        ("int x = 3", [(1, 10, "expected-semicolon")]),
        ("void f(void) { x = 1 }", [(1, 21, "expected-semicolon")]),
        ("void f(void) { x = (1 + 2; y = 3 }", [(1, 26, "unmatched-bracket"), (1, 33, "expected-semicolon")]),
        ("void f(void) { a[1 = 3; }", [(1, 23, "unmatched-bracket")]),
        ("void f(void) { g(a[1); }", [(1, 21, "unmatched-bracket")]),
        ("void f(void) { x = 1); }", [(1, 21, "unmatched-bracket")]),
        ("void f(void) { x = ; }", [(1, 20, "expected-expression")]),
        ("void f(void) { x = float4(1, 2); }", [(1, 20, "expected-expression")]),
        ("void f(void) { if (a b) { x = 1; } else { y = 1; } z = ; }",
         [(1, 22, "unmatched-bracket"), (1, 56, "expected-expression")]),
        ("void f(void) { for (int i = 0; i < n i++) x; }", [(1, 37, "expected-semicolon")]),
        ("void f(void) { for (i = 0; i < n; i++ { } }", [(1, 38, "unmatched-bracket")]),
        ("void f(void) { switch (x) { case 1: } }", [(1, 37, "expected-statement")]),
        ("void f(void) { else x; }", [(1, 16, "syntax-error")]),
        ("void f(void) { do x; }", [(1, 22, "syntax-error")]),
        ("void f(void) { y = 1 ? 2; }", [(1, 25, "syntax-error")]),
        ("void f(void) { void g(void) { } }", [(1, 29, "syntax-error")]),
        ("void f(void) { if (x) {", [(1, 24, "unmatched-bracket")]),
        ("foo x; foo y;", [(1, 1, "unknown-type")]),
        ("void f(foo a, bar *b) { }", [(1, 8, "unknown-type"), (1, 15, "unknown-type")]),
        ("void f(void) { if (a) foo x; }", [(1, 26, "expected-semicolon")]),
        ("void f(void) { foo x; foo y; }", [(1, 16, "unknown-type")]),
        ("struct S { foo x; int y };", [(1, 12, "unknown-type"), (1, 24, "expected-semicolon")]),
        ("const foo x;", [(1, 7, "unknown-type")]),
        ("static x = 3;", [(1, 8, "missing-type")]),
        ("main() { return 0; }\nint x = ;", [(1, 1, "expected-declaration"), (2, 9, "expected-expression")]),
        ("int a[] = {1, 2 3}; int b = ;", [(1, 17, "unmatched-bracket"), (1, 29, "expected-expression")]),
        ("}\nint x = ;", [(1, 1, "unmatched-bracket"), (2, 9, "expected-expression")]),
        ("int x; #", [(1, 8, "syntax-error")]),
        ("template <int N> int f(void);", [(1, 1, "unsupported-cpp"), (1, 10, "expected-declaration")]),
        ("void f(pipe int p) { }", [(1, 8, "not-supported")]),
        ("void f(void) { asm(\"x\"); g = ^{ 1; }; }", [(1, 16, "not-supported"), (1, 30, "not-supported")]),
        ("void f(void) { g(1\n#pragma unroll\n); }", [(2, 2, "ignored-pragmas")]),
    ],
)  # fmt: skip
def test_errors_and_where(source: str, expected: list[tuple[int, int, str]]) -> None:
    assert errors(source) == expected


def test_what_is_sound_survives_errors() -> None:
    unit, diagnostics = run("int a; int b = ; void f(void) { x = ; y = 1; } struct { int q r; } s; void g(void) { }")
    assert len(diagnostics.items) == 3
    names = [d.declarator.name for d in unit.declarations if isinstance(d, ast.FunctionDefinition)]
    assert names == ["f", "g"]


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("__glbal float *a", "__global"), ("flaot x", "float"), ("My_tipe x", "My_type"), ("zzzzz x", None)],
)
def test_near_names_are_suggested(wrong: str, near: str | None) -> None:
    _, diagnostics = run(f"typedef int My_type; void f({wrong});")
    (item,) = diagnostics.items
    assert [fixit.replacement for fixit in item.fixits] == ([near] if near else [])


@pytest.mark.parametrize(
    "source",
    ["int x\nint y;", "void f(void) { x = (1 + 2; g(a[1); return }", "int x = 3", "struct S { int a int b; };"],
)
def test_fixits_mend(source: str) -> None:
    _, diagnostics = run(source)
    lines = source.split("\n")
    fixits = [fixit for item in diagnostics.items for fixit in item.fixits]
    assert len(fixits) == len(diagnostics.items)
    for fixit in sorted(fixits, key=lambda f: (f.span.line, f.span.column), reverse=True):
        line, at = fixit.span.line - 1, fixit.span.column - 1
        lines[line] = lines[line][:at] + fixit.replacement + lines[line][fixit.span.end_column - 1 :]
    good("\n".join(lines))


def test_a_rendered_error() -> None:
    _, diagnostics = run("void f(void) {\n  x = (1 + 2;\n}")
    assert render_text(diagnostics.items, diagnostics.sources) == (
        "m.cl:2:13: error: expected ')' before ';' [unmatched-bracket]\n  x = (1 + 2;\n      ~     ^\n            )\n"
    )


# --- limits and robustness ---


@pytest.mark.parametrize(
    "deep",
    [
        lambda n: "(" * n + "1" + ")" * n,
        lambda n: "-" * n + "1",
        lambda n: "(int)" * n + "1",
        lambda n: "x = " * n + "1",
        lambda n: "a ? b : " * n + "1",
        lambda n: "a" + ".x" * n,
        lambda n: "a" + "[0]" * n,
        lambda n: "a" + "[a" * n,
        lambda n: "f(" * n,
        lambda n: "1; " + "{" * n,
        lambda n: "1; " + "if (a) b; else " * n + ";",
        lambda n: "1; " + "for (;;) " * n + ";",
        lambda n: "1; switch (a) " + "case 1: " * n + ";",
        lambda n: "1; " + "struct { " * n,
        lambda n: "1; int " + "*" * n + "x",
        lambda n: "1; int x" + "[1]" * n,
        lambda n: "1; int " + "(" * n + "x",
    ],
)
def test_nesting_is_limited_and_quickly_so(deep: Callable[[int], str]) -> None:
    start = time.process_time()
    source = "void f(void) { y = " + deep(4000).replace(" ", "\n") + "; }"
    assert [code for _, _, code in errors(source)] == ["nesting-too-deep"]
    assert time.process_time() - start < 2
    assert "nesting-too-deep" not in [code for _, _, code in errors("void f(void) { y = " + deep(60) + "; }")]


SOUP_WORDS = """
int T float4 struct enum typedef kernel __global const static x y f 1 2.0f 'c' "s" ( ) [ ] { } ; , : ? . -> = == += + -
* & ! ~ ++ << if else for while do switch case default break continue return goto sizeof __attribute__ (( )) template
_Static_assert asm _Generic pipe ^{ ... #
"""
SOUP = st.lists(st.sampled_from([*SOUP_WORDS.split(), "\n"]), max_size=60).map(" ".join)


@given(SOUP)
@settings(max_examples=500)
def test_token_soup_gives_diagnostics_only(source: str) -> None:
    for text in ("typedef int T; " + source, "typedef int T; void f(void) { " + source + " } int last;"):
        unit, diagnostics = run(text)
        _check_places(text, diagnostics)
        assert isinstance(unit.declarations[0], ast.Declaration)


def _check_places(source: str, diagnostics: Diagnostics) -> None:
    """Fail if a diagnostic has no place in the source."""
    lines = source.count("\n") + 1
    assert all(item.span is not None and 1 <= item.span.line <= lines for item in diagnostics.items)


@given(st.data())
@settings(max_examples=200)
def test_mutated_kernels_give_diagnostics_only(data: st.DataObject) -> None:
    source = KERNEL
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(source)))
        end = data.draw(st.integers(start, min(len(source), start + 8)))
        source = (
            source[:start]
            + data.draw(st.sampled_from(["", "(", ")", "{", "}", ";", ",", " x ", "=", " int "]))
            + source[end:]
        )
    _, diagnostics = run(source)
    for item in diagnostics.items:
        assert item.span is not None


@given(st.integers(0, len(KERNEL)))
@settings(max_examples=60)
def test_truncated_kernels_give_diagnostics_only(length: int) -> None:
    _, diagnostics = run(KERNEL[:length])
    _check_places(KERNEL[:length], diagnostics)
    is_whole = KERNEL[length:].isspace() or length == len(KERNEL)
    assert is_whole or not KERNEL[:length].rstrip().endswith("{") or diagnostics.has_errors


@pytest.mark.parametrize(
    "unit", ["}", ")", "x y ", "foo x; ", "int a = ; ", "if ", "do } ", "( { ", "{ ) ", "struct { ", "do "]
)
def test_many_errors_take_linear_time(unit: str) -> None:
    def seconds(count: int) -> float:
        text = "void f(void) { " + (unit + "\n") * count
        return min(processor_seconds(lambda: run(text)) for _ in range(2))

    seconds(100)
    # 8 times the errors; 64 times the time if it were quadratic.
    assert seconds(3200) < 24 * seconds(400) + 0.05


def test_speed() -> None:
    source = "void f(void) {\n" + "  for (int i = 0; i < n; ++i) { a[i] = b[i] * 2.0f + (float)i; }\n" * 500 + "}"
    diagnostics = Diagnostics()
    stream = preprocess(source, "m.cl", PreprocessOptions(), diagnostics)
    parse(stream, diagnostics)
    start = time.process_time()
    parse(stream, diagnostics)
    # A desktop takes some 0.07 s.
    assert time.process_time() - start < 1


# --- the tables ---


def test_tables_come_back_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COOPMAT_CACHE_DIR", str(tmp_path / "c"))
    monkeypatch.delenv("COOPMAT_NO_CACHE", raising=False)
    fresh = load_tables.__wrapped__()
    (cached,) = (path for path in (tmp_path / "c").rglob("*") if path.is_file())
    assert load_tables.__wrapped__() == fresh
    before = cached.read_bytes()
    for damaged in (b"", b"\xff", before[:-10], b'{"rules": []}'):
        cached.write_bytes(damaged)
        assert load_tables.__wrapped__() == fresh
        assert cached.read_bytes() == before


def test_tables_need_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("COOPMAT_CACHE_DIR", str(blocked))
    assert load_tables.__wrapped__() == load_tables()
    monkeypatch.setenv("COOPMAT_NO_CACHE", "1")
    assert load_tables.__wrapped__() == load_tables()


def test_every_rule_has_its_method() -> None:
    from coopmat.frontend.declarations import Builder

    table = load_tables()
    for origin, size, method in table.rules:
        assert hasattr(Builder, method) if method else size == 1, origin


def test_threads_do_not_disturb_each_other() -> None:
    from concurrent.futures import ThreadPoolExecutor

    def dump(number: int) -> str:
        return ast.dump(good(f"#define N {number}\n#define SQ(x) ((x) * (x))\nint n = SQ(N);" + KERNEL))

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(dump, range(40)))
    assert together == [dump(number) for number in range(40)]


@pytest.mark.parametrize(
    ("text", "equal"),
    [
        ("typedef float m [[clang::matrix_type(3, 4)]];", "typedef float m __attribute__((matrix_type(3, 4)));"),
        ("[[clang::matrix_type(3, 4)]] typedef float m;", "__attribute__((matrix_type(3, 4))) typedef float m;"),
        (
            "struct [[gnu::packed]] S { char c; int d [[gnu::aligned(2), deprecated]]; };",
            "struct __attribute__((packed)) S { char c; int d __attribute__((aligned(2), deprecated)); };",
        ),
        (
            "int f([[maybe_unused]] int x) { switch (x) { case 1: x = 2; [[fallthrough]]; case 2: break; } return 1; }",
            "int f(__attribute__((maybe_unused)) int x) { switch (x) { case 1: x = 2; __attribute__((fallthrough));"
            " case 2: break; } return 1; }",
        ),
    ],
)
def test_standard_attributes(text: str, equal: str) -> None:
    """`[[clang::name]]` is `__attribute__((name))`."""
    first, second = (re.sub(r"Span\([^)]*\)", "", repr(good(source))) for source in (text, equal))
    assert first == second
