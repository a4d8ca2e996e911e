"""Processes that call functions with units of work, and may die of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import units

from coopmat.cluster import Failed, Lost, ProcessPool


@pytest.fixture
def pool() -> Iterator[ProcessPool]:
    own = ProcessPool(2, timeout=30)
    yield own
    own.close()


def results(pool: ProcessPool, function: Any, given: list[Any]) -> list[Any]:
    found: dict[int, Any] = {}
    pool.run(function, given, found.__setitem__)
    return [found[number] for number in range(len(given))]


def test_each_unit_has_its_result(pool: ProcessPool) -> None:
    assert results(pool, units.square, list(range(50))) == [n * n for n in range(50)]
    assert results(pool, units.square, []) == []
    first = set(results(pool, units.process, list(range(8))))
    assert first == set(results(pool, units.process, list(range(8)))) and len(first) == 2


def test_only_the_unit_that_kills_is_lost(pool: ProcessPool) -> None:
    found = results(pool, units.mortal, list(range(1, 16)))
    assert [n for n, result in enumerate(found, 1) if isinstance(result, Lost)] == [7, 14]
    assert "SIGKILL" in found[6].reason and "7 is a multiple" in found[6].reason
    assert [n for n, result in enumerate(found, 1) if result == n] == [n for n in range(1, 16) if n % 7]


def test_a_unit_has_a_second_chance(pool: ProcessPool, tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in "abc"]
    assert results(pool, units.mortal_once, paths) == paths


def test_a_pool_may_give_units_one_chance(tmp_path: Path) -> None:
    pool, path = ProcessPool(1, deaths=1), str(tmp_path / "once")
    assert isinstance(results(pool, units.mortal_once, [path])[0], Lost)
    assert results(pool, units.mortal_once, [path]) == [path]
    pool.close()


def test_a_unit_that_hangs_is_lost() -> None:
    pool = ProcessPool(1, timeout=3)
    slow, quick = results(pool, units.endless, [100.0, 0.0])
    assert isinstance(slow, Lost) and "3 seconds" in slow.reason and quick == 0.0
    pool.close()


def test_exceptions_are_results(pool: ProcessPool) -> None:
    (found,) = results(pool, units.raising, [5])
    assert isinstance(found, Failed) and "ValueError: 5 is none of ours" in found.traceback
    (found,) = results(pool, units.square, ["a"])
    assert isinstance(found, Failed) and "TypeError" in found.traceback
