"""Bad input from outside: diagnostics and exit 1, soon, with no traceback and no output file."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

SECONDS = 5.0
MEGABYTE = 1 << 20
DEEP = 10_000


def refused(coopmat, source: bytes | None, *codes: str, name: str = "bad.cl", at_least: bool = False) -> str:
    """Compiles `source` and gives what was said; `codes` are those of the errors, in order."""
    if source is not None:
        (coopmat.place / name).write_bytes(source)
    before = {path.name for path in coopmat.place.iterdir()}
    result = coopmat("compile", name)
    assert result.status == 1, result.err[-2000:]
    assert result.seconds < SECONDS
    assert "Traceback" not in result.err and "internal error" not in result.err
    assert result.out == b""
    assert {path.name for path in coopmat.place.iterdir()} == before
    assert len(result.err) < 40_000, len(result.err)
    found = re.findall(r"^(?:\S.*: )(?:fatal )?error: .*\[([\w-]+)\]$", result.err, re.MULTILINE)
    if at_least:
        assert set(codes) <= set(found), result.err
    else:
        assert found == list(codes), result.err
    return result.err


# --- mistakes ---


def test_several_syntax_errors_with_carets(coopmat):
    (coopmat.place / "bad.cl").write_text(
        "kernel void f(global int *a) {\n    a[0] = 1\n    a[1] = * 2 +;\n    for (int i = 0; i < 2 i++) ;\n}\n"
    )
    result = coopmat("compile", "bad.cl")
    assert result.status == 1
    lines = result.err.splitlines()
    places = [re.match(r"bad\.cl:(\d+):(\d+): error: ", line) for line in lines]
    assert sorted({int(match[1]) for match in places if match}) == [2, 3, 4]
    assert sum("^" in line for line in lines) >= 3


def test_unknown_names(coopmat):
    text = refused(
        coopmat,
        b"kernel void f(global float *out) {\n    out[get_globl_id(0)] = nosuch + sin(other);\n    flaot x = 1;\n}\n",
        "undeclared-identifier",
        "undeclared-identifier",
        "undeclared-identifier",
        "unknown-type",  # found by the parser, and told where it stands
    )
    assert "bad.cl:2:9: error: no function 'get_globl_id' is declared" in text
    assert "did you mean 'get_global_id'?" in text


def test_type_errors(coopmat):
    refused(
        coopmat,
        b"struct S { int a; };\nkernel void f(global int *p, struct S s, float4 v) {\n"
        b"    p = 1.0f;\n    s + 1;\n    v[4] = 1;\n    p[0] = v;\n    s.b = 1;\n    if (s) ;\n}\n",
        "incompatible-types",
        "invalid-operands",
        "vector-subscript",
        "incompatible-types",
        "no-member",
        "invalid-condition",
    )


def test_wrong_matrix_uses(coopmat):
    refused(
        coopmat,
        b"#define T(t, r, c, use) t __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, r, c, use)))\n"
        b"typedef T(half, 16, 16, CLK_COOPERATIVE_MATRIX_A) A;\n"
        b"typedef T(float, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR) C;\n"
        b"C outside;\n"
        b"kernel void f(global float *p, C parameter) {\n"
        b"    A a = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);\n"
        b"    C c = coop_mat_mulAdd(a, a, a);\n"
        b"    if (c == c) ;\n"
        b"    c = a;\n"
        b"    T(float, 0, 16, CLK_COOPERATIVE_MATRIX_A) none;\n"
        b"    coop_mat_store(p, 1, 0, 16);\n"
        b"}\n",
        "coop-mat-file-scope",
        "coop-mat-kernel-parameter",
        "coop-mat-pointee",
        "coop-mat-wrong-use",
        "coop-mat-wrong-use",
        "coop-mat-operator",
        "coop-mat-mismatch",
        "coop-mat-shape",
        "coop-mat-not-a-matrix",
    )


def test_many_errors_stop_at_the_limit(coopmat):
    text = refused(
        coopmat, b"".join(b"local int x%d;\n" % i for i in range(100)), *["address-space"] * 20, "error-limit"
    )
    assert "bad.cl:21" not in text


# --- files that are no sources ---


@pytest.mark.parametrize(
    "source", [b"", b"\n\n", b"// nothing\n", b"#define X 1\n", b"#if 0\nint x;\n#endif\n", b"int;\n;\n"], ids=repr
)
def test_a_file_without_functions(coopmat, source):
    (coopmat.place / "empty.cl").write_bytes(source)
    result = coopmat("compile", "empty.cl")
    assert result.status == 0 and "error" not in result.err
    assert (coopmat.place / "empty.spv").stat().st_size


def test_a_binary_file(coopmat):
    refused(coopmat, bytes(range(256)) * 64, at_least=True)
    refused(coopmat, b"\x7fELF\x02\x01\x01" + bytes(1000), at_least=True)
    refused(coopmat, b"\x03\x02#\x07" + bytes(range(200)), at_least=True)


@pytest.mark.parametrize(
    "source",
    [
        b"kernel void f(void) { int \xff\xfe = 1; }",
        b"// caf\xe9\nint x;",
        b"\xc3(\xa0\xa1",
        b'constant char *constant s = "\xed\xa0\x80";',
        "kernel void f(void) { }".encode("utf-16"),
        b"kernel void f(void) { \x00 }",
    ],
    ids=["identifier", "comment", "garbage", "surrogate", "utf-16", "nul"],
)
def test_invalid_utf8(coopmat, source):
    refused(coopmat, source, at_least=True)


def test_a_directory_and_a_missing_file(coopmat):
    (coopmat.place / "bad.cl").mkdir()
    refused(coopmat, None, at_least=True)
    refused(coopmat, None, name="nosuch.cl", at_least=True)


# --- inclusion and macros ---


def test_an_include_cycle(coopmat):
    (coopmat.place / "a.h").write_text('#include "b.h"\n')
    (coopmat.place / "b.h").write_text('#include "a.h"\n')
    assert "include" in refused(coopmat, b'#include "a.h"\n', at_least=True)
    refused(coopmat, b'#include "bad.cl"\n', at_least=True)


def test_a_missing_include(coopmat):
    text = refused(coopmat, b'#include "nosuch.h"\n#include <neither.h>\nkernel void f(void) { }\n', at_least=True)
    assert "nosuch.h" in text and "bad.cl:1:" in text


def test_an_included_directory(coopmat):
    (coopmat.place / "sub").mkdir()
    refused(coopmat, b'#include "sub"\n', at_least=True)


BOMBS = {
    "doubling": "#define A0 x x\n" + "".join(f"#define A{i} A{i - 1} A{i - 1}\n" for i in range(1, 64)) + "int A63;\n",
    "arguments": "#define F(x) x x x x\n" + "int " + "F(" * 40 + "y" + ")" * 40 + ";\n",
    "pasting": "#define P(a, b) a##b\n#define A0 aaaaaaaaaaaaaaaa\n"
    + "".join(f"#define A{i} A{i - 1} A{i - 1} A{i - 1} A{i - 1}\n" for i in range(1, 40))
    + "P(A39, A39)\nA39\n",
    "condition": "#define A0 (1+1)\n"
    + "".join(f"#define A{i} (A{i - 1}+A{i - 1})\n" for i in range(1, 64))
    + "#if A63\n#endif\n",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_macro_bombs(coopmat, bomb):
    refused(coopmat, BOMBS[bomb].encode(), at_least=True)


# --- size and depth ---

LONGEST = 65_000  # of what is accepted, or nearly
LONG_LINES: dict[str, Callable[[int], bytes]] = {
    "identifier": lambda n: b"local int " + b"a" * n + b";",
    "unknown name": lambda n: b"void f(void) { " + b"a" * n + b"(1); }",
    "member": lambda n: b"struct S { int x; }; void f(struct S s) { s." + b"a" * n + b"; }",
    "number": lambda n: b"constant int a = " + b"1" * n + b";",
    "string": lambda n: b'constant int a = "' + b"a" * n + b'";',
    "unfinished string": lambda n: b'constant int a = "' + b"a" * n,
    "unfinished comment": lambda n: b"/*" + b"a" * n,
    "characters": lambda n: b"'" + b"a" * n + b"'",
    "punctuation": lambda n: b"+" * n,
    "semicolons": lambda n: b"void f(void) { " + b";" * n + b" nosuch; }",
    "blanks": lambda n: b" " * n + b"nosuch",
    "directive": lambda n: b"#" + b"a" * n,
}


@pytest.mark.parametrize("kind", LONG_LINES)
def test_a_line_of_a_megabyte(coopmat, kind):
    refused(coopmat, LONG_LINES[kind](MEGABYTE), "line-too-long", at_least=True)


@pytest.mark.parametrize("kind", LONG_LINES)
def test_the_longest_lines(coopmat, kind):
    refused(coopmat, LONG_LINES[kind](LONGEST), at_least=True)


@pytest.mark.parametrize(
    "source",
    [
        b"kernel void f(void) { }  //" + b"a" * LONGEST,
        b"kernel void f(void) { " + b" " * LONGEST + b"}",
        b"kernel void f(global int *p) { int " + b"a" * LONGEST + b" = p[0]; }",
        b"kernel void f(global int *p) { p[0] = 1" + b"+1" * 20_000 + b"; }",
        b"kernel void f(global int *p) { int a = p[0]; p[0] = a" + b"+a" * 20_000 + b"; }",
        b"kernel void f(global int *p) { p[0] = 1" + b", 1" * 20_000 + b"; }",
        b"kernel void f(global int *p, int n) { " + b"p[n] = n;\n" * 10_000 + b" }",
    ],
    ids=["comment", "blanks", "name", "constants", "sum", "commas", "statements"],
)
def test_what_is_long_but_right_compiles(coopmat, source):
    (coopmat.place / "long.cl").write_bytes(source)
    result = coopmat("compile", "-fsyntax-only", "-Wno-unused-value", "long.cl")
    assert (result.status, result.out, result.err) == (0, b"", "")


DEPTHS = {
    "parentheses": b"constant int a = " + b"(" * DEEP + b"1" + b")" * DEEP + b";",
    "open parentheses": b"constant int a = " + b"(" * DEEP,
    "closed parentheses": b"constant int a = " + b")" * DEEP,
    "brackets": b"void f(int *a) { " + b"a[" * DEEP + b"0" + b"]" * DEEP + b"; }",
    "open brackets": b"[" * DEEP,
    "blocks": b"void f(void) " + b"{" * DEEP + b"}" * DEEP,
    "open blocks": b"void f(void) " + b"{" * DEEP,
    "initialisers": b"constant int a = " + b"{" * DEEP + b"1" + b"}" * DEEP + b";",
    "unary minus": b"constant int a = " + b"- " * DEEP + b"1;",
    "not": b"constant int a = " + b"!" * DEEP + b"1;",
    "dereference": b"void f(int a) { " + b"*" * DEEP + b"a; }",
    "casts": b"constant int a = " + b"(int)" * DEEP + b"1;",
    "declarators": b"int " + b"(" * DEEP + b"x" + b")" * DEEP + b";",
    "pointers": b"void f(int " + b"*" * DEEP + b"p) { nosuch; }",
    "arrays": b"void f(void) { int a" + b"[1]" * DEEP + b"; nosuch; }",
    "calls": b"int f(int x) { return " + b"f(" * DEEP + b"1" + b")" * DEEP + b"; }",
    "ternaries": b"int f(int x) { return " + b"x ? 1 :\n" * DEEP + b"0; }",
    "ternaries in the middle": b"int f(int x) { return " + b"x ?\n" * DEEP + b"1" + b": 0\n" * DEEP + b"; }",
    "assignments": b"void f(int x) { " + b"x = " * DEEP + b"1; }",
    "loops": b"void f(int x) { " + b"while (x)\n" * DEEP + b"; }",
    "labels": b"void f(int x) { " + b"".join(b"l%d:\n" % i for i in range(DEEP)) + b"; }",
    "structs": b"struct {\n" * DEEP + b"int a; " + b"} b;\n" * DEEP,
    "sizeof": b"constant int a = " + b"sizeof\n" * DEEP + b"1;",
    "parameters": b"void f(" + b"int (" * DEEP + b")" * DEEP + b");",
    "conditions": b"#if " + b"(" * DEEP + b"1" + b")" * DEEP + b"\n#endif\n#error done\n",
    "nested conditions": b"#if 1\n" * DEEP + b"int x\n" + b"#endif\n" * DEEP,
    "members": b"struct S { int a; }; void f(struct S s) { s" + b".a" * DEEP + b"; }",
}


@pytest.mark.parametrize("kind", DEPTHS)
def test_ten_thousand_levels(coopmat, kind):
    text = refused(coopmat, DEPTHS[kind], at_least=True)
    assert "nest" in text or kind in NOT_DEEP, text


NOT_DEEP = ("closed parentheses", "open brackets", "nested conditions")


@pytest.mark.parametrize(
    "source",
    [
        b"kernel void f(global int *p) { int a = p[0]; p[0] = a" + b"+a" * 20_000 + b"; }",
        b"kernel void f(global int *p, int n) { " + b"else\n".join([b"if (n == 1) p[0] = 2; "] * 5_000) + b" }",
        b"kernel void f(global int *p, int n) { p[0] = " + b"n ? 1 :\n" * 3_000 + b"0; }",
    ],
    ids=["sum", "else-if", "ternaries"],
)
def test_long_chains_compile_or_are_refused(coopmat, source):
    (coopmat.place / "long.cl").write_bytes(source)
    result = coopmat("compile", "--no-validate", "--emit", "ll", "long.cl")
    assert result.seconds < 20
    assert result.status in (0, 1), result.err[-2000:]
    assert (result.err == "") == (result.status == 0) == (coopmat.place / "long.ll").exists()
    assert "Traceback" not in result.err and len(result.err) < 4000
