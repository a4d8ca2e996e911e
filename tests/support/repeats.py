"""What repeats: parameters of a test that go over what its others do, in another size or type."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def slow_where(repeats: Callable[..., bool], values: Iterable[Any]) -> list[Any]:
    """The values of `parametrize`, tuples for several parameters; those that repeat run with `tools/test --all`."""
    found = []
    for value in values:
        each = value if isinstance(value, tuple) else (value,)
        found.append(pytest.param(*each, marks=pytest.mark.slow) if repeats(*each) else value)
    return found


# As wide as a type of the other sign, which goes the same ways but for a few instructions.
SAME_WIDTH = frozenset({"char", "ushort", "uint", "long"})
