"""The sizes of subgroups on devices that do not tell them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest
from test_devices import GPU

from coopmat.cli.devices import as_dict
from coopmat.devices import DeviceInfo, list_devices, probe, route_for, sub_groups
from coopmat.devices.query import REQUIRED_SUB_GROUP_SIZE

UNTOLD = replace(GPU, sub_group_sizes=(), handle=object())


@pytest.mark.parametrize(
    ("ask", "most", "found"),
    [
        (lambda local: 8, 1024, [8]),
        (lambda local: min(local, 32), 1024, [32]),
        (lambda local: 128 if local >= 128 else 64, 1024, [128]),
        (lambda local: local, 1024, []),  # a work-group is one subgroup, however large
        (lambda local: 0, 1024, []),
        (lambda local: 8, 32, [8]),
        (lambda local: 64, 64, [64]),
    ],
)
def test_a_habit_is_what_holds_for_work_groups_of_several_sizes(ask: Callable[[int], int], most: int, found: list[int]):
    def within_limits(local: int) -> int:
        assert 0 < local <= most
        return ask(local)

    assert sub_groups.habit(within_limits, most) == found


def test_a_device_that_tells_its_sizes_is_not_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(probe, "ask", lambda *_: pytest.fail("asked"))
    assert sub_groups.sub_group_sizes(GPU) == (8, 16)
    assert sub_groups.sub_group_sizes(replace(UNTOLD, sub_groups=False)) == ()
    assert sub_groups.sub_group_sizes(replace(UNTOLD, handle=None)) == ()


def raising(*_: object) -> probe.Answer:
    raise probe.NotAsked("no process")


@pytest.mark.parametrize(
    ("answer", "sizes", "usual"),
    [
        (lambda *_: probe.Answer([8]), (8,), 8),
        (lambda *_: probe.Answer([32, 64]), (32, 64), 32),
        (lambda *_: probe.Answer([8, 16, 32]), (8, 16, 32), 16),
        (lambda *_: probe.Answer([]), (), 16),
        (lambda *_: probe.Answer(failure="the process was ended by SIGSEGV"), (), 16),
        (raising, (), 16),
    ],
)
def test_a_kernel_tells_what_a_device_does_not(
    answer: Callable[..., probe.Answer], sizes: tuple[int, ...], usual: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(probe, "ask", answer)
    assert sub_groups.sub_group_sizes(UNTOLD) == sizes
    assert sub_groups.usual_size(UNTOLD) == usual
    assert route_for(UNTOLD).matrices == ("lanes" if 16 in sizes else "one")


def test_what_was_measured_is_listed_and_said_to_be_not_told(monkeypatch: pytest.MonkeyPatch):
    from coopmat.cli import devices

    monkeypatch.setattr(probe, "ask", lambda *_: probe.Answer([8]))
    assert devices._describe_sizes(UNTOLD) == "8 (not reported; measured by a kernel)"
    found = as_dict(replace(UNTOLD, handle=None, sub_groups=False))
    assert found["sub_group_sizes"] == [] and found["sub_group_sizes_told"] is False
    assert devices._describe_sizes(GPU) == "8, 16"
    monkeypatch.setattr(probe, "ask", lambda *_: probe.Answer(failure="dead"))
    assert devices._describe_sizes(UNTOLD) == "not reported"


def test_a_vendor_tells_what_runs_in_step_where_opencl_has_no_subgroups(monkeypatch: pytest.MonkeyPatch):
    """On NVIDIA's devices, which refuse every question about subgroups."""
    monkeypatch.setattr(sub_groups, "opencl", lambda: pytest.fail("asked"))
    monkeypatch.setattr(sub_groups, "raw_device_info", lambda handle, parameter: {0x4003: b"\x20\0\0\0"}[parameter])
    monkeypatch.setattr(sub_groups.sys, "byteorder", "little")
    warps = replace(UNTOLD, sub_groups=False, extensions=frozenset({"cl_nv_device_attribute_query"}))
    assert sub_groups.kernel_size(None, warps, (64,)) == 32
    assert [sub_groups.kernel_count(None, warps, size) for size in ((32,), (33,), (16, 4))] == [1, 2, 2]


def test_who_chooses_the_size():
    assert sub_groups.chooses_size(GPU)
    assert not sub_groups.chooses_size(replace(GPU, extensions=GPU.extensions | {REQUIRED_SUB_GROUP_SIZE}))


# --- in the process of its own: with a pyopencl that is made for it


class RefusedQuery(Exception):
    """As pyopencl's errors."""


@dataclass
class FakeKernel:
    program: Any
    name: str

    def get_work_group_info(self, query: str, device: object) -> int:
        return 256

    def get_sub_group_info(self, device: object, query: str, local: list[int]) -> int:
        assert query == "size" and len(local) == 1
        if self.program.size is None:
            raise RefusedQuery
        return int(self.program.size)


def fake_opencl(size: int | None) -> SimpleNamespace:
    program = SimpleNamespace(size=size, build=lambda options, devices: None)
    return SimpleNamespace(
        Context=lambda devices: None,
        Kernel=FakeKernel,
        Error=RefusedQuery,
        _cl=SimpleNamespace(_Program=lambda context, source: program),
        kernel_sub_group_info=SimpleNamespace(MAX_SUB_GROUP_SIZE_FOR_NDRANGE="size"),
        kernel_work_group_info=SimpleNamespace(WORK_GROUP_SIZE="most"),
    )


WARP, WAVEFRONT, MULTIPLE = 0x4003, 0x4043, 0x1067


@pytest.mark.parametrize(
    ("size", "extensions", "told", "found"),
    [
        (8, (), {}, [8]),
        (8, ("cl_nv_device_attribute_query",), {WARP: 32}, [8]),  # the kernel knows better
        (None, ("cl_nv_device_attribute_query",), {WARP: 32, MULTIPLE: 64}, [32]),
        (None, ("cl_amd_device_attribute_query",), {WAVEFRONT: 64}, [64]),
        (None, (), {WARP: 32, WAVEFRONT: 64}, []),  # numbers that mean something else there
        (None, (), {MULTIPLE: 16}, [16]),
        (None, (), {MULTIPLE: 1}, []),
    ],
)
def test_a_kernel_that_cannot_be_asked_leaves_the_vendors_queries(
    size: int | None,
    extensions: tuple[str, ...],
    told: dict[int, int],
    found: list[int],
    monkeypatch: pytest.MonkeyPatch,
):
    def raw(handle: object, parameter: int) -> bytes:
        return told[parameter].to_bytes(4, "little") if parameter in told else b""

    monkeypatch.setattr(sub_groups, "opencl", lambda: fake_opencl(size))
    monkeypatch.setattr(sub_groups, "raw_device_info", raw)
    monkeypatch.setattr(sub_groups.sys, "byteorder", "little")
    assert sub_groups.measure(replace(UNTOLD, extensions=frozenset(extensions))) == found


def test_a_real_device_is_measured_as_if_it_did_not_tell():
    device = next((d for d in list_devices() if d.sub_group_sizes), None)
    if device is None:
        pytest.skip("no device tells its subgroup sizes: pip install 'coopmat[cpu]'")
    untold: DeviceInfo = replace(device, sub_group_sizes=())
    found = sub_groups.sub_group_sizes(untold)
    assert set(found) <= set(device.sub_group_sizes)
    assert list(found) == sub_groups.measure(untold)
