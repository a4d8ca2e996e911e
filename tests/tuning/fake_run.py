"""A run of tuning whose trials and clock are simulated: `python fake_run.py DIRECTORY BUDGET DELAY`.

A trial sleeps DELAY seconds, and takes one second of the budget. The seconds of a tiling depend only on the tiling.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from coopmat.devices.query import from_mapping
from coopmat.linalg import parameters
from coopmat.linalg.parameters import Tiling
from coopmat.tuning import Journal, Report, Row, Task, Trial, tuner
from coopmat.tuning.trials import Done, Outcome, Run

TASKS = (Task("f32", (1, 999, 999, 99)), Task("f64", (1, 99, 99, 99)))
DEVICE = from_mapping({}, "nothing")


def seconds_of(tiling: Tiling | None) -> float:
    """Return the simulated seconds; the tiling in use is faster than most."""
    return 1.5e-3 if tiling is None else 1e-3 * (1 + zlib.crc32(repr(tiling).encode()) % 1000 / 500)


def outcome(trial: Trial) -> Outcome:
    """Fail for one of five tilings; otherwise return the seconds of five turns."""
    if len(trial.tilings) == 1 and zlib.crc32(repr(trial.tilings).encode()) % 5 == 0 and trial.tilings[0]:
        return Outcome(failure="row 0 differs from numpy's")
    return Outcome(tuple((seconds_of(tiling),) * 5 for tiling in trial.tilings))


def perform(trials: Sequence[Trial], done: Done, delay: float = 0.0) -> None:
    for number, trial in enumerate(trials):
        time.sleep(delay)
        done(number, outcome(trial))


def pretend(directory: Path, patch: Callable[[Any, str, Any], None] = setattr) -> None:
    """Make each device one of the route "one", each trial take a second, and the user's tables be in the directory."""
    clock = itertools.count()
    patch(tuner, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    for module in (parameters, tuner):
        patch(module, "user_directory", lambda: directory)
        patch(module, "route_of", lambda _: "one")
    parameters.table.cache_clear()


def tune(directory: Path, budget: float, tasks: Sequence[Task] = TASKS, run: Run = perform) -> Report:
    return tuner.tune(DEVICE, tasks, budget, Journal(directory / "journal"), run=run)


def described(rows: Sequence[Row]) -> Any:
    return json.loads(json.dumps([[row.cells(), row.failed] for row in rows]))


if __name__ == "__main__":
    pretend(Path(sys.argv[1]))
    report = tune(Path(sys.argv[1]), float(sys.argv[2]), run=partial(perform, delay=float(sys.argv[3])))
    print(json.dumps(described(report.rows)))
