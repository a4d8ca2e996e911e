"""The checks of a launch's results: the values in memory against those that the header states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .data import Array, value_of
from .runheader import Check, header_error


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check.

    `max_error` is the largest absolute difference over all elements (infinite where only one side is finite,
    or NaN); `wrong` counts the elements outside the tolerance, and `first` is the first of them as
    (index, got, wanted).
    """

    check: Check
    max_error: float
    wrong: int
    total: int
    first: tuple[tuple[int, ...], Any, Any] | None

    @property
    def ok(self) -> bool:
        return self.wrong == 0


def run_check(check: Check, before: Mapping[str, Any], after: Mapping[str, Any]) -> CheckResult:
    """Evaluate both sides. Raises CompileError where the check itself is wrong (names, shapes, tolerances)."""
    actual = np.asarray(value_of(check.target, after))
    expected = np.asarray(value_of(check.expected, before))
    if expected.shape not in ((), actual.shape):
        raise header_error(f"the target's shape is {actual.shape}, the expression's {expected.shape}", check.whole)
    if actual.size == 0:
        raise header_error("the target has no elements", check.target)
    if check.exact:
        with np.errstate(invalid="ignore"):
            right = actual == expected
        error = _difference(actual, expected)
    else:
        atol, rtol = (_tolerance(piece, before) for piece in (check.atol, check.rtol))
        error = _difference(actual, expected)
        with np.errstate(all="ignore"):
            limit = atol + rtol * np.abs(expected.astype(np.float64)) if rtol else np.float64(atol)
            # An infinite value makes the tolerance infinite, and nothing but itself may pass through that.
            right = (error <= limit) & np.isfinite(error)
    # Two NaNs agree: IEEE says nothing about which NaN an operation gives.
    right = right | (_is_nan(actual) & _is_nan(expected))
    bad = np.argwhere(~np.broadcast_to(right, actual.shape))
    first = None
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        first = (index, actual[index], np.broadcast_to(expected, actual.shape)[index])
    return CheckResult(check, float(error.max()), len(bad), actual.size, first)


def _tolerance(piece: Any, names: Mapping[str, Any]) -> float:
    if piece is None:
        return 0.0
    value = value_of(piece, names)
    if not isinstance(value, (int, float, np.number)) or not float(value) >= 0:
        raise header_error("a tolerance is a number that is not negative", piece)
    return float(value)


def _difference(actual: Array, expected: Array) -> Array:
    """Return |actual - expected| in float64; 0 where both are the same infinity or both NaN, infinite for one NaN."""
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        error = np.abs(a - b)
    error = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, error)
    return np.asarray(np.where(np.isnan(error), np.inf, error))


def _is_nan(array: Array) -> Array:
    return np.asarray(np.isnan(array)) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
