"""The evaluator agrees with Python on what it allows, and refuses the rest quickly."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from coopmat.runtime.evaluator import EvaluationError, evaluate

NAMES = {
    "M": 6,
    "a": np.arange(12, dtype=np.float16).reshape(3, 4),
    "b": np.arange(12, dtype=np.int8).reshape(4, 3),
    "h": np.array(["x"], dtype="U1"),
}
PYTHON = {
    **NAMES,
    **{name: getattr(np, name) for name in dir(np) if not name.startswith("_")},
    "f32": np.float32,
    "i32": np.int32,
}


@pytest.mark.parametrize(
    "text",
    [
        "M/4*2 + M//4 - M % 4 ** 2",
        "-M + ~3 & 12 | 1 ^ 5 << 2 >> 1",
        "a.astype(f32) @ b.astype(f32)",
        "a.T[1:, ::-1]",
        "maximum(a - 3, 0).sum(axis=1, keepdims=True)",
        "where(b > 4, b, -1)[..., None]",
        "reshape(a, (2, 6))[1, 2:4]",
        "concatenate([a.ravel(), zeros(2)])",
        "exp(log1p(a)) * pi",
        "clip(b.astype(i32) * 40, -128, 127)",
        "b == transpose(b.T)",
        "  a.shape[1] * 2",
        "tile(repeat(arange(3), 2), 2) + eye(12)",
        "array([1, 2, 3]) @ b[:3]",
        "stack([a, a]).swapaxes(0, 1)",
    ],
)
def test_agrees_with_python(text):
    expected = eval(text.strip(), dict(PYTHON))  # test oracle only
    got = evaluate(text, NAMES)
    np.testing.assert_array_equal(got, expected)
    assert np.asarray(got).dtype == np.asarray(expected).dtype


_LEAVES = st.sampled_from(["M", "3", "2.5", "a", "f32", "b"])


@st.composite
def _expressions(draw, depth=3):
    if depth == 0 or draw(st.booleans()):
        return draw(_LEAVES)
    left, right = draw(_expressions(depth=depth - 1)), draw(_expressions(depth=depth - 1))
    operator = draw(st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "@", "<<", "<", "=="]))
    return f"({left} {operator} {right})"


@settings(max_examples=150)
@given(_expressions())
def test_any_arithmetic_gives_pythons_value_or_an_error(text):
    try:
        got = evaluate(text, NAMES)
    except EvaluationError as error:
        assert 0 <= error.start < error.end <= len(text)
        return
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got, eval(text, dict(PYTHON)))


@settings(max_examples=300)
@given(st.text(alphabet="aM0123 .,()[]{}:+-*/%@<>=~'\"_fglmtx!&|^\\#\n", max_size=40))
def test_no_text_escapes_as_another_exception(text):
    try:
        evaluate(text, NAMES)
    except EvaluationError as error:
        assert error.start <= error.end


@pytest.mark.parametrize("text", ["a.reshape(M/2, 4)", "reshape(a, (M/2, 4))", "a[:M/2, :4/1]", "tile(a, 4/4)"])
def test_a_division_that_comes_out_whole_is_a_size(text):
    np.testing.assert_array_equal(evaluate(text, NAMES), NAMES["a"])


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "a.__class__",
        "a.tofile('x')",
        "a.dtype",
        "(lambda: 1)()",
        "[x for x in a]",
        "f'{a}'",
        "'text'",
        "b'text'",
        "1j",
        "a if M else b",
        "M and 1",
        "not M",
        "1 < 2 < 3",
        "a is b",
        "(x := 3)",
        "load('x')",
        "sum",
        "nosuch",
        "[1, 2] * 3",
        "(1, 2) + (3,)",
        "M[0]",
        "M.T",
        "sum(a, out=b)",
        "sum(*a)",
        "sum(**a)",
        "a.sum()()",
        "array([2**100])",
        "",
        "a b",
        "(" * 5000,
        "-" * 3000 + "1",
        "(" * 90 + "1" + ")" * 90 + "+" * 200 + "1",
    ],
)
def test_what_is_not_allowed_is_an_error(text):
    with pytest.raises(EvaluationError):
        evaluate(text, NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "2 << 2**62",
        "(2**60)**(2**60)",
        "zeros(2**40)",
        "ones((2**20, 2**20))",
        "full((M, 2**60), 0)",
        "arange(10**12)",
        "arange(0, 1, 1e-300)",
        "eye(2**20)",
        "tile(a, 2**40)",
        "repeat(a, 2**40)",
        "outer(arange(2**20), arange(2**20))",
        "arange(2**20)[:, None] + arange(2**20)",
        "maximum(arange(2**20)[:, None], arange(2**20))",
        "arange(2**20)[:, None] < arange(2**20)",
        "arange(2**20)[:, None] @ arange(2**20)[None, :]",
        "dot(arange(2**20)[:, None], arange(2**20)[None, :])",
        "*".join(["(2**60)"] * 50),
    ],
)
def test_large_values_are_refused_at_once(text):
    start = time.process_time()
    with pytest.raises(EvaluationError):
        evaluate(text, NAMES)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("text", "part"),
    [("M + nosuch * 2", "nosuch"), ("  a.tofile(3)", "a.tofile(3)"), ("a + b", "a + b"), ("M + é + 1", "é")],
)
def test_errors_point_at_the_part(text, part):
    with pytest.raises(EvaluationError) as caught:
        evaluate(text, NAMES)
    assert text[caught.value.start : caught.value.end] == part
