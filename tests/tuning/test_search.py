"""The search by kernel_tuner."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import pytest

from coopmat.options import UsageError
from coopmat.tuning.search import require_kernel_tuner, search
from coopmat.tuning.space import Parameters

SPACE: Parameters = {"m": tuple(range(16)), "n": tuple(range(16)), "k": (1, 2, 4)}
BEST = (11, 3, 2)


def is_useful(values: Mapping[str, int]) -> bool:
    return values["m"] + values["n"] <= 20


class Evaluations:
    """Times that grow with the distance from BEST. The search ends after `most` different candidates."""

    def __init__(self, most: int = 100000) -> None:
        self.most, self.tried = most, dict[tuple[int, ...], float]()

    def evaluate(self, candidates: Sequence[tuple[int, ...]]) -> list[float] | None:
        for values in candidates:
            if len(self.tried) == self.most and values not in self.tried:
                return None
            distance = sum(abs(a - b) for a, b in zip(values, BEST, strict=True))
            self.tried[values] = float("inf") if values[0] == 7 else 1.0 + distance
        return [self.tried[values] for values in candidates]


@pytest.fixture(autouse=True)
def kernel_tuner() -> None:
    pytest.importorskip("kernel_tuner", reason="kernel_tuner is not installed: the extra `tune`")


@pytest.mark.parametrize("seed", range(5))
def test_a_search_finds_good_candidates_in_a_part_of_the_space(seed: int) -> None:
    found = Evaluations(most=150)
    search(SPACE, is_useful, found.evaluate, seed=seed)
    assert len(found.tried) == 150 and min(found.tried.values()) <= 4  # of up to 21
    assert all(m + n <= 20 for m, n, _ in found.tried)


def test_the_order_of_a_search_is_always_the_same() -> None:
    first, second, third = (Evaluations(most=80) for _ in range(3))
    search(SPACE, is_useful, first.evaluate, (5, 5, 1))
    search(SPACE, is_useful, second.evaluate, (5, 5, 1))
    search(SPACE, is_useful, third.evaluate, (5, 5, 1), seed=1)
    assert list(first.tried) == list(second.tried) != list(third.tried)
    assert next(iter(first.tried)) == (5, 5, 1)


def test_a_start_outside_the_space_is_ignored() -> None:
    found = Evaluations(most=60)
    search(SPACE, is_useful, found.evaluate, (15, 15, 1))
    assert len(found.tried) == 60 and (15, 15, 1) not in found.tried


def test_a_small_space_is_searched_completely() -> None:
    found = Evaluations()
    search(SPACE, lambda values: values["m"] in (7, 11) and values["n"] < 4 and is_useful(values), found.evaluate)
    assert len(found.tried) == 2 * 4 * 3 and min(found.tried, key=found.tried.__getitem__) == BEST
    search(SPACE, lambda _: False, found.evaluate)
    assert len(found.tried) == 24


def test_a_search_ends_without_a_limit() -> None:
    found = Evaluations()
    search(SPACE, is_useful, found.evaluate)
    assert len(found.tried) == 3 * sum(is_useful({"m": m, "n": n}) for m in range(16) for n in range(16))


def test_a_missing_kernel_tuner_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kernel_tuner.searchspace", None)
    with pytest.raises(UsageError, match=r"pip install 'coopmat\[tune\]'"):
        require_kernel_tuner()
