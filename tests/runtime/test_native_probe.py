"""Native matrices that a device does not tell of: tried apart, kept, and taken for what was right."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from coopmat.cache import CACHE_DIRECTORY, NO_CACHE
from coopmat.devices import DeviceInfo, probe
from coopmat.diagnostics import CompileError
from coopmat.matrices.supported import parse_variants
from coopmat.options import CompileOptions
from coopmat.runtime import native_probe
from coopmat.runtime.launch import compile_for

GOOD, BAD, SLOW = parse_variants("16x16x64.s8xs8_s32_s32 8x16x64.s8xs8_s32_s32 16x16x16.f16xf16_f32_f32")
SOURCE = b"""
#define M(R, C, U) coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##U)
typedef char A __attribute__((M(ROWS, 64, A)));
kernel void f(global char *p) { A m = coop_mat_load(p, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 64); }
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_DIRECTORY, str(tmp_path))
    monkeypatch.delenv(NO_CACHE, raising=False)


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Processes that end as they would on a device with one of the multiply-adds."""
    names: list[str] = []

    def run(command: list[str], **others: Any) -> subprocess.CompletedProcess[str]:
        names.append(command[-1])
        if command[-1] == SLOW.name:
            raise subprocess.TimeoutExpired(command, 1, probe._BEGUN.encode())
        right = command[-1] == GOOD.name
        said = f"{probe._BEGUN}\n" + f'{probe._SAID}"right"\n' * right
        return subprocess.CompletedProcess(command, 0 if right else -6, said, "Abort\n")

    monkeypatch.setattr(probe.subprocess, "run", run)
    return names


def test_each_is_tried_once_and_kept(device: DeviceInfo, tried: list[str]) -> None:
    candidates = (GOOD, BAD, SLOW)
    assert native_probe.proven(device, candidates) == () and not tried
    answers = native_probe.probe(device, candidates)
    assert [answer.right for answer in answers] == [True, False, False]
    assert "SIGABRT" in answers[1].text and "Abort" in answers[1].text and "end within" in answers[2].text
    assert native_probe.probe(device, candidates) == answers and tried == [v.name for v in candidates]
    assert native_probe.proven(device, candidates) == (GOOD,)


def test_only_what_was_right_is_taken(device: DeviceInfo, tried: list[str]) -> None:
    native_probe.probe(device, (GOOD, BAD))
    options = CompileOptions.from_arguments(["--matrices", "native", "-DROWS=16"])
    assert compile_for(SOURCE, options, device, name="f.cl").options.variants == (GOOD.name,)
    options = CompileOptions.from_arguments(["--matrices", "native", "-DROWS=8"])
    with pytest.raises(CompileError, match="16x64"):
        compile_for(SOURCE, options, device, name="f.cl")


def test_a_device_without_any_survives_the_attempt(device: DeviceInfo) -> None:
    """In the process of its own, on the device as it is: whatever comes out, it is an answer."""
    (answer,) = native_probe.probe(device, (SLOW,))
    assert answer.right or answer.text
