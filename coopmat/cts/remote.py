"""Batches of variants on the machines of a cluster: the work for the workers, and the results that they return.

A worker runs a batch with `workers.Pool`, in child processes that may die. The files of failing variants are sent back
with their outcomes.
"""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coopmat.cluster import Engine, Failed, Lost
from coopmat.devices import DeviceInfo
from coopmat.diagnostics import InternalError

from . import artifacts
from .outcome import Outcome, Status
from .run import plan_here
from .schedule import Batch, Schedule, Settings
from .workers import Keep, Pool

# The largest number of bytes of one variant's files that are sent back.
_MOST = 16 << 20


@dataclass(frozen=True)
class Selection:
    """The arguments from which a worker makes a plan: tests, routes and variants, as for `run.run`."""

    settings: Settings
    tests: tuple[str, ...]
    routes: tuple[str, ...]
    variants: tuple[str, ...]


@dataclass(frozen=True)
class Work:
    """A unit of work for a cluster worker.

    request: a batch to run, or a variant that killed a worker and whose files are to be written (`Keep`).
    """

    settings: Settings
    request: Batch | Keep


@dataclass(frozen=True)
class Delivery:
    """An outcome, and name -> contents of the variant's files if the variant failed."""

    outcome: Outcome
    files: Mapping[str, bytes]


# --- in workers --------------------------------------------------------------------------------------


def plan(selection: Selection) -> Schedule:
    """Return the schedule of a run on this worker's device.

    Raises UsageError for a test or a variant that does not exist.
    """
    from coopmat.devices import select

    device = select(selection.settings.device)
    return plan_here(selection.settings, device, selection.tests, selection.routes, selection.variants)


_pool: tuple[Settings, Pool, list[Outcome]] | None = None


def run_batch(work: Work) -> list[Delivery]:
    """Run a batch and return the outcome of each variant. The child processes are kept for the next batch."""
    global _pool
    if _pool is None or _pool[0] != work.settings:
        if _pool is not None:
            _pool[1].close()
        outcomes: list[Outcome] = []

        def collect(outcome: Outcome) -> bool:
            outcomes.append(outcome)
            return False

        own = replace(work.settings, keep=tempfile.mkdtemp(prefix="coopmat-cts-"))
        _pool = work.settings, Pool(own, 1, lambda *names: None, collect), outcomes
    _, pool, outcomes = _pool
    pool.run([work.request])
    machine = platform.node()
    delivered = [Delivery(replace(outcome, machine=machine), _files(outcome)) for outcome in outcomes]
    outcomes.clear()
    return delivered


def _files(outcome: Outcome) -> dict[str, bytes]:
    """Return name -> contents of a failing variant's files, at most `_MOST` bytes, and delete them on this machine."""
    directory = Path(outcome.directory) if outcome.directory else None
    if directory is None or not directory.is_dir():
        return {}
    files, size = {}, 0
    for path in sorted(directory.iterdir()):
        size += path.stat().st_size
        if path.is_file() and size <= _MOST:
            files[path.name] = path.read_bytes()
    shutil.rmtree(directory, ignore_errors=True)
    return files


# --- in the runner -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClusterDevice:
    """A device of a cluster, named by its resource.

    device: the same device on this machine, if there is one; then plans are made here instead of on a worker.
    """

    engine: Engine
    resource: str
    device: DeviceInfo | None = None

    def plan(
        self, settings: Settings, tests: Sequence[str], routes: Sequence[str], variants: Sequence[str]
    ) -> Schedule:
        """Return the schedule of a run, made on a worker that has the device. Raises UsageError, InternalError."""
        if self.device is not None:
            return plan_here(settings, self.device, tests, routes, variants)
        selection = Selection(replace(settings, device=self.resource), tuple(tests), tuple(routes), tuple(variants))
        results: dict[int, object] = {}
        self.engine.run(_planned, [selection], results.__setitem__, device=self.resource)
        found = results[0]
        if isinstance(found, Exception):
            raise found
        if not isinstance(found, Schedule):
            raise InternalError("the plan of the run was not made", _reason(found))
        return found

    def run(self, settings: Settings, batches: Sequence[Batch], done: Callable[[Outcome], bool]) -> None:
        """Run batches on the device's workers, until `done` returns True.

        If a worker dies of a batch, each of its variants is run alone. A variant of which a worker dies again fails.
        """
        run = _Run(self.engine, settings, self.resource, done)
        try:
            run.run(batches)
            run.run([batch.part(place, place + 1) for batch, _ in run.lost for place in range(len(batch.items))])
            run.keep()
        except _Enough:
            return


def _planned(selection: Selection) -> Schedule | Exception:
    from coopmat.options import UsageError

    try:
        return plan(selection)
    except UsageError as error:
        return error


class _Run:
    """The execution of a run on the cluster.

    lost: the batches whose worker died, with the reasons.
    """

    def __init__(self, engine: Engine, settings: Settings, resource: str, done: Callable[[Outcome], bool]) -> None:
        self._engine, self._settings, self._resource, self._done = engine, settings, resource, done
        self.lost: list[tuple[Batch, str]] = []

    def run(self, batches: Sequence[Batch]) -> None:
        self.lost = []

        def arrived(number: int, result: object) -> None:
            if isinstance(result, list):
                self._report([_kept(self._settings, delivery) for delivery in result])
            else:
                self.lost.append((batches[number], _reason(result)))

        self._call(batches, arrived)

    def keep(self) -> None:
        """Report the variants in `lost`, whose worker ended, as failed. Another worker writes their files."""
        outcomes = [batch.outcome(batch.items[0], Status.FAILED, log=f"its worker: {why}") for batch, why in self.lost]

        def arrived(number: int, result: object) -> None:
            if isinstance(result, list):
                self._report([_kept(self._settings, delivery) for delivery in result])
            else:
                self._report([outcomes[number]])

        self._call([Keep(batch, outcome) for (batch, _), outcome in zip(self.lost, outcomes, strict=True)], arrived)

    def _call(self, requests: Sequence[Batch | Keep], arrived: Callable[[int, object], None]) -> None:
        own = replace(self._settings, device=self._resource)
        works = [Work(own, request) for request in requests]
        if works:
            self._engine.run(run_batch, works, arrived, device=self._resource, is_isolated=True)

    def _report(self, outcomes: Sequence[Outcome]) -> None:
        answers = [self._done(outcome) for outcome in outcomes]
        if any(answers):
            raise _Enough


class _Enough(Exception):
    """Raised to end a run early, after `done` returned True."""


def _kept(settings: Settings, delivery: Delivery) -> Outcome:
    """Store the files of a failing variant on this machine, and return its outcome with their directory."""
    outcome = delivery.outcome
    if not delivery.files:
        return replace(outcome, directory="")
    place = artifacts.place_of(settings.keep, outcome)
    try:
        place.mkdir(parents=True, exist_ok=True)
        artifacts.add(place, {Path(name).name: data for name, data in delivery.files.items()})
    except OSError as error:
        return replace(outcome, directory=f"(not kept: {error})")
    return replace(outcome, directory=str(place))


def _reason(result: object) -> str:
    if isinstance(result, Lost):
        return result.reason
    return result.traceback if isinstance(result, Failed) else repr(result)
