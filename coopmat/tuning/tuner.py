"""Tuning: the search for each component type and shape, the comparison with the tiling in use, and the user's table."""

from __future__ import annotations

import datetime
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coopmat.cache import key_of, package_version
from coopmat.devices import DeviceInfo
from coopmat.linalg.parameters import (
    Tiling,
    route_of,
    rows_of,
    shape_class,
    table,
    tilings_of,
    user_directory,
    user_table,
)
from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.options import UsageError

from .journal import Journal
from .report import Report, Row
from .search import Values, require_kernel_tuner, search
from .space import Parameters, parameters, restriction, tiling_of, values_of
from .trials import Outcome, Run, Trial, run_here
from .user_table import write

# A shape of each class.
DEFAULT_SHAPES = (
    (1, 1024, 1024, 1024),
    (1, 512, 512, 512),
    (1, 128, 128, 128),
    (1, 8, 4096, 4096),
    (1, 64, 4096, 4096),
    (1, 4096, 512, 512),
    (96, 128, 64, 128),
)
# The part of a task's time that the search may use; the rest is for the comparison with the tiling in use.
_SEARCHING = 0.85
# The number of tilings that are compared with the tiling in use.
_FINALISTS = 3
# A new tiling is used if it needs at most this part of the old time, and less time in three quarters of the turns.
_WORTHWHILE = 0.98


@dataclass(frozen=True)
class Task:
    """A component type of A and B, and a shape: (matrices in the batch, m, n, k)."""

    kind: str
    shape: tuple[int, int, int, int]


def journal_for(device: DeviceInfo, tasks: Sequence[Task]) -> Journal:
    """Return the journal of the tasks on a device, for this version of the package, in the user's data directory."""
    names = [[task.kind, *task.shape] for task in tasks]
    # The tile in use, which trials compare with others, is that of this table.
    rows = table(route_of(device.handle))
    key = key_of({"version": package_version(), "device": device.identity, "tasks": names, "table": json.dumps(rows)})
    return Journal(user_directory() / f"tuning-{key[:16]}.jsonl")


def tune(
    device: DeviceInfo,
    tasks: Sequence[Task],
    budget: float,
    journal: Journal,
    *,
    run: Run = run_here,
    at_once: int = 1,
    progress: Callable[[float, str], None] = lambda spent, text: None,
) -> Report:
    """Search faster tilings for the tasks, and write those found to the user's table.

    The journal's trials are not repeated. A run that continues ends with the same table as one without interruption.
    When the report is complete, the journal is removed.

    budget: the seconds for all tasks, including those that the trials of the journal took.
    run: performs the trials, `at_once` of them at a time.
    progress: is called with the seconds that are spent, and a text about the task.
    """
    require_kernel_tuner()
    _require_separate_rows(device, tasks)
    measurements = _Measurements(device, journal, run, at_once, progress)
    rows = []
    for number, task in enumerate(tasks):
        share = max(0.0, budget - measurements.spent) / (len(tasks) - number)
        rows.append(_tune(device, task, measurements, share))
    route = route_of(device.handle)
    measured = f"{device.name}, driver {device.driver}, {datetime.date.today()}"
    is_written = write(device.handle, route, rows, measured)
    journal.remove()
    return Report(device.label, route, tuple(rows), user_table(route), is_written)


def _require_separate_rows(device: DeviceInfo, tasks: Sequence[Task]) -> None:
    """Raise UsageError if two tasks have the same row of the table, which has one tile for both."""
    found: dict[tuple[str, str, str], Task] = {}
    for task in tasks:
        kind, name = COMPONENT_TYPES[task.kind], shape_class(*task.shape)
        row = rows_of(device.handle, (kind, kind), task.shape)[:1]
        other = found.setdefault((task.kind, name, json.dumps(row)), task)
        if other is not task:
            shapes = " and ".join("x".join(map(str, item.shape[1:])) for item in (other, task))
            raise UsageError(f"--shapes: the table has one tile of {task.kind} for {shapes} (class {name})")


class _Measurements:
    """The trials of a run: from the journal, or performed now. spent: the seconds that the trials took so far.

    `spent` counts the time from one trial to the next, and only that of trials that finished. So a run that continues
    decides as one without interruption.
    """

    def __init__(
        self, device: DeviceInfo, journal: Journal, run: Run, at_once: int, progress: Callable[[float, str], None]
    ) -> None:
        self.spent = 0.0
        self.text = ""
        self.at_once = at_once
        self._identity = tuple(device.identity)
        self._journal, self._run, self._progress = journal, run, progress
        self._last = time.monotonic()

    def trial(self, task: Task, tilings: Sequence[Tiling | None], best: float = float("inf")) -> Trial:
        return Trial(self._identity, task.kind, task.shape, tuple(tilings), best)

    def outcomes(self, trials: Sequence[Trial]) -> list[Outcome]:
        """Return the outcomes of trials."""
        known = [self._journal.get(trial) for trial in trials]
        missing = [trial for trial, entry in zip(trials, known, strict=True) if entry is None]
        self.spent += sum(entry[1] for entry in known if entry is not None)

        def done(number: int, outcome: Outcome) -> None:
            now = time.monotonic()
            self._journal.add(missing[number], outcome, now - self._last)
            self.spent, self._last = self.spent + now - self._last, now
            self._progress(self.spent, self.text)

        if missing:
            self._run(missing, done)
        self._last = time.monotonic() if not missing else self._last
        found = [self._journal.get(trial) for trial in trials]
        return [entry[0] for entry in found if entry is not None]


def _tune(device: DeviceInfo, task: Task, measurements: _Measurements, share: float) -> Row:
    """Search a faster tiling for a task in `share` seconds, and compare the best with the one in use."""
    kind, begin = COMPONENT_TYPES[task.kind], measurements.spent
    old = tilings_of(device.handle, (kind, kind), task.shape)[0]
    measurements.text = f"{task.kind} {shape_class(*task.shape)}"
    used = measurements.outcomes([measurements.trial(task, [None])])[0]
    space = parameters(route_of(device.handle), kind)
    evaluations = _Evaluations(task, measurements, space, begin + _SEARCHING * share, used.best)
    is_useful = restriction(device.handle, kind, task.shape, table(route_of(device.handle)))
    search(space, is_useful, evaluations.evaluate, values_of(old, space, kind))
    finalists: list[Tiling | None] = [tiling for tiling in evaluations.fastest() if used.failure or tiling != old]
    turns, compared = _compared(measurements, task, finalists, used)
    medians = [statistics.median(seconds) for seconds in compared.seconds]
    counts = len(evaluations.seconds), list(evaluations.seconds.values()).count(float("inf"))
    best = min(range(len(medians)), key=medians.__getitem__, default=0)
    is_faster = used.failure or (best > 0 and _is_worthwhile(compared.seconds[0], compared.seconds[best]))
    new = turns[best] if medians and is_faster else None
    return Row(
        task.kind,
        task.shape,
        shape_class(*task.shape),
        old,
        new,
        None if used.failure or not medians else medians[0],
        medians[best] if new else None,
        *counts,
        f"the tile in use failed: {used.failure}"
        if used.failure
        else compared.failure and f"the tile in use could not be compared with others: {compared.failure}",
    )


def _compared(
    measurements: _Measurements, task: Task, finalists: list[Tiling | None], used: Outcome
) -> tuple[list[Tiling | None], Outcome]:
    """Return tilings and the outcome of their turns: that in use, unless it failed, and finalists.

    Without the last finalists if the trial fails with them: one may hang, or all together take too long.
    """
    compared = used
    while finalists:
        turns = finalists if used.failure else [None, *finalists]
        compared = measurements.outcomes([measurements.trial(task, turns)])[0]
        if not compared.failure:
            return turns, compared
        finalists = finalists[:-1]
    return [None], compared


def _is_worthwhile(old: Sequence[float], new: Sequence[float]) -> bool:
    """Return whether the new tiling's seconds in some turns are less than the old one's by more than the noise."""
    ratios = [a / b for a, b in zip(new, old, strict=True)]
    return statistics.median(ratios) <= _WORTHWHILE and statistics.quantiles(ratios, n=4)[2] < 1


class _Evaluations:
    """The candidates of a task that the search has tried. seconds: tiling -> its least seconds, or infinity.

    end: the spent seconds at which the search ends.
    """

    def __init__(self, task: Task, measurements: _Measurements, space: Parameters, end: float, best: float) -> None:
        self.seconds: dict[Tiling, float] = {}
        self._task, self._measurements, self._names, self._end, self._best = task, measurements, list(space), end, best

    def evaluate(self, candidates: Sequence[Values]) -> list[float] | None:
        """Return the seconds of candidates, or None if the time is over."""
        kind = COMPONENT_TYPES[self._task.kind]
        tilings = [tiling_of(dict(zip(self._names, values, strict=True)), kind) for values in candidates]
        missing = [tiling for tiling in dict.fromkeys(tilings) if tiling not in self.seconds]
        count = self._measurements.at_once
        for first in range(0, len(missing), count):
            if self._measurements.spent >= self._end:
                return None
            self._measure(missing[first : first + count])
        return [self.seconds[tiling] for tiling in tilings]

    def _measure(self, tilings: Sequence[Tiling]) -> None:
        trials = [self._measurements.trial(self._task, [tiling], self._best) for tiling in tilings]
        outcomes = self._measurements.outcomes(trials)
        self.seconds |= {tiling: outcome.best for tiling, outcome in zip(tilings, outcomes, strict=True)}
        self._best = min(self._best, *self.seconds.values())

    def fastest(self) -> list[Tiling]:
        """Return the fastest tilings, the best first."""
        valid = [tiling for tiling, seconds in self.seconds.items() if seconds < float("inf")]
        return sorted(valid, key=self.seconds.__getitem__)[:_FINALISTS]
