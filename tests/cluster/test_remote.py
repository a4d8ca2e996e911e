"""Batches of the conformance runner on a cluster's workers: faults, deaths, versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="dask.distributed is not installed: the extra `cluster`")

from coopmat.cluster import dask_engine
from coopmat.cluster.dask_engine import DaskEngine
from coopmat.cts.outcome import Outcome, Results, Status
from coopmat.cts.remote import ClusterDevice
from coopmat.cts.run import run
from coopmat.cts.schedule import Settings
from coopmat.devices import DeviceInfo, list_devices
from coopmat.devices.select import resource_names


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    own = DaskEngine("local:2")
    yield own
    own.close()


def results(device: DeviceInfo, keep: Path, test: str, engine: DaskEngine | None = None) -> Results:
    settings = Settings(device.index, "one", keep=str(keep), registry="killing_operations", timeout=20)
    place = None
    if engine is not None:
        every = list_devices()
        names = {info.index: name for name, info in zip(resource_names(every), every, strict=True)}
        place = ClusterDevice(engine, names[device.index])
    return run(settings, device, tests=[test], routes=["one"], place=place)


def comparable(outcome: Outcome) -> Outcome:
    """Without times, and what a driver prints of addresses and processes."""
    return replace(outcome, seconds=0.0, directory="", log=outcome.log.split(";")[0].split("0x")[0])


def test_faults_are_those_of_a_run_here(device: DeviceInfo, engine: DaskEngine, tmp_path: Path) -> None:
    """Variants that fail, and that crash their process; their files come back."""
    for test in ("c_right", "c_wrong", "c_crash"):
        here = results(device, tmp_path / "here", test)
        there = results(device, tmp_path / "there", test, engine)
        assert list(map(comparable, there.outcomes)) == list(map(comparable, here.outcomes))
        for own, other in zip(here.failures, there.failures, strict=True):
            mine, theirs = Path(own.directory), Path(other.directory)
            assert {p.name for p in mine.iterdir()} == {
                p.name for p in theirs.iterdir()
            } and theirs.parent.name == "there"
            assert (mine / "test.cl").read_bytes() == (theirs / "test.cl").read_bytes()


def test_what_kills_its_worker_fails(device: DeviceInfo, engine: DaskEngine, tmp_path: Path) -> None:
    """Only that variant, and the others of its batch are run."""
    there = results(device, tmp_path, "c_killer", engine)
    statuses = {outcome.variant: outcome.status for outcome in there.outcomes}
    assert statuses == {"right.0": Status.PASSED, "killer": Status.FAILED, "right.1": Status.PASSED}
    (failure,) = there.failures
    assert "2 workers died while they ran this unit" in failure.log


def test_workers_of_another_version_get_no_work(engine: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    engine._await_worker("")
    monkeypatch.setattr(dask_engine, "version", lambda: "0.0.0+other")
    monkeypatch.setattr(engine, "_report", told.append)
    # A worker that another test killed may come back at any time.
    before = len(engine._client.scheduler_info(n_workers=-1)["workers"])
    assert engine.workers() == {} and engine.workers() == {}
    after = len(engine._client.scheduler_info(n_workers=-1)["workers"])
    assert 0 < before <= len(told) <= after and all(
        "gets no work: it has coopmat" in line and "this process has 0.0.0+other" in line for line in told
    )
