"""`coopmat.linalg.plan` and `coopmat plan`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from coopmat.cli.app import group, run_command
from coopmat.devices import DeviceInfo
from coopmat.linalg import plan, plans, rates
from coopmat.linalg.parameters import Tiling
from coopmat.matrices.variants import COMPONENT_TYPES

FAST, SLOW = Tiling((8, 16, 4)), Tiling((4, 16, 4))
F32 = tuple(COMPONENT_TYPES["f32"] for _ in range(4))


def test_a_plan_predicts_what_is_measured(device: DeviceInfo) -> None:
    planned = plan(device.handle, m=96, n=80, k=64)
    again = rates.seconds_of(device, F32, (1, 96, 80, 64), Tiling(planned.tile, planned.block, 0, planned.panels))
    assert planned.seconds == pytest.approx(again)  # from the cache
    assert 0 < planned.fraction < 2 and planned.lower_bounds[planned.limit] == max(planned.lower_bounds.values())
    assert planned.shape_class == "small" and planned.types == ("f32", "f32", "f32")
    text = str(planned)
    assert "gemm 96 x 80 x 64" in text and f"limit        {planned.limit}" in text


def test_the_command_prints_the_plan(device: DeviceInfo) -> None:
    words = f"plan gemm -M 96 -N 80 -K 64 --device {device.index}".split()
    planned = plan(device.handle, m=96, n=80, k=64)
    result = CliRunner().invoke(group, [*words, "--json"], standalone_mode=False)
    assert json.loads(result.stdout) == json.loads(json.dumps(planned.to_record()))
    assert CliRunner().invoke(group, words, standalone_mode=False).stdout.rstrip("\n") == str(planned)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> dict[Tiling, float]:
    """Replace the measurements: tiling -> its seconds. The peak is 1e9 a second, memory 1e9, a launch 1e-6 s."""
    seconds: dict[Tiling, float] = {FAST: 1e-3, SLOW: 2e-3}

    def seconds_of(_info: Any, _types: Any, _shape: Any, tiling: Tiling) -> float:
        if tiling not in seconds:
            raise rates.NotMeasured("row 0 differs from numpy's")
        return seconds[tiling]

    monkeypatch.setattr(plans, "tilings_of", lambda *_: [FAST, SLOW, FAST])
    monkeypatch.setattr(plans, "seconds_of", seconds_of)
    monkeypatch.setattr(plans, "peak_of", lambda *_: 1e9)
    monkeypatch.setattr(plans, "rates_of", lambda _: rates.Rates(1e9, 1e-6))
    return seconds


def test_the_faster_candidate_is_chosen(device: DeviceInfo, measured: dict[Tiling, float]) -> None:
    planned = plan(device.handle, m=100, n=100, k=10)
    assert planned.tile == FAST.tile and planned.next_best is not None
    assert planned.next_best["tile"] == SLOW.tile and planned.next_best["seconds"] == 2e-3
    assert planned.fraction == pytest.approx(2e5 / 1e9 / 1e-3) and planned.limit == "instructions"
    measured[FAST] = 3e-3
    assert plan(device.handle, m=100, n=100, k=10).tile == SLOW.tile


def test_what_limits_a_product(device: DeviceInfo, measured: dict[Tiling, float]) -> None:
    assert plan(device.handle, m=1, n=1, k=1).limit == "launch"
    assert plan(device.handle, m=1, n=500, k=500).limit == "memory"
    assert plan(device.handle, m=500, n=500, k=500, batch=3).limit == "instructions"


def test_candidates_that_fail_are_left_out(device: DeviceInfo, measured: dict[Tiling, float]) -> None:
    del measured[FAST]
    planned = plan(device.handle, m=9, n=9, k=9)
    assert planned.tile == SLOW.tile and planned.next_best is None
    del measured[SLOW]
    with pytest.raises(rates.NotMeasured, match="row 0 differs from numpy's"):
        plan(device.handle, m=9, n=9, k=9)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"m": 0}, ValueError, "m: expected a positive integer, not 0"),
        ({"k": 2.5}, ValueError, "k: expected a positive integer, not 2.5"),
        ({"operation": "gem"}, ValueError, "operation: gem is not supported"),
        ({"types": ("f32",)}, ValueError, "types: expected those of A, B and C, not 1"),
        ({"types": ("f32", "s64", "f32")}, TypeError, "types: s64 is not supported"),
        ({"types": ("f32", "s8")}, TypeError, "f32 and s8 cannot be multiplied"),
    ],
)
def test_wrong_arguments(device: DeviceInfo, changes: dict[str, Any], error: type[Exception], text: str) -> None:
    arguments: dict[str, Any] = {"m": 4, "n": 4, "k": 4, **changes}
    with pytest.raises(error, match=text):
        plan(device.handle, **arguments)


def test_the_command_rejects_wrong_types(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["plan", "gemm", "-M", "4", "-N", "4", "-K", "4", "--types", "f32,s8,f32"]) == 2
    assert "a, b: f32 and s8 cannot be multiplied" in capsys.readouterr().err


def test_the_note_names_a_tile_that_the_user_excludes(
    device: DeviceInfo, measured: dict[Tiling, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "excludes" not in plan(device.handle, m=9, n=9, k=9).note
    monkeypatch.setattr(
        plans, "rows_of", lambda *_, with_excluded: [{"tile": [8, 16, 4] if with_excluded else [4, 16, 4]}]
    )
    assert plan(device.handle, m=9, n=9, k=9).note.endswith(
        "; the user's table excludes the tile 8 x 16 x 4 (allow, deny)"
    )
