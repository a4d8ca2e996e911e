"""Campaigns on a cluster: their parts are units of work for workers, to which this repository's helpers are sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from coopmat.cluster import Failed, Lost
from coopmat.cluster.dask_engine import DaskEngine

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tests/support", "tools", "kernels", "tests/golden/in", "tests/kernels")
CLUSTER_HELP = "a scheduler of dask.distributed's, or local:N, in place of --jobs"


def parts(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def spread(
    cluster: str,
    function: Callable[[Any], T],
    units: Sequence[Any],
    say: Callable[[str], None],
    *,
    is_isolated: bool = True,
) -> list[T | Lost | Failed]:
    """Return the results of a function for the units, in the order of the units.

    `is_isolated`: whether the function runs dangerous work in child processes.
    """
    results: dict[int, Any] = {}
    engine = DaskEngine(cluster, say)

    def done(number: int, result: Any) -> None:
        results[number] = result
        say(f"{len(results)} of {len(units)} parts")

    try:
        engine.share(ROOT, FOLDERS, ("tests/support", "tools"))
        engine.run(function, units, done, is_isolated=is_isolated)
    finally:
        engine.close()
    return [results[number] for number in range(len(units))]


def reason(result: Lost | Failed) -> str:
    return result.reason if isinstance(result, Lost) else result.traceback
