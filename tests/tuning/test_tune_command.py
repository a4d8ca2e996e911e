"""`coopmat tune` with real trials on a device, in spaces of few candidates."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from coopmat.cli.app import group, run_command
from coopmat.devices import DeviceInfo
from coopmat.linalg.parameters import Tiling, route_of, table, tilings_of
from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.tuning import Trial, run_here, trials, tuner

pytest.importorskip("kernel_tuner", reason="kernel_tuner is not installed: the extra `tune`")
F32 = COMPONENT_TYPES["f32"]
GOOD, BAD = (4, 16, 4), (1, 16, 1)


@pytest.fixture
def bad_table(directory: Path, device: DeviceInfo, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's table, with a slow tile for small products. The space has this tile and faster ones."""
    if device.kind != "CPU":
        pytest.skip("the candidates of this test are those of CPUs")
    sizes = {"m": (1, 4), "n": (16,), "k": (1, 4), "panels": (0,)}
    space = sizes | dict.fromkeys(("rows", "columns", "depth", "size"), (0,))
    monkeypatch.setattr(tuner, "parameters", lambda *_: space)
    monkeypatch.setattr(tuner, "restriction", lambda *_: lambda _values: True)
    directory.mkdir(parents=True)
    path = directory / f"{route_of(device.handle)}.json"
    path.write_text(json.dumps({"schema": 2, "gemm": {"f32": {"small": {"tile": list(BAD)}}}}))
    yield path
    trials.close()


def test_the_command_finds_a_faster_tile(bad_table: Path, device: DeviceInfo) -> None:
    words = f"tune gemm --shapes 128x128x128 --budget 60s --device {device.index} --json".split()
    result = CliRunner().invoke(group, words, standalone_mode=False)
    assert result.exception is None, result.output
    record = json.loads(result.stdout)
    row = record["rows"][0]
    assert row["failed"] == 0 and row["trials"] == 4 and row["shape"] == [1, 128, 128, 128]
    assert row["old"]["tile"] == list(BAD) and row["new"]["tile"] != list(BAD) and row["gain"] > 1.1
    assert row["gain"] == pytest.approx(row["old_seconds"] / row["new_seconds"])
    assert record["table"] == str(bad_table) and record["is_written"]
    written = json.loads(bad_table.read_text())
    assert written["gemm"]["f32"]["small"] == [{"tile": row["new"]["tile"]}]
    assert device.name in written["measured"] and device.driver in written["measured"]
    table.cache_clear()
    assert list(tilings_of(device.handle, (F32, F32), (1, 128, 128, 128))[0].tile) == row["new"]["tile"]
    assert not list(bad_table.parent.glob("tuning-*"))


def outcomes(given: list[Trial]) -> list[Any]:
    found: dict[int, Any] = {}
    run_here(given, found.__setitem__)
    return [found[number] for number in range(len(given))]


def test_trials_that_fail_cost_only_themselves(bad_table: Path, device: DeviceInfo) -> None:
    identity, shape = tuple(device.identity), (1, 64, 64, 64)
    too_large = Tiling((4, 16, 4), (1 << 12, 1 << 12, 4), 1)  # more local memory than there is
    given = [
        Trial(identity, "f32", shape, (Tiling(GOOD),)),
        Trial(identity, "f32", shape, (too_large,)),
        Trial(("no", "such", "device", ""), "f32", shape, (Tiling(GOOD),)),
        Trial(identity, "s8", shape, (None, Tiling(GOOD))),
    ]
    right, local, missing, turns = outcomes(given)
    assert 0 < right.best < 1 and not right.failure
    assert local.failure and not local.seconds and local.best == float("inf")
    assert missing.failure == "LookupError: no such device  is not listed on this machine"
    assert len(turns.seconds) == 2 and len(turns.seconds[0]) == len(turns.seconds[1]) >= 7


def test_a_trial_that_hangs_or_dies_is_ended(
    bad_table: Path, device: DeviceInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = Trial(tuple(device.identity), "f32", (1, 64, 64, 64), (Tiling(GOOD),))
    trials.close()
    monkeypatch.setattr(trials, "_pool", None)
    monkeypatch.setattr(trials, "_LIMIT", 0.05)  # less than the start of a process
    assert outcomes([trial])[0].failure == "no result within 0.05 seconds"
    monkeypatch.setattr(trials, "_pool", None)
    monkeypatch.setattr(trials, "_LIMIT", 60.0)
    assert 0 < outcomes([trial])[0].best < 1
    assert trials._pool is not None
    os.kill(trials._pool._processes[0].process.pid, signal.SIGKILL)
    killed, right = outcomes([trial, trial])
    assert killed.failure == "the process ended by SIGKILL" and 0 < right.best < 1


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("--types f32,f33", "f33 is not supported"),
        ("--shapes 12x12", "'12x12' is no shape MxNxK or BATCHxMxNxK"),
        ("--shapes 0x1x1", "'0x1x1' is no shape"),
        ("--budget 5d", "'5d' is no duration"),
        ("--budget 0m", "'0m' is no duration"),
        ("--resume", "no run with these shapes, types and this device was interrupted"),
        ("--cluster nowhere", "invalid cluster address 'nowhere'"),
    ],
)
def test_wrong_arguments(
    words: str, text: str, directory: Path, device: DeviceInfo, capsys: pytest.CaptureFixture[str]
) -> None:
    if "cluster" in words:
        pytest.importorskip("distributed", reason="dask.distributed is not installed: the extra `cluster`")
    assert run_command(["tune", "gemm", "--device", device.index, *words.split()]) == 2
    assert text in capsys.readouterr().err


@pytest.mark.slow
def test_a_cluster_performs_trials(bad_table: Path, device: DeviceInfo) -> None:
    pytest.importorskip("distributed", reason="dask.distributed is not installed: the extra `cluster`")
    words = f"tune gemm --shapes 128x128x128 --budget 60s --device {device.index} --cluster local:1 --json".split()
    result = CliRunner().invoke(group, words, standalone_mode=False)
    assert result.exception is None, result.output
    row = json.loads(result.stdout)["rows"][0]
    assert row["trials"] == 4 and row["failed"] == 0 and row["gain"] > 1.1
