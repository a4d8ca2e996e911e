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

FAST, SLOW, DOT = Tiling((8, 16, 4)), Tiling((4, 16, 4), panels=("f32", "f32")), Tiling((1, 8, 8), dot=1)
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

    def seconds_of(_info: Any, _types: Any, _shape: Any, tiling: Tiling, *, trans_b: bool) -> float:
        if tiling not in seconds:
            raise rates.NotMeasured("row 0 differs from numpy's")
        return seconds[tiling]

    def tilings_of(_handle: Any, _types: Any, shape: tuple[int, ...], by: str = "") -> list[Tiling]:
        return [DOT] * (by == "dots" and shape[1] == 1) + [FAST, SLOW, FAST]

    monkeypatch.setattr(plans, "tilings_of", tilings_of)
    monkeypatch.setattr(plans, "seconds_of", seconds_of)
    monkeypatch.setattr(plans, "peak_of", lambda *_, **__: 1e9)
    monkeypatch.setattr(plans, "rates_of", lambda _: rates.Rates(1e9, 1e-6))
    return seconds


def test_the_candidate_that_gemm_takes_is_planned(device: DeviceInfo, measured: dict[Tiling, float]) -> None:
    planned = plan(device.handle, m=100, n=100, k=10)
    assert planned.tile == FAST.tile and planned.next_best is not None
    assert planned.next_best["tile"] == SLOW.tile and planned.next_best["seconds"] == 2e-3
    assert planned.fraction == pytest.approx(2e5 / 1e9 / 1e-3) and planned.limit == "instructions"
    text = str(planned)
    assert "next best    tile 4 x 16 x 4, A and B copied into panels of f32 and f32: 2000.0 us" in text
    assert "faster" not in planned.note
    measured[FAST] = 3e-3
    slower = plan(device.handle, m=100, n=100, k=10)
    assert slower.tile == FAST.tile and "the next best was faster" in slower.note


def test_a_peak_below_the_products_rate_is_measured_anew(
    device: DeviceInfo, measured: dict[Tiling, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program may have slowed down the first measurement."""
    monkeypatch.setattr(plans, "peak_of", lambda *_, anew=False: 1e9 if anew else 1e8)
    measured[FAST] = 3e-4
    assert plan(device.handle, m=100, n=100, k=10).fraction == pytest.approx(2e5 / 1e9 / 3e-4)


def test_a_plan_for_weights_by_rows_names_dot_products(device: DeviceInfo, measured: dict[Tiling, float]) -> None:
    measured[DOT] = 1e-4
    planned = plan(device.handle, m=1, n=100, k=10, trans_b=True)
    assert (planned.kernel, planned.dot, planned.instruction) == ("dot.cl", 1, "")
    text = str(planned)
    assert "gemm 1 x 100 x 10, B transposed" in text and "tile         1 x 8 x 8, with vectors by 1 work-item" in text
    assert "dot.cl: B's columns are consecutive, and the table has dot products of f32 for 1 row of A" in text
    assert planned.next_best is not None and planned.next_best["tile"] == FAST.tile
    by_rows = plan(device.handle, m=1, n=100, k=10)
    assert by_rows.kernel == "gemm.cl" and by_rows.reason.startswith("sums of B's rows are excluded")
    many = plan(device.handle, m=99, n=9, k=9, trans_b=True)
    assert many.reason == "the table has no dot products of f32 for 99 rows of A"
    # With one column, gemm takes B as by rows.
    assert plan(device.handle, m=1, n=1, k=9, trans_b=True).kernel == "gemm.cl"


def test_a_plan_measures_dot_products(device: DeviceInfo) -> None:
    words = f"plan gemm -M 1 -N 64 -K 256 --trans-b --json --device {device.index}".split()
    result = CliRunner().invoke(group, words, standalone_mode=False)
    record = json.loads(result.stdout)
    assert record["kernel"] == "dot.cl" and record["dot"] and record["trans_b"] and record["seconds"] > 0


def test_matrices_in_a_cache(device: DeviceInfo, measured: dict[Tiling, float]) -> None:
    """The main memory is no limit of a product that is faster than it."""
    assert not plan(device.handle, m=1, n=100, k=500).in_cache
    measured[FAST] = 1e-5
    planned = plan(device.handle, m=1, n=100, k=500)
    assert planned.in_cache and planned.limit == "instructions"
    assert "a cache has the matrices, so that the main memory is no limit" in str(planned)


def test_what_limits_a_product(device: DeviceInfo, measured: dict[Tiling, float]) -> None:
    measured[FAST] = 5e-3
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


def test_the_command_takes_one_type_for_both_operands(capsys: pytest.CaptureFixture[str]) -> None:
    size = ["-M", "4", "-N", "4", "-K", "4"]
    assert run_command(["plan", "gemm", *size, "--types", "f16", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["types"][:2] == ["f16", "f16"]


def test_the_command_rejects_wrong_types(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["plan", "gemm", "-M", "4", "-N", "4", "-K", "4", "--types", "f32,s8,f32"]) == 2
    assert "error: --types: a, b: f32 and s8 cannot be multiplied" in capsys.readouterr().err
    assert run_command(["plan", "gemm", "-M", "4", "-N", "4", "-K", "4", "--types", "f32,s64,f32"]) == 2
    assert "error: --types: s64 is not supported" in capsys.readouterr().err


def test_the_command_says_what_cannot_be_measured(
    device: DeviceInfo, measured: dict[Tiling, float], capsys: pytest.CaptureFixture[str]
) -> None:
    measured.clear()
    assert run_command(["plan", "gemm", "-M", "9", "-N", "9", "-K", "9", "--device", device.index]) == 1
    assert "row 0 differs from numpy's [launch]" in capsys.readouterr().err


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
