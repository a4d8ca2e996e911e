"""Parameters that repeat a test in another size or type, and so run only with `tools/test --all`."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable
from itertools import product
from typing import Any

import pytest


def slow_where(repeats: Callable[..., bool], values: Iterable[Any]) -> list[Any]:
    """Return the values of `parametrize` (tuples for several parameters), those that repeat others marked slow."""
    found = []
    for value in values:
        each = value if isinstance(value, tuple) else (value,)
        found.append(pytest.param(*each, marks=pytest.mark.slow) if repeats(*each) else value)
    return found


def covering(*axes: Collection[Any]) -> list[Any]:
    """Return all combinations of the axes' values for `parametrize`, most of them marked slow.

    Each value of each axis is in some combination that is not slow; which ones these are depends on the values' names.
    """
    combinations = list(product(*axes))
    seen: set[tuple[int, str]] = set()
    chosen = []
    for combination in sorted(combinations, key=lambda values: zlib.crc32(repr(values).encode())):
        features = {(axis, repr(value)) for axis, value in enumerate(combination)}
        if not features <= seen:
            seen |= features
            chosen.append(combination)
    return slow_where(lambda *values: values not in chosen, combinations)


# Types that repeat the test of another type of their width: only a few instructions differ.
SAME_WIDTH = frozenset({"char", "ushort", "uint", "long"})
