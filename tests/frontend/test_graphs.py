"""Walks over call graphs."""

from __future__ import annotations

from coopmat.graphs import postorder, reachable, reaching

CALLS = {"kernel": ["f", "g"], "f": ["g", "h"], "g": ["f"], "h": [], "alone": ["h"]}


def test_functions_that_a_kernel_reaches() -> None:
    assert reachable(["kernel"], CALLS.__getitem__) == {"kernel", "f", "g", "h"}


def test_callers_of_a_function() -> None:
    assert reaching(["h"], CALLS) == set(CALLS)
    assert reaching(["alone"], CALLS) == {"alone"}


def test_callees_come_first_and_recursion_is_cut() -> None:
    assert postorder(["kernel", "alone"], CALLS.__getitem__) == ["g", "h", "f", "kernel", "alone"]
