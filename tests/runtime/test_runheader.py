"""Run headers: what they say, and where they are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from coopmat.diagnostics import CompileError
from coopmat.runtime.data import make_array, make_scalar, sizes_of
from coopmat.runtime.runheader import Piece, parse_argument, parse_check, parse_header, parse_run

GEMM = """\
// A kernel.
// run: kernel=gemm_f16 global=(N/16*sg, M/16) local=(sg, 1) M=256 N=256 K=256 -DK=256
//      a=f16[M,K]:uniform(-1,1) b=f16[K,N]:uniform(-1,1)
//      c=f32[M, N + 16]:zeros alpha=f32:1.5 n=i32:K tmp=f32[64]
// check: c[:, :N] ~ a.astype(f32) @
//        b.astype(f32)   atol=1e-2 rtol=2*1e-3
// check: c[:, N:] == 0
// Not a part of it.
//   nor this

// run: kernel=other global=64
kernel void f() {}
"""


def argument(text):
    return parse_argument(Piece.of(text, "header"))


def test_a_header_says_what_to_run():
    gemm, other = parse_header(GEMM, "gemm.cl")
    assert gemm.kernel.text == "gemm_f16" and other.kernel.text == "other"
    assert gemm.global_size.text == "(N/16*sg, M/16)" and gemm.local_size.text == "(sg, 1)"
    assert [(name, piece.text) for name, piece in gemm.symbols] == [("M", "256"), ("N", "256"), ("K", "256")]
    assert gemm.options == ("-DK=256",)
    given = [(a.name.text, a.type, a.shape and a.shape.text, a.fill and a.fill.text) for a in gemm.arguments]
    assert given == [
        ("a", "f16", "M,K", "uniform(-1,1)"),
        ("b", "f16", "K,N", "uniform(-1,1)"),
        ("c", "f32", "M, N + 16", "zeros"),
        ("alpha", "f32", None, "1.5"),
        ("n", "i32", None, "K"),
        ("tmp", "f32", "64", None),
    ]
    close, exact = gemm.checks
    assert (close.target.text, close.exact) == ("c[:, :N]", False)
    assert close.expected.text == "a.astype(f32) @ b.astype(f32)"
    assert (close.atol.text, close.rtol.text) == ("1e-2", "2*1e-3")
    assert (exact.target.text, exact.expected.text, exact.exact) == ("c[:, N:]", "0", True)
    assert other.checks == () and other.local_size is None


def test_every_piece_knows_its_place():
    gemm = parse_header(GEMM, "gemm.cl")[0]
    lines = GEMM.split("\n")
    pieces = [gemm.kernel, gemm.global_size, *(a.fill for a in gemm.arguments if a.fill), gemm.checks[0].rtol]
    for piece in pieces:
        span = piece.span()
        assert span.file == "gemm.cl" and span.line == span.end_line
        assert lines[span.line - 1][span.column - 1 : span.end_column - 1] == piece.text
    spread = gemm.checks[0].expected.span()
    assert (spread.line, spread.end_line) == (5, 6)


def test_windows_line_ends_and_tight_comments_are_fine():
    (run,) = parse_header("//run: kernel=f global=1\r\n//  N=3\r\n//check: a == 1\r\n", "f")
    assert run.symbols[0][1].text == "3" and run.checks[0].expected.text == "1"


def test_a_file_without_a_header_has_no_runs():
    assert parse_header("kernel void f() {} // run: this is not at the start\n", "f") == []


@pytest.mark.parametrize(
    ("text", "message", "part"),
    [
        ("// run: kernel=f word", "expected NAME=VALUE", "word"),
        ("// run: kernel=f kernel=g", "'kernel' is given twice", "kernel=g"),
        ("// run: a=f32[4]:zeros a=f32:1", "'a' is given twice", "a=f32:1"),
        ("// run: global=", "'global' has no value", "global="),
        ("// run: a=f33[4]:zeros", "unknown type 'f33'", "f33"),
        ("// run: a=f32[]:zeros", "shape is empty", "[]"),
        ("// run: a=f32[4]:", "expected a fill", ":"),
        ("// run: a=f32:", "expected a value", ":"),
        ("// run: a=f32[4]zeros", "expected a fill", "zeros"),
        ("// run: global=(1,2", "never closed", "global=(1,2"),
        ("// run: global=1)", "unmatched ')'", ")"),
        ("// run: sg=4", "is a reserved name", "sg=4"),
        ("// run: f16=4", "is a reserved name", "f16=4"),
        ("// check: a == 1", "must follow a run", "a == 1"),
        ("// run: N=1\n// check: a", "expected TARGET", "a"),
        ("// run: N=1\n// check: ~ b atol=1", "expected TARGET", "~ b"),
        ("// run: N=1\n// check: a ~ b", "needs atol=X or rtol=X", "a ~ b"),
        ("// run: N=1\n// check: a == b atol=1", "is exact", "a == b atol=1"),
        ("// run: N=1\n// check: a ~ b atol=1 atol=2", "'atol' is given twice", "atol=1"),
    ],
)
def test_what_is_wrong_is_told_at_its_place(text, message, part):
    with pytest.raises(CompileError) as caught:
        parse_header(text, "f.cl")
    (item,) = caught.value.diagnostics
    assert message in item.message and item.code == "run-header"
    line = text.split("\n")[item.span.line - 1]
    assert line[item.span.column - 1 : item.span.end_column - 1].startswith(part)
    assert line in str(caught.value)  # the excerpt


@settings(max_examples=300)
@given(st.text(alphabet="ab16f:=[](), ~-D\n/rc\t", max_size=60))
def test_no_header_text_escapes_as_another_exception(text):
    try:
        parse_header("// run: " + text, "f")
    except CompileError as error:
        assert all(item.span is not None for item in error.diagnostics)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=f16[2,N]:zeros", np.zeros((2, 3), np.float16)),
        ("a=u8[N]:ones", np.ones(3, np.uint8)),
        ("a=s8[N, 2]:range", np.arange(6, dtype=np.int8).reshape(3, 2)),
        ("a=f64[2]:full(N/2)", np.full(2, 1.5)),
        ("a=f32[2]:full(nan)", np.full(2, np.nan, np.float32)),
    ],
)
def test_fills(text, expected):
    got = make_array(argument(text), {"N": 3})
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == expected.dtype


def test_random_fills_stay_in_range_and_depend_on_the_name_only():
    a = make_array(argument("a=f16[1000]:uniform(-1,1)"), {})
    assert np.abs(a).max() <= 1 and np.unique(a).size > 500
    b = make_array(argument("b=i8[1000]:integers(-128,128)"), {})
    assert (b.min(), b.max()) == (-128, 127)
    np.testing.assert_array_equal(a, make_array(argument("a=f16[1000]:uniform(-1,1)"), {"x": 1}))
    assert not np.array_equal(a, make_array(argument("c=f16[1000]:uniform(-1,1)"), {}))


@pytest.mark.parametrize(
    "text",
    [
        "a=f32[0]:zeros",
        "a=f32[2.5]:zeros",
        "a=f32[-1]:zeros",
        "a=f32[2**40]:zeros",
        "a=f32[nosuch]:zeros",
        "a=f32[4]:nosuch",
        "a=f32[4]:zeros(1)",
        "a=f32[4]:uniform(1)",
        "a=f32[4]:uniform(low=1, high=2)",
        "a=f32[4]:uniform((1,2),3)",
        "a=f32[4]:integers(3,1)",
        "a=f32[4]:1+",
    ],
)
def test_bad_arrays_are_errors(text):
    with pytest.raises(CompileError):
        make_array(argument(text), {})


def test_scalars_have_their_type_and_must_fit():
    alpha = make_scalar(argument("alpha=f32:M/2"), {"M": 3})
    assert alpha == np.float32(1.5) and alpha.dtype == np.float32
    assert make_scalar(argument("n=u8:255"), {}) == 255
    for text in ("n=u8:256", "n=i8:-129", "n=i32:1.5", "n=i32:(1,2)"):
        with pytest.raises(CompileError):
            make_scalar(argument(text), {})


def test_work_sizes_are_whole_and_positive():
    assert sizes_of(Piece.of("(N/16*sg, M)", "f"), {"N": 64, "sg": 8, "M": 2}, "global size") == (32, 2)
    for text in ("N/5", "(1, 2, 3, 4)", "0", "-N", "nan"):
        with pytest.raises(CompileError):
            sizes_of(Piece.of(text, "f"), {"N": 64}, "global size")


def test_an_operator_inside_brackets_is_not_the_checks():
    check = parse_check(Piece.of("a[(b == 1)] ~ ~c  atol=0", "f"))
    assert (check.target.text, check.expected.text) == ("a[(b == 1)]", "~c")


def test_an_argument_alone_must_be_one():
    for text in ("N=3", "a=f32:1 b=f32:1", "-DX"):
        with pytest.raises(CompileError):
            argument(text)
    assert parse_run(Piece.of("", "f")).arguments == ()
