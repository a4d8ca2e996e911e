"""Parameters that repeat a test in another size or type, and so run only with `tools/test --all`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def slow_where(repeats: Callable[..., bool], values: Iterable[Any]) -> list[Any]:
    """Return the values of `parametrize` (tuples for several parameters), those that repeat others marked slow."""
    found = []
    for value in values:
        each = value if isinstance(value, tuple) else (value,)
        found.append(pytest.param(*each, marks=pytest.mark.slow) if repeats(*each) else value)
    return found


# Types that repeat the test of another type of their width: only a few instructions differ.
SAME_WIDTH = frozenset({"char", "ushort", "uint", "long"})
