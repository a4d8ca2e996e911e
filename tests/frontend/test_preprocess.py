"""The preprocessor: positions, macros, conditions, includes, limits, and its text form."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

import coopmat
from coopmat.diagnostics import Diagnostics, TooManyErrors, render_text
from coopmat.frontend.preprocess import PreprocessOptions, TokenStream, preprocess
from coopmat.frontend.tokens import scanned


def run(source: str | bytes, name: str = "m.cl", *, limit: int = 0, **options: Any) -> tuple[TokenStream, Diagnostics]:
    diagnostics = Diagnostics(error_limit=limit)
    stream = preprocess(source, name, PreprocessOptions(**options), diagnostics)
    return stream, diagnostics


def texts(source: str, **options: Any) -> list[str]:
    stream, diagnostics = run(source, **options)
    assert not diagnostics.items, render_text(diagnostics.items, diagnostics.sources)
    return [token.value for token in stream.tokens]


def codes(diagnostics: Diagnostics) -> list[str]:
    return [item.code for item in diagnostics.items]


# --- positions ---

SPELLINGS = r"""
a foo x1 _y 0 10ull 0x1.8p3f 1.0h 1e-3f .5 1. 'c' '\n' "s" "a\"b" -> ++ -- << >> <<= >>= ^= ^ ... . += == != <= && ||
& | ~ ! ? : ; , ( ) [ ] { } * / % < > =
"""
WORDS = st.sampled_from(SPELLINGS.split())
BLANKS = st.sampled_from([" ", "\t", "  ", "\n", "\r\n", " // note\n", " /* a */ ", "/* a\n * b */", "\f", " \\\n "])


@given(st.lists(st.tuples(WORDS, BLANKS), max_size=30))
@settings(max_examples=150)
def test_every_token_lies_where_it_is_written(parts: list[tuple[str, str]]) -> None:
    # A slash before a comment would make another comment of the two.
    assume(not any(word == "/" and blank.startswith("/") for word, blank in parts))
    source = "".join(word + blank for word, blank in parts)
    expected, at = [], 0
    for word, blank in parts:
        before = source[:at]
        expected.append((word, before.count("\n") + 1, at - before.rfind("\n")))
        at += len(word) + len(blank)
    stream, diagnostics = run(source)
    assert not diagnostics.items
    found = [(token.value, token.span.line, token.span.column) for token in stream.tokens if token.span]
    assert found == expected
    for token in stream.tokens:
        assert token.span is not None
        assert (token.span.end_line, token.span.end_column) == (
            token.span.line,
            token.span.column + len(token.value),
        )


def test_a_spliced_token_ends_on_a_later_line() -> None:
    stream, _ = run('ab\\\ncd "x\\\r\ny" z')
    spans = [(t.value, t.span.line, t.span.column, t.span.end_line, t.span.end_column) for t in stream.tokens if t.span]
    assert spans == [("abcd", 1, 1, 2, 3), ('"xy"', 2, 4, 3, 3), ("z", 3, 4, 3, 5)]


def test_macro_tokens_point_at_the_use_and_arguments_at_themselves() -> None:
    stream, _ = run("#define ADD(x, y) (x + y)\n  ADD(a, b)\n")
    spans = [(t.value, t.span.line, t.span.column, t.span.end_column) for t in stream.tokens if t.span]
    use = (2, 3, 6)
    assert spans == [("(", *use), ("a", 2, 7, 8), ("+", *use), ("b", 2, 10, 11), (")", *use)]


def test_line_directives_move_what_follows() -> None:
    stream, diagnostics = run('a\n#line 100 "other.cl"\nb\n# 7\nc @\n')
    places = [(t.value, t.span.file, t.span.line) for t in stream.tokens if t.span]
    assert places == [("a", "m.cl", 1), ("b", "other.cl", 100), ("c", "other.cl", 7)]
    assert render_text(diagnostics.items, diagnostics.sources) == (
        "other.cl:7:3: error: unexpected character '@' [unexpected-character]\nc @\n  ^\n"
    )


# --- macros (the examples of C99, 6.10.3.5, and what is easily got wrong) ---


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("#define EMPTY\nEMPTY a EMPTY", "a"),
        ("#define F(a) a*G\n#define G(a) F(a)\nF(2)(9)", "2 * 9 * G"),
        ("#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\nf(y+1) + f(f(z))",
         "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z ) ) ) )"),
        ("#define g f\n#define f(a) [a]\ng(x+(3,4)-w) g", "[ x + ( 3 , 4 ) - w ] f"),
        ("#define p() int\n#define q(x) x\n#define r(x,y) x ## y\n"
         "p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };",
         "int i [ ] = { 1 , 23 , 4 , 5 , } ;"),
        ('#define str(s) # s\n#define xstr(s) str(s)\n#define N 2\nstr(strncmp("a\\0d", \'\\4\') ) xstr(N) str(a  b)',
         '"strncmp(\\"a\\\\0d\\", \'\\\\4\')" "2" "a b"'),
        ("#define t(x,y,z) x ## y ## z\nt(1,2,3) t(,4,5) t(6,,7) t(8,9,) t(10,,)  t(,,11)", "123 45 67 89 10 11"),
        ("#define D(...) f(0, ##__VA_ARGS__)\nD(a, b) D()", "f ( 0 , a , b ) f ( 0 , )"),
        ("#define E(a, ...) f(a, ##__VA_ARGS__)\nE(1, 2) E(1)", "f ( 1 , 2 ) f ( 1 )"),
        ("#define V(a, ...) a(__VA_ARGS__)\nV(f, 1, (2, 3))", "f ( 1 , ( 2 , 3 ) )"),
        ("#define K(x) a b##x c\nK() K(1)", "a b c a b1 c"),
        ("#define L __LINE__\n\nL __LINE__ L", "3 3 3"),
        ("#define f(x) <x>\nf\n(1) f", "< 1 > f"),
        ("#define f(x) <x>\nf(1\n#if 1\n+ 2\n#else\n+ 3\n#endif\n)", "< 1 + 2 >"),
        ("__COUNTER__ __COUNTER__ __FILE__", '0 1 "m.cl"'),
        ("#define x x y\nx", "x y"),
        ("a ^= b; 1..2 %: <: :>", "a ^= b ; 1..2 # [ ]"),
    ],
)  # fmt: skip
def test_expansion(source: str, expected: str) -> None:
    assert " ".join(texts(source)) == expected


@pytest.mark.parametrize(
    ("source", "code", "line", "column"),
    [
        ("#define F(x) x\nF(1, 2)", "invalid-macro-use", 2, 1),
        ("#define F(x) x\nF(1", "unterminated-invocation", 2, 1),
        ("#define F(x x\n", "invalid-macro", 1, 13),
        ("#define F(x, x) x\n", "invalid-macro", 1, 14),
        ("#define 3 x", "invalid-macro-name", 1, 9),
        ("#define", "invalid-macro-name", 1, 2),
        ("#define defined 1", "invalid-macro-name", 1, 9),
        ("#define A ## b", "invalid-macro", 1, 11),
        ("#undef", "invalid-macro-name", 1, 2),
        ("#define A 1\n#define A 2", "macro-redefined", 2, 9),
        ("  #frobnicate", "invalid-directive", 1, 4),
        (" #error no  way", "error-directive", 1, 3),
        ("#warning careful", "#warnings", 1, 2),
        ("#if 1\nx", "unterminated-conditional", 1, 2),
        ("#endif", "unmatched-conditional", 1, 2),
        ("#if 0\n#else\n#elif 1\n#endif", "unmatched-conditional", 3, 2),
        ("#if\n#endif", "invalid-condition", 1, 2),
        ("#if 1 / 0\n#endif", "invalid-condition", 1, 7),
        ("#if f(2)\n#endif", "invalid-condition", 1, 5),
        ("#if (1\n#endif", "invalid-condition", 1, 6),
        ("#if 1 2\n#endif", "invalid-condition", 1, 7),
        ('#if "a"\n#endif', "invalid-condition", 1, 5),
        ("#if defined(\n#endif", "invalid-condition", 1, 5),
        ("#include nothing", "invalid-include", 1, 10),
        ('#include "absent.h"', "include-not-found", 1, 10),
        ("#line x", "invalid-line", 1, 7),
        ('x "abc', "unterminated-literal", 1, 3),
        ("x 'abc", "unterminated-literal", 1, 3),
        ("x /* abc", "unterminated-comment", 1, 3),
        ("ab €", "unexpected-character", 1, 4),
        ("_Pragma(3)", "invalid-pragma", 1, 1),
    ],
)
def test_one_finding(source: str, code: str, line: int, column: int) -> None:
    _, diagnostics = run(source)
    found = [(item.code, item.span.line, item.span.column) for item in diagnostics.items if item.span]
    assert found == [(code, line, column)]


def test_text_that_is_left_out_may_be_anything() -> None:
    assert texts("#if 0\n it's @ not C #1 \n#bogus\n#else\nx\n#endif") == ["x"]


# None leaves a comment open, or ends the group.
SKIPPED = (
    *("a ", '"s', "don't", "/* c\n */", "// l\n", "// l \\\n more\n", "\\\n", "\n", "\n#define X\n", "\n#error it's\n"),
    *("\n#if 1\n#else\n#endif\n", "\n/* c */ # /* d\n */ ifdef X\n%:elif\n#\\\nendif\n", "\n#\n", "\xe9", "\t"),
)


@settings(max_examples=300)
@given(st.lists(st.sampled_from(SKIPPED)), st.booleans())
def test_text_that_is_skipped_moves_nothing(parts: list[str], spliced: bool) -> None:
    skipped = "".join(parts)
    source = f"#if 0\n{skipped}\n#endif\n {'y' if not spliced else chr(92) + chr(10) + 'y'}"
    stream, diagnostics = run(source)
    assert not diagnostics.items
    (token,) = stream.tokens
    assert token.span.line == source.count("\n") + 1 and token.span.column == (1 if spliced else 2)


def test_redefinition_to_the_same_is_silent() -> None:
    assert texts("#define A 1 + 2\n#define A 1  + 2\nA") == ["1", "+", "2"]


# --- conditions ---

_OPERATORS = ["+", "-", "*", "&", "|", "^", "==", "!=", "<", ">", "<=", ">=", "&&", "||"]


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


@st.composite
def conditions(draw: st.DrawFn, depth: int = 4) -> tuple[str, int]:
    """A fully parenthesised signed expression and what it is worth."""
    if not depth or draw(st.booleans()):
        value = draw(st.integers(0, 2**63 - 1))
        return draw(st.sampled_from([str(value), hex(value)])), value
    if draw(st.booleans()):
        op = draw(st.sampled_from(["-", "~", "!", "+"]))
        text, value = draw(conditions(depth=depth - 1))
        return f"({op} {text})", {"-": _wrap(-value), "~": ~value, "!": int(not value), "+": value}[op]
    op = draw(st.sampled_from(_OPERATORS))
    (left, a), (right, b) = draw(conditions(depth=depth - 1)), draw(conditions(depth=depth - 1))
    python = {"&&": "bool(a) and bool(b)", "||": "bool(a) or bool(b)"}.get(op, f"a {op} b")
    return f"({left} {op} {right})", _wrap(int(eval(python, {"a": a, "b": b})))


@given(conditions())
@settings(max_examples=150)
def test_conditions_are_64_bit_arithmetic(case: tuple[str, int]) -> None:
    text, value = case
    literal = f"(-{-value - 1} - 1)" if value < 0 else str(value)
    assert texts(f"#if {text} == {literal}\nyes\n#else\nno\n#endif") == ["yes"]


@pytest.mark.parametrize(
    "text",
    [
        "-7 / 2 == -3 && -7 % 2 == -1",
        "2 + 3 * 4 == 14 && 1 << 2 + 1 == 8",
        "-1 > 0u",
        "(0 ? 1 / 0 : 2) == 2",
        "0 && 1 / 0 || 1",
        "(1 ? 0 ? 3 : 4 : 5) == 4",
        "'a' == 97 && '\\n' == 10 && '\\x41' == 65",
        "1 << 100000000000 == 0",
        "undefined_name == 0",
        "defined X && defined(X) && !defined Y",
        "0x7fffffffffffffff + 1 < 0",
        "18446744073709551615u == -1",
        "X == 5",
        "defined(__has_extension) && __has_extension(matrix_types) && __has_feature(__matrix_types__)",
        "!__has_extension(nonsense) && !__has_builtin(nonsense) && HAS(matrix_types) && !HAS(nonsense)",
    ],
)
def test_conditions(text: str) -> None:
    assert texts(f"#define X 5\n#define HAS(x) __has_extension(x)\n#if {text}\nyes\n#endif") == ["yes"]


# --- predefined macros and options ---


def test_predefined_macros() -> None:
    assert texts("__OPENCL_C_VERSION__ CL_VERSION_1_2 INT_MAX CLK_LOCAL_MEM_FENCE cl_khr_fp16") == [
        "300", "120", "2147483647", "1u", "1",
    ]  # fmt: skip
    assert texts("__OPENCL_C_VERSION__ CL_VERSION_3_1 __opencl_c_subgroups", cl_std="CL3.1") == ["310", "310", "1"]
    assert texts("__OPENCL_C_VERSION__ __FAST_RELAXED_MATH__", cl_std="CL1.2") == ["120", "__FAST_RELAXED_MATH__"]
    assert texts("__FAST_RELAXED_MATH__", fast_relaxed_math=True) == ["1"]


def test_limits_have_the_values_of_their_types() -> None:
    import numpy as np

    value = {name: float.fromhex(texts(name)[0].rstrip("f")) for name in ("FLT_MAX", "FLT_EPSILON", "DBL_MAX")}
    assert value["FLT_MAX"] == np.finfo(np.float32).max and value["FLT_EPSILON"] == np.finfo(np.float32).eps
    assert value["DBL_MAX"] == np.finfo(np.float64).max
    assert float.fromhex(texts("HALF_MAX")[0].rstrip("h")) == np.finfo(np.float16).max
    assert float(texts("M_PI")[0]) == np.pi


def test_turning_an_extension_off_takes_its_macros_away() -> None:
    names = "cl_khr_cooperative_matrix __opencl_c_ext_cooperative_matrix"
    assert texts(names) == ["1", "1"]
    assert texts(names, extensions={"cl_khr_cooperative_matrix": False}) == names.split()
    assert texts("cl_khr_fp64 M_PI M_PI_F", extensions={"all": False})[:2] == ["cl_khr_fp64", "M_PI"]
    assert texts("cl_khr_fp64 cl_khr_fp16", extensions={"all": False, "cl_khr_fp16": True}) == ["cl_khr_fp64", "1"]


def test_defines_and_undefines() -> None:
    assert texts("A B C(4) NULL", defines=(("A", "1"), ("B", ""), ("C(x)", "x+x")), undefines=("NULL",)) == [
        "1", "4", "+", "4", "NULL",
    ]  # fmt: skip
    _, diagnostics = run("x", defines=(("3bad", "1"), ("F(x", "1"), ("", "")))
    assert codes(diagnostics) == ["invalid-macro-name"] * 3


# --- pragmas ---


def test_pragmas_stay_in_their_place() -> None:
    stream, _ = run(
        'a\n#pragma  OPENCL   EXTENSION x : enable\nb _Pragma("unroll  4") c\n#define N 8\n#pragma unroll N\n'
    )
    found = [(token.type == "PRAGMA", token.value) for token in stream.tokens]
    assert found == [
        (False, "a"), (True, "OPENCL EXTENSION x : enable"), (False, "b"), (True, "unroll 4"), (False, "c"),
        (True, "unroll 8"),
    ]  # fmt: skip


# --- includes ---


def test_includes_are_found_beside_the_file_then_under_the_directories(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "inc").mkdir()
    (tmp_path / "sub" / "a.h").write_text('#pragma once\nfrom_sub\n#include "b.h"\n')
    (tmp_path / "inc" / "a.h").write_text("from_inc\n")
    (tmp_path / "inc" / "b.h").write_text("b __FILE__\n")
    main = str(tmp_path / "main.cl")
    lines = ['"sub/a.h"', "<a.h>", "B", '"sub/a.h"', '"mem.h"']
    source = "#define B <b.h>\n" + "".join(f"#include {line}\n" for line in lines) + "__FILE__"
    stream, diagnostics = run(
        source, main, include_dirs=(str(tmp_path / "inc"),), virtual_files={"mem.h": "from_memory"}
    )
    assert not diagnostics.items
    b = f'"{tmp_path}/inc/b.h"'
    assert [t.value for t in stream.tokens] == ["from_sub", "b", b, "from_inc", "b", b, "from_memory", f'"{main}"']
    read = [Path(name).relative_to(tmp_path).as_posix() for name in stream.dependencies]
    assert read == ["main.cl", "sub/a.h", "inc/b.h", "inc/a.h"]


def test_once_is_for_a_file_whatever_its_name(tmp_path: Path) -> None:
    """Symbolic and hard links to a file are the file; a copy is another one."""
    text = '#pragma once\nonce\n#include "loop/a.h"\n'
    (tmp_path / "a.h").write_text(text)
    (tmp_path / "copy.h").write_text(text)
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "hard.h").hardlink_to(tmp_path / "a.h")
    names = ("a.h", "loop/a.h", "hard.h", "copy.h", "loop/loop/copy.h")
    stream, diagnostics = run("".join(f'#include "{name}"\n' for name in names), str(tmp_path / "m.cl"))
    assert not diagnostics.items
    assert [t.value for t in stream.tokens] == ["once", "once"]


def test_what_cannot_be_included(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "bad.h").write_bytes(b"ok\n  \xff\n")
    source = '#include "d"\n#include "bad.h"\nx'
    stream, diagnostics = run(source, str(tmp_path / "m.cl"))
    assert codes(diagnostics) == ["include-unreadable", "invalid-utf8"]
    assert diagnostics.items[1].span is not None
    assert (diagnostics.items[1].span.line, diagnostics.items[1].span.column) == (2, 3)
    assert [t.value for t in stream.tokens] == ["x"] and not stream.complete


@pytest.mark.parametrize("times", [1, 2, 3])
def test_an_include_cycle_ends_soon(times: int) -> None:
    text = '#include "me.h"\n' * times
    start = time.process_time()
    stream, diagnostics = run(text, virtual_files={"me.h": text})
    assert codes(diagnostics) == ["include-too-deep"] and not stream.complete
    assert time.process_time() - start < 2


def test_a_guarded_cycle_is_fine() -> None:
    guarded = '#ifndef H\n#define H\n#include "h"\ninside\n#endif\n'
    assert texts('#include "h"\n#include "h"', virtual_files={"h": guarded}) == ["inside"]


# --- bad input ---


@pytest.mark.parametrize(
    ("source", "code", "line", "column"),
    [
        (b"int x;\n  \xc3\x28", "invalid-utf8", 2, 3),
        ("ä".encode() + b"\xff", "invalid-utf8", 1, 2),
        ("a\udcff", "invalid-utf8", 1, 2),
        (b"\x7fELF\x02\x00\x01", "binary-input", 1, 6),
        ("x;\n" + "a" * 65_536, "line-too-long", 2, 1),
    ],
)
def test_what_is_no_source_text(source: str | bytes, code: str, line: int, column: int) -> None:
    stream, diagnostics = run(source)
    found = [(item.code, item.span.line, item.span.column) for item in diagnostics.items if item.span]
    assert found == [(code, line, column)]
    assert not stream.tokens and not stream.complete


def test_what_comes_out_of_a_macro_counts() -> None:
    # 45,000 tokens, made over four levels.
    levels = {"X": "x " * 5, "A": "X " * 10, "B": "A " * 30, "C": "B " * 30}
    assert len(texts("".join(f"#define {name} {body}\n" for name, body in levels.items()) + "C")) == 45_000


def test_the_longest_line_is_allowed() -> None:
    assert texts("a" * 65_535) == ["a" * 65_535]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("#define A0 x x x x\n" + "".join(f"#define A{i} A{i-1} A{i-1} A{i-1} A{i-1}\n" for i in range(1, 30)) + "A29",
         "expansion-too-large"),
        ("#define F(x) x\n" + "F(" * 5000 + ")" * 5000, "expansion-too-deep"),
        ("#define F(x) x\n" + "F(" * 5000, "unterminated-invocation"),
    ],
)  # fmt: skip
def test_macro_bombs_end_soon(source: str, code: str) -> None:
    start = time.process_time()
    _, diagnostics = run(source)
    assert codes(diagnostics) == [code]
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("macro", "use", "expected"),
    [("F( A", "A )", "A"), ("F( A", "A b )", "A b"), ("G( A ,", "A b ) A )", "A b A"), ("F( F( A )", "A )", "A")],
)
def test_a_macro_is_not_replaced_in_arguments_that_begin_in_its_replacement(
    macro: str, use: str, expected: str
) -> None:
    """The arguments end behind the replacement, where the macro may be replaced again (found by the next test)."""
    assert texts(f"#define F(x) x\n#define G(x, y) x y\n#define A {macro}\n{use}") == expected.split()


def test_a_long_chain_of_macros_is_no_problem() -> None:
    assert texts("#define A0 x\n" + "".join(f"#define A{i} A{i - 1}\n" for i in range(1, 20_000)) + "A19999") == ["x"]


# --- against another preprocessor

NAMES = ("A", "B", "F", "G", "H")
PIECES = st.sampled_from(
    [*"ABFGH", "x", "y", "1", "+", "(", ")", ",", "F(", "G(1,", "H()", "F (2)", "#x", "x##y", "## 1", "-", "B A"]
)
MACROS = st.sampled_from(["A", "B", "F(x)", "G(x, y)", "H()", "F(x, ...)", "G(...)"])
PROGRAMS = st.lists(st.tuples(MACROS, st.lists(PIECES, max_size=6)), min_size=1, max_size=5)
USES = st.lists(st.lists(PIECES.filter(lambda piece: "#" not in piece), min_size=1, max_size=8), min_size=1, max_size=4)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc to compare with")
@given(PROGRAMS, USES)
@settings(max_examples=400, suppress_health_check=list(HealthCheck))
def test_macros_expand_as_by_gcc(program: list[tuple[str, list[str]]], uses: list[list[str]]) -> None:
    macros = {head.partition("(")[0]: (head, body) for head, body in program}
    lines = [f"#define {head} {' '.join(body)}" for head, body in macros.values()]
    source = "\n".join([*lines, *(" ".join(use) for use in uses), ""])
    command = ["gcc", "-E", "-P", "-undef", "-std=c99", "-x", "c", "-"]
    theirs = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    assume(theirs.returncode == 0 and not theirs.stderr)
    stream, diagnostics = run(source)
    assert codes(diagnostics) == []
    assert [token.value for token in stream.tokens] == [token.value for token in scanned(theirs.stdout)], source


SOUP_WORDS = r"""
#define #undef #if #ifdef #ifndef #elif #else #endif #include #line #pragma # ## ( ) , ... A B F G x 1 0 " ' \
defined __VA_ARGS__ _Pragma "s" <a> /* */ // @ + - F(x) F( __LINE__ __FILE__ ä
"""
SOUP = st.lists(st.sampled_from([*SOUP_WORDS.split(), "\n", "\n", "\\\n"]), max_size=60).map(" ".join)


@given(SOUP, st.booleans())
@settings(max_examples=300)
def test_whatever_the_input_only_diagnostics_come_out(source: str, tight: bool) -> None:
    if tight:
        source = source.replace(" ", "")
    stream, _ = run(source)
    for token in stream.tokens:
        assert token.span is not None and token.span.line >= 1 and token.span.column >= 1


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_bytes_too(source: bytes) -> None:
    stream, diagnostics = run(source)
    lines = len(source.decode(errors="replace").splitlines()) + 1
    places = [token.span.line for token in stream.tokens]
    places += [item.span.line for item in diagnostics.items if item.span is not None]
    assert all(1 <= line <= lines for line in places)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    run("#error x\n#warning y\n#include <z>\n#if\n#endif\n#define F(\nF(1)\n#bad")
    assert capfd.readouterr() == ("", "")


def test_the_error_limit_is_the_collectors() -> None:
    with pytest.raises(TooManyErrors):
        run("@ " * 100, limit=5)


# --- the text form ---


@given(st.lists(st.tuples(WORDS, st.sampled_from(["", " ", "\n", "\n\n\n", "\n" * 12])), max_size=30))
@settings(max_examples=150)
def test_text_comes_back_as_the_same_tokens(parts: list[tuple[str, str]]) -> None:
    source = "#define J(a, b) a b\n#define M - + < =\nJ(-,-) M M\n" + "".join(w + b for w, b in parts)
    first, diagnostics = run(source)
    if diagnostics.items:
        return
    again, diagnostics = run(first.to_text(), "m.i")
    assert not diagnostics.items
    assert [t.value for t in again.tokens] == [t.value for t in first.tokens]
    for old, new in zip(first.tokens, again.tokens, strict=True):
        assert old.span is not None and new.span is not None
        assert (old.span.file, old.span.line) == (new.span.file, new.span.line)


def test_text_form() -> None:
    stream, _ = run('int a;\n#pragma unroll 2\n  b\n#include "h"\nc', virtual_files={"h": "x y"})
    assert stream.to_text() == (
        '# 1 "m.cl"\nint a;\n#pragma unroll 2\n  b\n# 1 "h"\nx y\n# 5 "m.cl"\nc\n'
    )  # fmt: skip


# --- speed (bounds are some ten times what a desktop takes) ---


def test_time_is_linear() -> None:
    line = "  for (int i = 0; i < n; ++i) { a[i] = SQ(a[i]) * 2.0f + (float)i; } // note\n"

    def seconds(lines: int) -> float:
        start = time.process_time()
        run("#define SQ(x) ((x)*(x))\n" + line * lines)
        return time.process_time() - start

    seconds(10)
    assert min(seconds(300) for _ in range(3)) < 0.5
    assert seconds(20_000) < 40


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ("/* a /* b /* c */\n", [(1, 6), (1, 11)]),
        ("/* a /*/\n", []),
        ("#if 0\n/* a /* b */\n#endif\n/* a /* b */\n", [(4, 6)]),
        ("#if 1\n/* a /* b */\n#else\n/* a /* b */\n#endif\n", [(2, 6)]),
        ("#line 100\n#if 0\n/* a /* b */\n#endif\n/* a /* b */\n", [(103, 6)]),
        ("// a \\\n// b\n", []),
        ("// a \\\n b\n", [(1, 6)]),
        ("// a \\\n // b \\\n c\n", [(2, 7)]),
        ('constant char s[] = "/* // \\\n";\n', []),
    ],
)
def test_comments_that_end_elsewhere(source: str, places: list[tuple[int, int]]) -> None:
    """As clang tells of them: not in text that does not count, and not where the next line is a comment anyway."""
    module = coopmat.compile(source, ["-Wall"])
    found = [d for d in module.diagnostics if d.code.endswith("comment")]
    assert [(d.span.line, d.span.column) for d in found if d.span] == places
    on = [d for d in coopmat.compile(source).diagnostics if d.code.endswith("comment")]
    assert [d.code for d in on] == [d.code for d in found if d.code == "comment"]


@pytest.mark.parametrize(
    ("source", "text", "columns"),
    [
        ("int a??(2??) = ??< 1, 2 ??>;", "int a[2] = { 1, 2 };", [6, 10, 16, 25]),
        ("??=define Q(x) #x\nQ(??!) Q(a??'??-)", '"|" "a^~"', [1, 3, 11, 14]),
        ('"a??/n??/"" b', '"a\\n\\"" b', [3, 7]),
        ("int a??/\nb; x", "int ab; x", [6]),
        ("/* ??( */ x // ??) ??/\n y", "x", []),
        ("#if 0\n??(\n#endif\nx ??x ????", "x ? ? x ? ? ? ?", []),
    ],
)
def test_trigraphs(source: str, text: str, columns: list[int]) -> None:
    """Trigraphs are replaced, as clang does in OpenCL C, with a warning except in comments and in skipped text."""
    diagnostics = Diagnostics()
    stream = preprocess(source, "t.cl", PreprocessOptions(), diagnostics)
    assert [token.value for token in stream.tokens] == [token.value for token in scanned(text)]
    assert [(item.code, item.span.column) for item in diagnostics.items if item.span] == [
        ("trigraphs", column) for column in columns
    ]
    lines = source.split("\n")
    for token in stream.tokens:
        if token.span.line == token.span.end_line and "#" not in source:
            spelling = lines[token.span.line - 1][token.span.column - 1 : token.span.end_column - 1]
            assert len(spelling) >= len(token.value), token


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("int größe λ数 ℂ;", ["int", "größe", "λ数", "ℂ"]),
        ("\\u00e9t\\U000000E9 été", ["été", "été"]),
        ("$a b$1 c", ["$a", "b$1", "c"]),
        ("#define é(x) x\né(1) a##b", ["1", "a", "##", "b"]),
        ("#define J(a, b) a##b\nJ(é, 1) J(x, ß)", ["é1", "xß"]),
    ],
)
def test_identifiers_beyond_ascii(source: str, names: list[str]) -> None:
    stream, diagnostics = run(source)
    assert [t.value for t in stream.tokens if t.value != ";"] == names
    assert not diagnostics.items


@pytest.mark.parametrize(
    ("source", "character", "column"), [("a€b;", "€", 1), ("x ²;", "²", 3), ("\\u0041 c", "\ufffd", 1), ("😀", "😀", 1)]
)
def test_characters_of_no_identifier(source: str, character: str, column: int) -> None:
    _, diagnostics = run(source)
    (item,) = diagnostics.items
    assert item.message == f"unexpected character '{character}'" and item.span and item.span.column == column
