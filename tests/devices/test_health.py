"""Devices that cannot build anything: found out, kept, and not picked by themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opencl_devices import device_of

from coopmat.cache import CACHE_DIRECTORY, NO_CACHE
from coopmat.devices import DeviceInfo, health, list_devices, probe, require_health, select
from coopmat.diagnostics import CompileError
from coopmat.spirv.tools import disassemble, validate

FIRST = DeviceInfo(
    index="0:0",
    platform="Some OpenCL",
    name="new CPU",
    kind="CPU",
    version="OpenCL 3.0",
    driver="1",
    spirv_versions=("1.2",),
    sub_groups=True,
    sub_group_sizes=(8, 16),
    extensions=frozenset(),
    fp16=True,
    fp64=True,
    compute_units=2,
    local_memory=32768,
)
SECOND = replace(FIRST, index="1:0", name="old CPU")
SOURCE_ONLY = replace(FIRST, index="2:0", name="third CPU", spirv_versions=())
LOG = "error: unknown target CPU 'generic'"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_DIRECTORY, str(tmp_path))
    monkeypatch.delenv(NO_CACHE, raising=False)
    monkeypatch.delenv("PYOPENCL_CTX", raising=False)


@pytest.fixture
def dead(monkeypatch: pytest.MonkeyPatch) -> list[DeviceInfo]:
    """Devices that build nothing."""
    devices: list[DeviceInfo] = []
    monkeypatch.setattr(health, "build_failure", lambda device, **_: LOG if device in devices else None)
    return devices


# --- on devices as they are


def test_a_device_that_builds_has_no_failure(device: DeviceInfo) -> None:
    assert health.build_failure(device) is None
    require_health(device)


def test_a_device_that_builds_nothing_is_told_with_its_log(dead_pocl: DeviceInfo, device: DeviceInfo) -> None:
    failures = health.build_failures([device, dead_pocl])
    assert failures[0] is None and failures[1] is not None and "error: unknown" in failures[1]
    with pytest.raises(CompileError, match=r"cannot build an empty kernel(.|\n)*error: unknown"):
        require_health(dead_pocl)


@pytest.mark.parametrize("extra", ["cpu", "oclgrind"])
def test_it_is_tried_in_the_form_that_the_device_takes(extra: str) -> None:
    device = device_of(extra)
    assert health.try_empty_kernel(device, "") == ""


@pytest.mark.parametrize("bits", [32, 64])
def test_the_empty_module_is_valid(bits: int) -> None:
    assert validate(health.empty_module(bits), "opencl2.1") is None
    assert f"Physical{bits} OpenCL" in disassemble(health.empty_module(bits))


# --- whatever the answer is


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (probe.Answer(""), None),
        (probe.Answer(LOG), LOG),
        (probe.Answer(failure="the process was ended by SIGSEGV"), "the process was ended by SIGSEGV"),
        (probe.NotAsked("no process could be started"), None),
    ],
)
def test_only_an_answer_of_the_device_is_a_failure(
    answer: Any, failure: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_: object, **__: object) -> probe.Answer:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(probe, "ask", ask)
    assert health.build_failure(replace(FIRST, handle=object())) == failure


def test_a_device_known_from_a_file_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "ask", lambda *_, **__: pytest.fail("asked"))
    assert health.build_failure(FIRST) is None


def test_a_dead_device_is_not_picked(dead: list[DeviceInfo]) -> None:
    devices = [SOURCE_ONLY, FIRST, SECOND]
    assert select(None, devices) == FIRST
    dead.append(FIRST)
    assert select(None, devices) == SECOND
    dead.append(SECOND)
    assert select(None, devices) == SOURCE_ONLY


def test_a_dead_device_may_be_named(dead: list[DeviceInfo], monkeypatch: pytest.MonkeyPatch) -> None:
    dead.append(FIRST)
    assert select("new", [FIRST, SECOND]) == FIRST
    monkeypatch.setenv("PYOPENCL_CTX", "0:0")
    assert select(None, [FIRST, SECOND]) == FIRST


def test_where_all_are_dead_each_is_told(dead: list[DeviceInfo]) -> None:
    dead += [FIRST, SECOND]
    with pytest.raises(CompileError, match=r"pip install 'coopmat\[cpu\]'") as caught:
        select(None, [FIRST, SECOND])
    (item,) = caught.value.diagnostics
    assert item.code == "dead-device"
    assert [note.message for note in item.notes] == [f"{d.label} cannot build an empty kernel: {LOG}" for d in dead]


def test_those_listed_are_the_ones_asked() -> None:
    assert len(health.build_failures(list_devices())) == len(list_devices())
    assert health.build_failures([]) == []
