"""Checks of a launch's results: the arrays after the launch are compared with the values that the header states."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .data import Array, value_of
from .runheader import Check, header_error

# The maximum of rows and of columns of the map of wrong tiles, and of arrays whose layout is swapped.
_MOST_TILES, _MOST_TRIED = 16, 4


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check.

    max_error: the largest absolute difference over all elements (infinite if only one side is finite or NaN).
    wrong, total: the numbers of elements outside the tolerance, and of all elements.
    first: the first wrong element, as (index, actual value, expected value); None if all are right.
    map: the wrong tiles of the first wrong matrix, as text.
    swapped: the arrays with which the check passes if their layout is swapped (row-major, column-major).
    """

    check: Check
    max_error: float
    wrong: int
    total: int
    first: tuple[tuple[int, ...], Any, Any] | None
    map: str = ""
    swapped: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.wrong == 0


def run_check(check: Check, before: Mapping[str, Any], after: Mapping[str, Any]) -> CheckResult:
    """Evaluate both sides of a check, compare them, and return the outcome.

    `before` and `after` map names to the values before and after the launch. Raises CompileError if the check itself is
    wrong: its names, shapes or tolerances.
    """
    actual, expected, right, error = _compare(check, before, after)
    bad = np.argwhere(~right)
    if not len(bad):
        return CheckResult(check, float(error.max()), 0, actual.size, None)
    index = tuple(int(i) for i in bad[0])
    first = (index, actual[index], np.broadcast_to(expected, actual.shape)[index])
    swapped = _swapped_layouts(check, before, after)
    return CheckResult(check, float(error.max()), len(bad), actual.size, first, _map(~right, index), swapped)


def _compare(check: Check, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Array, Array, Array, Array]:
    """Return the target, the expected value, which elements are right, and the absolute errors."""
    actual = np.asarray(value_of(check.target, after))
    expected = np.asarray(value_of(check.expected, before))
    if expected.shape not in ((), actual.shape):
        raise header_error(f"the target's shape is {actual.shape}, the expression's {expected.shape}", check.whole)
    if actual.size == 0:
        raise header_error("the target has no elements", check.target)
    error = _difference(actual, expected)
    if check.exact:
        with np.errstate(invalid="ignore"):
            right = actual == expected
    else:
        atol, rtol = (_tolerance(piece, before) for piece in (check.atol, check.rtol))
        with np.errstate(all="ignore"):
            limit = atol + rtol * np.abs(expected.astype(np.float64)) if rtol else np.float64(atol)
            # An infinite expected value makes the limit infinite. Only an equal value, with error 0, may pass then.
            right = (error <= limit) & np.isfinite(error)
    # Two NaNs are equal: IEEE 754 does not specify which NaN an operation returns.
    right = right | (_is_nan(actual) & _is_nan(expected))
    return actual, expected, np.broadcast_to(right, actual.shape), error


def _swapped_layouts(check: Check, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one or two arrays with which the check passes if their memory is read in the other layout.

    If no such arrays are found, the result is empty.
    """
    names = [
        name
        for name, value in before.items()
        if isinstance(value, np.ndarray) and value.ndim > 1 and re.search(rf"\b{name}\b", check.whole.text)
    ][:_MOST_TRIED]
    for count in (1, 2):
        for chosen in itertools.combinations(names, count):
            changed = [{**values, **{name: _swap(values[name]) for name in chosen}} for values in (before, after)]
            if _compare(check, *changed)[2].all():
                return chosen
    return ()


def _swap(matrix: Array) -> Array:
    """Return the matrix that the same memory contains in the other layout."""
    *others, rows, columns = matrix.shape
    return np.swapaxes(matrix.reshape(*others, columns, rows), -1, -2)


def _map(bad: Array, index: tuple[int, ...]) -> str:
    """Draw the wrong tiles of the matrix that contains element `index`: '#' all wrong, '+' some, '.' none."""
    if not index:
        return ""
    outer = index[:-2]
    matrix = bad[outer] if bad.ndim > 1 else bad[None]
    heights, widths = (_tile(extent) for extent in matrix.shape)
    rows = [
        "".join(
            ".+#"[int(tile.any()) + int(tile.all())] for tile in np.split(row, range(widths, row.shape[1], widths), 1)
        )
        for row in np.split(matrix, range(heights, matrix.shape[0], heights))
    ]
    where = f" of the matrix at {list(outer)}" if outer else ""
    legend = f"wrong tiles of {heights} x {widths}{where} ('#' all wrong, '+' some, '.' none):"
    return "\n".join([legend, *(f"    {row}" for row in rows)])


def _tile(extent: int) -> int:
    """Return the smallest extent of a tile, 1 or a power of two from 16, that keeps the map within `_MOST_TILES`."""
    tile = 1 if extent <= _MOST_TILES else 16
    while -(-extent // tile) > _MOST_TILES:
        tile *= 2
    return tile


def _tolerance(piece: Any, names: Mapping[str, Any]) -> float:
    """Return the value of a tolerance, 0 without an expression. Raises CompileError if the value is no tolerance."""
    if piece is None:
        return 0.0
    value = value_of(piece, names)
    if not isinstance(value, (int, float, np.number)) or not float(value) >= 0:
        raise header_error("a tolerance must be a non-negative number", piece)
    return float(value)


def _difference(actual: Array, expected: Array) -> Array:
    """Return |actual - expected| in float64.

    An element is 0 if both values are NaN or the same infinity, and infinite if only one value is NaN.
    """
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        error = np.abs(a - b)
    error = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, error)
    return np.asarray(np.where(np.isnan(error), np.inf, error))


def _is_nan(array: Array) -> Array:
    return np.asarray(np.isnan(array)) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
