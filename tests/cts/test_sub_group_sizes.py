"""Variants in the subgroups that a device runs them in, where it chooses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coopmat.cts import executors
from coopmat.cts.execution import Refused, Runner
from coopmat.cts.outcome import Outcome, Status
from coopmat.cts.profile import profile_for
from coopmat.cts.schedule import Batch, Settings
from coopmat.devices import DeviceInfo, probe
from coopmat.devices.query import REQUIRED_SUB_GROUP_SIZE
from coopmat.devices.sub_groups import kernel_size


@pytest.fixture
def untold(device: DeviceInfo) -> DeviceInfo:
    return replace(device, sub_group_sizes=(), extensions=device.extensions - {REQUIRED_SUB_GROUP_SIZE})


@pytest.fixture
def runner(untold: DeviceInfo, tmp_path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.setattr(probe, "ask", lambda *_: probe.Answer([8]))
    return Runner(Settings(untold.index, "lanes", selection="wimpy", keep=str(tmp_path)), untold)


def test_a_profile_has_the_sizes_that_a_kernel_had(untold: DeviceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    for found, sizes in (([8], {8}), ([], {16})):
        monkeypatch.setattr(probe, "ask", lambda *_, found=found: probe.Answer(found))
        assert {size for _, size in profile_for(untold, "lanes", wimpy=True).multiply_adds} == sizes


@pytest.mark.parametrize(("test", "count"), [("c_length", 2), ("c_matrixmuladd", 1), ("spirv_matrixmuladd", 2)])
def test_variants_are_made_again_for_the_size_that_their_kernels_have(
    test: str, count: int, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernels say 16 where they are made for 8, and what is made for 16 is launched, and right."""
    asked: list[tuple[int, ...]] = []

    def size(kernel: Any, device: DeviceInfo, local: tuple[int, ...]) -> int:
        asked.append(local)
        return 16 if local == (8,) else kernel_size(kernel, device, local)

    monkeypatch.setattr(executors, "kernel_size", size)
    found = outcomes(runner, test, count)
    assert [outcome.status for outcome in found] == [Status.PASSED] * count, found
    assert all(".sg8" in outcome.variant for outcome in found)
    assert asked.count((8,)) == count
    assert sum(local[0] % 16 == 0 for local in asked) == count, "each was launched in subgroups of 16"


@pytest.mark.parametrize(("size", "told"), [(0, "in subgroups of 0"), (32, "compiled for subgroups of 32")])
def test_kernels_that_no_size_fits_fail_with_the_reason(
    size: int, told: str, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "kernel_size", lambda kernel, device, local: size if local == (8,) else 64)
    (outcome,) = outcomes(runner, "c_length", 1)
    assert outcome.status is Status.FAILED
    assert told in outcome.log and "internal error" not in outcome.log


def test_kernels_of_several_sizes_are_tried_alone(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = iter((8, 16))
    monkeypatch.setattr(executors, "kernel_size", lambda *_: next(sizes))
    with pytest.raises(Refused):
        outcomes(runner, "c_length", 2)


def outcomes(runner: Runner, test: str, count: int) -> list[Outcome]:
    items = tuple(list(runner.catalogue.items(test, "lanes"))[:count])
    found: list[Outcome] = []
    runner.run(Batch(test.partition("_")[0], "lanes", 8, items), found.append)
    return found
