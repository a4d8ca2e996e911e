"""Statement expressions and `a ?: b`: types, scopes, what is refused, and what warnings say."""

from __future__ import annotations

import pytest
from sema_support import MARK, analysed, good

import coopmat
from coopmat.frontend import typed

HEAD = "void f(int n, float x, global int *p) {\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("({ 1; })", "int"),
        ("({ int t = n; x; })", "float"),
        ("({ char c = 1; c; })", "char"),
        ("({ int a[3]; a; })", "private int *"),
        ("({ })", "void"),
        ("({ ; })", "void"),
        ("({ int t; })", "void"),
        ("({ if (n) 1; })", "void"),
        ("({ (void)n; })", "void"),
        ("({ ({ x; }); })", "float"),
        ("(n ?: x)", "float"),
        ("(p ?: 0)", "global int *"),
        ("(3 ?: n)", "int"),
    ],
)
def test_types(text: str, expected: str) -> None:
    unit = good(f"{HEAD}{text};\n}}")
    body = unit.functions[0].body
    assert body is not None
    (item,) = body.items
    assert isinstance(item, typed.ExprStmt) and str(item.expr.type).replace("int*", "int *") == expected


def test_names_have_a_scope_of_their_own() -> None:
    good(HEAD + "int t = 1; t = ({ float t = x; t; }) + t; n = ({ typedef char T; T c = 1; c; });\n}")
    _, diagnostics = analysed(HEAD + "n = ({ int inside = 1; inside; }) + inside;\n}")
    assert [d.code for d in diagnostics.items] == ["undeclared-identifier"]


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("n = ({ §return; 1; });", "not-supported", "'return' in a statement expression is not supported yet"),
        ("while (n) n = ({ §break; 1; });", "not-supported", "'break' out of a statement expression"),
        ("while (n) n = ({ §continue; 1; });", "not-supported", "'continue' out of a statement expression"),
        ("out: n = ({ §goto out; 1; });", "not-supported", "'goto' in a statement expression"),
        ("n = ({ §in: n = 1; n; });", "not-supported", "a label in a statement expression"),
        ("switch (n) { case 1: n = ({ §case 2: n; n; }); }", "not-supported", "'case' of a switch around"),
        ("n = §({ int t = 1; });", "", ""),
        ("n = ({ §nosuch; });", "undeclared-identifier", ""),
        ("§({ n; }) = 1;", "", ""),
    ],
)
def test_what_is_refused(text: str, code: str, message: str) -> None:
    """One error each, at its place; what control does inside is fine."""
    source = HEAD + text + "\n}"
    _, diagnostics = analysed(source.replace(MARK, ""))
    (found,) = diagnostics.items
    assert found.severity.is_error and message in found.message and (not code or found.code == code), found
    if code:
        assert found.span is not None and found.span.column == text.index(MARK) + 1
    good(HEAD + "n = ({ while (n) { if (n == 2) break; else continue; } switch (n) { case 1: n = 2; break; } n; });\n}")


def test_outside_of_functions() -> None:
    _, diagnostics = analysed("constant int k = ({ 1; });\nconstant int l = 0 ?: 4;")
    assert [d.code for d in diagnostics.items] == ["not-constant"]
    _, diagnostics = analysed("int a[({ 1; })];")
    assert diagnostics.has_errors


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("int t; p[0] = ({ int u = t; u; });", ["uninitialized"]),
        ("int t; p[0] = ({ t = 1; t; });", []),
        ("int t; p[0] = ({ if (n) t = 1; 2; }); p[1] = t;", ["sometimes-uninitialized"]),
        ("p[0] = ({ int unused; 1; });", ["unused-variable"]),
        ("({ 1; });", ["unused-value"]),
        ("({ p[0] = 1; });", []),
        ("p[0] = ({ n == 1; n; });", ["unused-comparison"]),
        ("p[0] = p[1] ?: n;", []),
    ],
)
def test_warnings(text: str, codes: list[str]) -> None:
    source = f"kernel void k(global int *p, int n) {{ {text} }}"
    assert [d.code for d in coopmat.compile(source, ["-Wall", "--no-validate"]).diagnostics] == codes


def test_dumps_show_them() -> None:
    module = coopmat.compile("void f(int n) { n = ({ int t = n; t; }) + (n ?: 1); }", ["--no-validate"])
    assert "StatementExpression" in module.ast and module.typed_ast.count("StatementExpression 'int'") == 2


def test_control_within_them_parts_work_items() -> None:
    source = """
typedef float M __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_A)));
kernel void k(global float *p) {
    int n = ({ int t = 0; if (get_local_id(0) == 1) t = 1; t; });
    if (n) { M m = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
             coop_mat_store(p, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8); }
}
"""
    found = coopmat.compile(source, ["--no-validate"]).diagnostics
    assert [d.code for d in found] == ["coop-mat-nonuniform"]
