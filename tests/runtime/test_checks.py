"""Checks: what counts as equal and as close."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from coopmat.diagnostics import CompileError
from coopmat.runtime.checks import run_check
from coopmat.runtime.runheader import Piece, parse_check


def check(text, before, after=None):
    return run_check(parse_check(Piece.of(text, "header")), before, {**before, **(after or {})})


def test_names_mean_before_on_the_right_and_after_on_the_left():
    y = np.arange(4, dtype=np.float32)
    assert check("y == 2 * y", {"y": y}, {"y": 2 * y}).ok
    assert not check("y == 2 * y", {"y": y}, {"y": y}).ok


def test_the_first_wrong_element_is_told():
    wanted = np.zeros((2, 3), np.float32)
    got = wanted.copy()
    got[1, 1], got[1, 2] = 0.5, -2
    result = check("c ~ w atol=0.25", {"w": wanted}, {"c": got})
    assert not result.ok
    assert (result.wrong, result.total, result.max_error) == (2, 6, 2.0)
    assert result.first == ((1, 1), np.float32(0.5), np.float32(0))
    assert check("c ~ w atol=2", {"w": wanted}, {"c": got}).ok


_FLOATS = hnp.arrays(np.float32, 8, elements=st.floats(width=32))


@settings(max_examples=200)
@given(_FLOATS, _FLOATS, st.sampled_from([0.0, 1e-3, 1.0]), st.sampled_from([1e-6, 0.5]))
def test_close_is_numpys_allclose(got, wanted, atol, rtol):
    with np.errstate(all="ignore"):
        close = np.isclose(got.astype(np.float64), wanted.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True)
        finite = np.isfinite(wanted)  # numpy lets nothing but the same infinity pass, and so do we
        close = np.where(finite, close, (got == wanted) | (np.isnan(got) & np.isnan(wanted)))
    result = check(f"c ~ w atol={atol} rtol={rtol}", {"w": wanted}, {"c": got})
    assert result.wrong == np.count_nonzero(~close)


@settings(max_examples=100)
@given(_FLOATS, _FLOATS)
def test_exact_is_equality_with_equal_nans(got, wanted):
    result = check("c == w", {"w": wanted}, {"c": got})
    assert result.ok == np.array_equal(got, wanted, equal_nan=True)


def test_exact_integers_are_not_rounded_through_floats():
    big = np.array([2**62 + 1], np.int64)
    assert check("c == w", {"w": big}, {"c": big}).ok
    assert not check("c == w", {"w": big}, {"c": big + 1}).ok


def test_infinities_and_nan_do_not_hide_in_a_tolerance():
    inf = np.array([np.inf], np.float32)
    zero = np.zeros(1, np.float32)
    assert not check("c ~ w atol=1e30", {"w": zero}, {"c": inf}).ok
    assert not check("c ~ w rtol=1", {"w": inf}, {"c": zero}).ok
    assert not check("c ~ w rtol=1", {"w": inf}, {"c": -inf}).ok
    assert not check("c ~ w atol=1e30", {"w": zero}, {"c": np.full(1, np.nan, np.float32)}).ok
    assert check("c ~ w atol=0", {"w": inf}, {"c": inf}).ok


@pytest.mark.parametrize(
    "text", ["c ~ w[:2] atol=1", "c ~ w atol=-1", "c ~ w atol=w", "c[:0] == 0", "c == nosuch", "nosuch == 1"]
)
def test_a_wrong_check_is_an_error_and_not_a_failure(text):
    with pytest.raises(CompileError) as caught:
        check(text, {"w": np.zeros(4)}, {"c": np.zeros(4)})
    assert caught.value.diagnostics[0].span is not None
