"""Questions to a device in a process of its own: what comes back whatever becomes of the process, and what is kept."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coopmat.cache import CACHE_DIRECTORY, NO_CACHE
from coopmat.devices import DeviceInfo, list_devices, probe


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_DIRECTORY, str(tmp_path / "cache"))
    monkeypatch.delenv(NO_CACHE, raising=False)


@pytest.fixture(scope="module")
def any_device() -> DeviceInfo:
    """A question needs no device that can build anything."""
    found = list_devices()
    if not found:
        pytest.skip("no OpenCL device: pip install 'coopmat[cpu]'")
    return found[0]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "log"
    path.write_text("")
    yield path


# --- what is called in the process


def tell(device: DeviceInfo, argument: str) -> list[Any]:
    """Notes that it was called, and what it was called with."""
    with Path(argument).open("a") as file:
        file.write("called\n")
    os.write(1, b"a driver that prints\n")
    return [device.name, device.handle is not None]


def refuse(device: DeviceInfo, argument: str) -> None:
    raise ValueError(f"not {argument}")


def crash(device: DeviceInfo, argument: str) -> None:
    os.write(2, b"first\nlast words\n")
    os.kill(os.getpid(), signal.SIGKILL)  # drivers handle others


def leave(device: DeviceInfo, argument: str) -> None:
    os._exit(3)


def hang(device: DeviceInfo, argument: str) -> None:
    time.sleep(600)


def question(call: Any) -> str:
    return f"{__name__}:{call.__name__}"


# --- the tests


def test_it_is_asked_once_and_kept(any_device: DeviceInfo, log: Path) -> None:
    assert probe.known(any_device, question(tell), str(log)) is None
    answers = [probe.ask(any_device, question(tell), str(log)) for _ in range(2)]
    assert answers == [probe.Answer([any_device.name, True])] * 2
    assert log.read_text() == "called\n"
    assert probe.known(any_device, question(tell), str(log)) == answers[0]
    assert probe.ask(any_device, question(tell), str(log), anew=True) == answers[0]
    assert log.read_text() == "called\n" * 2


def test_without_a_cache_it_is_asked_once_a_process(
    any_device: DeviceInfo, log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(NO_CACHE, "1")
    for _ in range(2):
        assert probe.ask(any_device, question(tell), str(log)).value == [any_device.name, True]
    assert log.read_text() == "called\n" and not (tmp_path / "cache").exists()


def test_what_decides_the_answer_decides_the_key(
    any_device: DeviceInfo, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe.ask(any_device, question(tell), str(log))
    for changed in ({"driver": "another"}, {"version": "another"}, {"platform": "another"}, {"name": "another"}):
        assert probe.known(replace(any_device, **changed), question(tell), str(log)) is None
    with monkeypatch.context() as patch:
        patch.setattr(probe, "processor", lambda: ("another",))
        assert probe.known(any_device, question(tell), str(log)) is None
    with monkeypatch.context() as patch:
        patch.setenv("POCL_EXTRA_BUILD_FLAGS", "-w")
        assert probe.known(any_device, question(tell), str(log)) is None
    assert probe.known(any_device, question(tell), str(log)) is not None


@pytest.mark.parametrize(
    ("call", "failure"),
    [
        (refuse, "not here"),
        (crash, "the process was ended by SIGKILL; last words"),
        (leave, "the process ended with 3"),
        (hang, "the process did not end within 4 s"),
    ],
)
def test_whatever_becomes_of_the_process_is_an_answer(any_device: DeviceInfo, call: Any, failure: str) -> None:
    limit = 4.0 if call is hang else probe.TIME_LIMIT
    answer = probe.ask(any_device, question(call), "here", time_limit=limit)
    assert answer == probe.Answer(None, failure)
    assert probe.known(any_device, question(call), "here") == answer


def test_a_question_that_does_not_reach_the_device_is_none(any_device: DeviceInfo) -> None:
    absent = replace(any_device, name="absent")
    for device, function in ((absent, question(refuse)), (any_device, "no_such_module:call")):
        with pytest.raises(probe.NotAsked, match=r"is not listed here|no_such_module"):
            probe.ask(device, function)
        assert probe.known(device, function) is None


def test_the_working_directory_does_not_matter(
    any_device: DeviceInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(7)\n")
    monkeypatch.chdir(tmp_path)
    assert probe.ask(any_device, question(refuse), "here").failure == "not here"
