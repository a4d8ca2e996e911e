"""Units of work on dask.distributed: in workers of this machine, which come, die and have other devices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import units

pytest.importorskip("distributed", reason="dask.distributed is not installed: the extra `cluster`")

from coopmat.cluster import Failed, Lost, engine_for
from coopmat.cluster.dask_engine import DaskEngine
from coopmat.cluster.identity import VERSION, Identity, LabDevice, version
from coopmat.devices import DeviceInfo
from coopmat.options import UsageError


@pytest.fixture(scope="module")
def engine() -> Iterator[DaskEngine]:
    own = engine_for("local:2")
    assert isinstance(own, DaskEngine)
    yield own
    own.close()


def results(engine: DaskEngine, function: Any, given: list[Any], **options: Any) -> list[Any]:
    found: dict[int, Any] = {}
    engine.run(function, given, found.__setitem__, **options)
    return [found[number] for number in range(len(given))]


def test_each_unit_has_its_result(engine: DaskEngine) -> None:
    assert results(engine, units.square, list(range(40))) == [n * n for n in range(40)]
    assert results(engine, units.square, [3, 4], is_isolated=True) == [9, 16]
    assert len(set(results(engine, units.process, list(range(12))))) == 2


def test_only_the_unit_that_kills_is_lost(engine: DaskEngine, tmp_path: Path) -> None:
    found = results(engine, units.mortal, list(range(1, 10)))
    assert isinstance(found[6], Lost) and "SIGKILL" in found[6].reason
    assert [result for result in found if not isinstance(result, Lost)] == [1, 2, 3, 4, 5, 6, 8, 9]
    assert isinstance(results(engine, units.raising, [5])[0], Failed)
    path = str(tmp_path / "once")
    assert results(engine, units.mortal_once, [path]) == [path]


def test_a_unit_that_kills_workers_is_lost(engine: DaskEngine) -> None:
    found = results(engine, units.mortal, [1, 7, 2, 3, 4, 5], is_isolated=True)
    assert isinstance(found[1], Lost) and "2 workers died while they ran this unit" in found[1].reason
    assert [result for result in found if not isinstance(result, Lost)] == [1, 2, 3, 4, 5]


def test_own_workers_print_no_errors_of_connections(capfd: pytest.CaptureFixture[str]) -> None:
    """A scheduler that ends between two messages of a worker is no error of a run."""
    own = engine_for("local:1")  # started here, as workers write to the standard error of their start
    assert isinstance(own, DaskEngine)
    try:
        assert results(own, units.logging_an_error, [1, 2], is_isolated=True) == [1, 2]
    finally:
        own.close()
    assert capfd.readouterr().err == ""


def test_a_device_that_nobody_has(engine: DaskEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coopmat.cluster.dask_engine._WORKER", 0.5)
    with pytest.raises(UsageError, match="no worker with abacus"):
        results(engine, units.square, [1], device="device:abacus")


def test_only_hosts_with_the_same_device_and_driver_get_work(device: DeviceInfo) -> None:
    """The resource name is that of the platform, which other hosts have for other devices and drivers."""
    name = "device:intel"
    others = [replace(device, driver="another"), replace(device, name="another")]
    identities = {
        f"tcp://host{number}:1": Identity("", version(), (LabDevice(name, info),))
        for number, info in enumerate([others[0], device, others[1]])
    }
    submitted: list[list[str] | None] = []
    facts = {
        address: {"resources": {VERSION + version(): 1.0, name: 1.0}, "host": f"host{number}"}
        for number, address in enumerate(identities)
    }
    client = SimpleNamespace(
        scheduler_info=lambda **_: {"workers": facts},
        run=lambda _function, workers: {address: identities[address] for address in workers},
        submit=lambda *_given, workers, **_words: submitted.append(workers),
    )
    engine = object.__new__(DaskEngine)
    engine.__dict__ |= {"_client": client, "_own": None, "_refused": set(), "_hosts": ()}
    assert engine._slots(name) == 3
    assert engine.restrict(device) == name and engine._slots(name) == 1
    engine._submitted(units.square, 1, name, True)
    assert submitted == [["host1"]]
    # A worker that is restarted has another port.
    facts["tcp://host1:2"] = facts.pop("tcp://host1:1")
    assert engine._slots(name) == 1
    identities["tcp://host1:2"] = identities.pop("tcp://host1:1")
    with pytest.raises(UsageError, match=r"the cluster has no worker with .* and its driver, a third"):
        engine.restrict(replace(device, driver="a third"))


def test_a_restricted_engine_works_after_deaths(device: DeviceInfo) -> None:
    own = DaskEngine("local:1")
    try:
        resource = own.restrict(device)
        found = results(own, units.mortal, [1, 7, 2], device=resource, is_isolated=True)
        assert [found[0], found[2]] == [1, 2] and isinstance(found[1], Lost)
    finally:
        own.close()


def test_clusters_that_there_are_not() -> None:
    for text in ("local:", "local:0", "local:-1", "local:two", "local:99999"):
        with pytest.raises(UsageError, match="a number of workers"):
            engine_for(text)
