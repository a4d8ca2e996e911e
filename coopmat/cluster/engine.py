"""The interface of engines, which run units of work, and the engine for this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .processes import Done, ProcessPool


class Engine(Protocol):
    """An engine that calls a function with units of work, in other processes and in any order."""

    def run(
        self,
        function: Callable[[Any], Any],
        units: Sequence[Any],
        done: Done,
        *,
        device: str = "",
        is_isolated: bool = False,
    ) -> None:
        """Call the function with each unit, and `done` in this thread with each number and result as it arrives.

        `device` is the resource name of the device that the units need; empty for any worker. If `is_isolated`, the
        function starts child processes itself, so workers call it directly. On Ctrl-C, unfinished units are abandoned,
        and KeyboardInterrupt is raised.
        """

    def close(self) -> None:
        """End the processes and connections that the engine started."""


class LocalEngine:
    """An engine that runs units in `jobs` processes of this machine."""

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
    """Return the engine for `--cluster`; if `cluster` is None, an engine with `jobs` processes of this machine.

    Raises UsageError if the cluster cannot be reached, or if the extra `cluster` is not installed.
    """
    if cluster is None:
        return LocalEngine(jobs)
    from .dask_engine import DaskEngine

    return DaskEngine(cluster)
