"""Runs of tuning with simulated trials: budgets, decisions, journals, and runs that are killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_run
import pytest

from coopmat.linalg.parameters import Tiling, table, tilings_of
from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.options import UsageError
from coopmat.tuning import Task, Trial
from coopmat.tuning.trials import Done, Outcome

pytest.importorskip("kernel_tuner", reason="kernel_tuner is not installed: the extra `tune`")
ONE_TASK = fake_run.TASKS[:1]


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    fake_run.pretend(tmp_path, monkeypatch.setattr)
    yield tmp_path
    table.cache_clear()


def start(directory: Path, delay: float = 0.0) -> subprocess.Popen[str]:
    command = [sys.executable, fake_run.__file__, str(directory), "80", str(delay)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_run_that_is_killed_and_continues_ends_like_one_without_interruption(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    report = json.loads(start(whole).communicate(timeout=60)[0])
    for lines in (12, 50):  # in the first task, and in the second
        process = start(killed, delay=0.02)
        while not (killed / "journal").is_file() or (killed / "journal").read_bytes().count(b"\n") < lines:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        process.wait()
        assert not (killed / "one.json").is_file()
    before = (killed / "journal").read_bytes().count(b"\n")
    assert 50 <= before < 80
    assert json.loads(start(killed).communicate(timeout=60)[0]) == report
    tables = [json.loads((path / "one.json").read_text())["gemm"] for path in (whole, killed)]
    assert tables[0] == tables[1] and tables[0].keys() == {"f32", "f64"}
    assert not (killed / "journal").exists()


def test_no_trial_of_the_journal_is_repeated(directory: Path) -> None:
    performed: list[Trial] = []

    def run(trials: Sequence[Trial], done: Done) -> None:
        if len(performed) == 30:
            raise KeyboardInterrupt
        performed.extend(trials)
        fake_run.perform(trials, done)

    with pytest.raises(KeyboardInterrupt):
        fake_run.tune(directory, 80, run=run)
    first, performed[:] = set(performed), []
    fake_run.tune(directory, 80, run=lambda trials, done: (performed.extend(trials), fake_run.perform(trials, done))[1])
    keys = {replace(trial, best=0) for trial in first}
    assert len(keys) == 30 and performed and not keys & {replace(trial, best=0) for trial in performed}


def test_the_budget_is_divided_among_the_tasks(directory: Path) -> None:
    rows = fake_run.tune(directory, 80).rows
    # The tiling in use takes a second, and so does the comparison. The search ends after 85 % of 40 seconds, and of the
    # other 45.
    assert [row.trials for row in rows] == [33, 38]
    assert all(0 < row.failed < 20 for row in rows)


def test_the_best_tiling_that_was_tried_is_written(directory: Path) -> None:
    tried: list[Tiling] = []

    def run(trials: Sequence[Trial], done: Done) -> None:
        tried.extend(trial.tilings[0] for trial in trials if len(trial.tilings) == 1 and trial.tilings[0])
        fake_run.perform(trials, done)

    report = fake_run.tune(directory, 100, ONE_TASK, run)
    row = report.rows[0]
    valid = [tiling for tiling in tried if not fake_run.outcome(Trial((), "f32", row.shape, (tiling,))).failure]
    best = min(valid, key=fake_run.seconds_of)
    assert row.new == best and row.new_seconds == fake_run.seconds_of(best) and row.old_seconds == 1.5e-3
    assert row.gain == pytest.approx(1.5e-3 / fake_run.seconds_of(best)) and report.is_written
    f32 = COMPONENT_TYPES["f32"]
    assert tilings_of(None, (f32, f32), row.shape)[0] == replace(best, sub_group_size=0)
    text = str(report)
    assert "x".join(map(str, best.tile)) in text and str(report.table) in text
    assert json.loads(json.dumps(report.to_record()))["rows"][0]["gain"] == row.gain


def compare(old: Sequence[float], new: Sequence[float]) -> Any:
    """Return the function that performs trials in which a new tiling has these seconds in turns with the old one."""

    def run(trials: Sequence[Trial], done: Done) -> None:
        for number, trial in enumerate(trials):
            seconds = [old if tiling is None else new for tiling in trial.tilings]
            done(number, Outcome(tuple(map(tuple, seconds))))

    return run


@pytest.mark.parametrize(
    ("old", "new", "is_written"),
    [
        ([10.0] * 8, [9.0] * 8, True),
        ([10.0] * 8, [9.9] * 8, False),  # a gain of 1 %
        ([10.0, 14.0, 10.0, 11.0] * 2, [9.0, 9.5, 9.0, 9.1] * 2, True),
        ([10.0] * 8, [8.0, 8.0, 8.0, 9.7, 9.7, 10.4, 10.4, 10.4], False),  # slower in three of eight turns
        ([10.0] * 8, [11.0] * 8, False),
    ],
)
def test_a_tiling_is_written_if_it_is_faster_by_more_than_the_noise(
    directory: Path, old: list[float], new: list[float], is_written: bool
) -> None:
    report = fake_run.tune(directory, 10, ONE_TASK, compare(old, new))
    assert report.is_written == is_written == (directory / "one.json").is_file()
    assert (report.rows[0].new is not None) == is_written and (report.rows[0].gain > 1) == is_written
    assert ("no faster tile" in str(report)) != is_written


def test_if_the_tiling_in_use_fails_another_replaces_it(directory: Path) -> None:
    def run(trials: Sequence[Trial], done: Done) -> None:
        for number, trial in enumerate(trials):
            is_used = None in trial.tilings
            done(number, Outcome(failure="row 0 differs from numpy's") if is_used else fake_run.outcome(trial))

    row = fake_run.tune(directory, 40, ONE_TASK, run).rows[0]
    assert row.new is not None and row.old_seconds is None and "row 0 differs" in row.failure


def test_if_every_trial_fails_nothing_is_written(directory: Path) -> None:
    def run(trials: Sequence[Trial], done: Done) -> None:
        for number in range(len(trials)):
            done(number, Outcome(failure="the process ended by SIGSEGV"))

    report = fake_run.tune(directory, 20, ONE_TASK, run)
    assert not report.is_written and report.rows[0].failed == report.rows[0].trials > 0
    assert "the tile in use failed: the process ended by SIGSEGV" in str(report)


def test_tiles_on_the_list_deny_are_not_tried(directory: Path) -> None:
    best = fake_run.tune(directory, 60, ONE_TASK).rows[0].new
    assert best is not None
    (directory / "one.json").write_text(json.dumps({"schema": 2, "gemm": {}, "deny": [list(best.tile)]}))
    table.cache_clear()
    other = fake_run.tune(directory, 60, ONE_TASK).rows[0].new
    assert other is not None and other.tile != best.tile
    assert json.loads((directory / "one.json").read_text())["deny"] == [list(best.tile)]


def test_the_journals_of_different_tasks_are_different(directory: Path) -> None:
    from coopmat.tuning import journal_for

    paths = {
        journal_for(fake_run.DEVICE, tasks).path for tasks in (ONE_TASK, fake_run.TASKS, [Task("s8", (1, 1, 1, 1))])
    }
    assert len(paths) == 3 and paths == {
        journal_for(fake_run.DEVICE, tasks).path for tasks in (ONE_TASK, fake_run.TASKS, [Task("s8", (1, 1, 1, 1))])
    }


@pytest.mark.parametrize(("budget", "lists"), [(0.01, {}), (80, {"allow": [[12, 32, 4]]})])
def test_without_finalists_nothing_is_written(directory: Path, budget: float, lists: Any) -> None:
    (directory / "one.json").write_text(json.dumps({"schema": 2, "gemm": {}, **lists}))
    report = fake_run.tune(directory, budget, ONE_TASK)
    assert not report.is_written and report.rows[0].new is None and not report.rows[0].failure
    assert not (directory / "journal").exists()


def test_the_time_may_end_in_a_small_space(directory: Path) -> None:
    report = fake_run.tune(directory, 8, [Task("s8", (1, 32, 8, 8))])
    assert report.rows[0].trials < 10


def test_two_shapes_of_one_row_are_an_error(directory: Path) -> None:
    with pytest.raises(UsageError, match=r"999x999x99 and 2000x999x99 .class large"):
        fake_run.tune(directory, 80, [*ONE_TASK, Task("f32", (1, 2000, 999, 99))])


def test_a_finalist_that_hangs_in_the_comparison_is_left_out(directory: Path) -> None:
    def run(trials: Sequence[Trial], done: Done) -> None:
        for number, trial in enumerate(trials):
            done(number, Outcome(failure="hung") if len(trial.tilings) > 2 else fake_run.outcome(trial))

    row = fake_run.tune(directory, 80, ONE_TASK, run).rows[0]
    assert row.new is not None and row.new_seconds < row.old_seconds and not row.failure
