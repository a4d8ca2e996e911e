"""Parameters that repeat a test in another size or type, and so run only with `tools/test --all`."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest


def slow_where(repeats: Callable[..., bool], values: Iterable[Any]) -> list[Any]:
    """Return the values of `parametrize` (tuples for several parameters), those that repeat others marked slow."""
    found = []
    for value in values:
        each = value if isinstance(value, tuple) else (value,)
        found.append(pytest.param(*each, marks=pytest.mark.slow) if repeats(*each) else value)
    return found


def mark_repeats(items: Iterable[pytest.Item]) -> None:
    """Mark most combinations of the parameters of a test slow, if the test has the mark `covering`.

    Each value of each parameter is in a combination that is not slow; parameters that one mark lists together count as
    one. Which combinations these are depends on their names.
    """
    tests: dict[str, dict[pytest.Item, set[tuple[str, ...]]]] = {}
    for item in sorted(items, key=lambda item: zlib.crc32(item.nodeid.encode())):
        if item.get_closest_marker("covering") is not None and item.get_closest_marker("slow") is None:
            tests.setdefault(item.nodeid.partition("[")[0], {})[item] = set(_values(item))
    for combinations in tests.values():
        missing = set().union(*combinations.values())
        while missing:
            chosen = max(combinations, key=lambda item: len(combinations[item] & missing))
            missing -= combinations.pop(chosen)
        for item in combinations:
            item.add_marker("slow")


def _values(item: Any) -> Iterator[tuple[str, ...]]:
    """Yield the parameters of a test, those of a mark together, and those of fixtures alone: names and values."""
    marks = [mark.args[0] for mark in item.iter_markers("parametrize")]
    groups = [names.replace(" ", "").split(",") if isinstance(names, str) else list(names) for names in marks]
    groups += [[name] for name in item.callspec.params if not any(name in group for group in groups)]
    for group in groups:
        yield (*group, *(repr(item.callspec.params[name]) for name in group))


# Types that repeat the test of another type of their width: only a few instructions differ.
SAME_WIDTH = frozenset({"char", "ushort", "uint", "long"})
