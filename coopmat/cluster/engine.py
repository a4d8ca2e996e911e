"""Where units of work run: in processes of this machine, or on a cluster of dask.distributed's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .processes import Done, ProcessPool


class Engine(Protocol):
    """An `Engine` calls a function with units of work, in other processes, in any order."""

    def run(
        self,
        function: Callable[[Any], Any],
        units: Sequence[Any],
        done: Done,
        *,
        device: str = "",
        is_isolated: bool = False,
    ) -> None:
        """Call the function with each unit, and `done` with each result as it arrives, in this thread.

        `device` names the one that units need, as `devices` has it. A function that `is_isolated` has processes of its
        own, and is called by workers themselves. Ctrl-C gives up what is not done, and is raised.
        """

    def close(self) -> None:
        """End what was started."""


class LocalEngine:
    """A `LocalEngine` has some processes of this machine."""

    def __init__(self, jobs: int) -> None:
        self._pool = ProcessPool(jobs)

    def run(
        self,
        function: Callable[[Any], Any],
        units: Sequence[Any],
        done: Done,
        *,
        device: str = "",
        is_isolated: bool = False,
    ) -> None:
        self._pool.run(function, units, done)

    def close(self) -> None:
        self._pool.close()


def engine_for(cluster: str | None, jobs: int = 1) -> Engine:
    """Return the engine for `--cluster` and `-j`. Raises UsageError where the cluster cannot be reached, or the extra
    `cluster` is not installed."""
    if cluster is None:
        return LocalEngine(jobs)
    from .dask_engine import DaskEngine

    return DaskEngine(cluster)
