"""Statistics of results, and the tables."""

from __future__ import annotations

import importlib.util
import io
import statistics

import numpy as np
import pytest
from hypothesis import given, strategies as st
from rich.console import Console

from coopmat.bench import Result, installed, machine as machine_module, missing, print_results, print_summary, record
from coopmat.bench.cases import Case
from coopmat.bench.machine import Machine
from coopmat.bench.report import FASTEST, quartiles, ratio, summaries
from coopmat.cli import bench as cli
from coopmat.devices import DeviceInfo
from coopmat.linalg.rates import NotMeasured

TIMES = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=20)
MACHINE = Machine("2026-01-01T00:00:00+00:00", "a device", "1", "a CPU", "Linux", 2, {"numpy": "2"}, {"f32": 1e9}, 1e9)


def result(shape: tuple[int, ...], **seconds: list[float]) -> Result:
    return Result(Case("gemm", "f32", shape), seconds, {})


@given(TIMES)
def test_quartiles_are_numpys(values: list[float]) -> None:
    assert quartiles(values) == pytest.approx(np.quantile(values, [0.25, 0.75]))


@given(st.lists(st.tuples(st.floats(1e-6, 1e3), st.floats(1e-6, 1e3)), min_size=1, max_size=20))
def test_a_ratio_is_of_medians_and_its_spread_of_turns(pairs: list[tuple[float, float]]) -> None:
    others, own = np.array(pairs).T
    found = ratio(list(others), list(own))
    assert found.value == pytest.approx(np.median(others) / np.median(own))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(others / own, [0.25, 0.75])))
    inverse = ratio(list(own), list(others))
    assert found.value * inverse.value == pytest.approx(1)


@given(st.lists(st.tuples(*[st.floats(1e-3, 1e3)] * 3), min_size=1, max_size=8))
def test_summaries_are_numpys_means(rows: list[tuple[float, float, float]]) -> None:
    results = [
        result((1, n + 1, 1, 1), coopmat=[own], numpy=[first], torch=[second])
        for n, (own, first, second) in enumerate(rows)
    ]
    table = np.array(rows)
    expected = {"numpy": table[:, 1] / table[:, 0], "torch": table[:, 2] / table[:, 0]}
    expected[FASTEST] = np.minimum(*expected.values())
    found = {row.contender: (row.geometric_mean, row.minimum, row.minimum_at) for row in summaries(results)}
    assert list(found) == [FASTEST, "numpy", "torch"]
    for name, values in expected.items():
        mean, least, label = found[name]
        assert mean == pytest.approx(np.exp(np.log(values).mean())) and least == pytest.approx(values.min())
        assert values[int(label.partition("x")[0]) - 1] == pytest.approx(values.min())


def test_a_contender_with_fewer_turns_is_compared_in_those() -> None:
    found = ratio([4.0, 6.0], [1.0, 2.0, 3.0])
    assert found.value == statistics.median([4, 6]) / 2 and (found.low, found.high) == (3.25, 3.75)


def test_results_without_ours_have_no_ratios() -> None:
    assert result((1, 2, 2, 2), numpy=[1.0]).ratios == {}
    assert list(summaries([result((1, 2, 2, 2), numpy=[1.0])])) == []
    assert list(summaries([result((1, 2, 2, 2), coopmat=[1.0])])) == []


def test_the_tables_have_time_speed_part_and_ratio() -> None:
    shown = result((1, 100, 100, 100), coopmat=[4e-3, 8e-3, 4e-3], numpy=[6e-3, 6e-3, 6e-3])
    shown.failures["torch f32"] = "OSError: no"
    console = Console(file=io.StringIO(), width=100)
    print_results(console, [shown], MACHINE)
    print_summary(console, [shown])
    lines = [line.split() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert ["100x100x100", "coopmat", "4.00", "ms", "0", "50%"] in lines
    assert ["numpy", "6.00", "ms", "0", "33%", "1.50", "(1.12-1.50)"] in lines
    assert ["torch", "f32", "failed"] in lines and ["torch", "f32", "failed:", "OSError:", "no"] in lines
    assert ["gemm", "f32", "fastest", "other", "1.50", "1.50", "100x100x100", "1"] in lines


def test_a_summary_counts_the_shapes_on_which_a_contender_failed() -> None:
    results = [
        result((1, n, 2, 2), coopmat=[1.0], numpy=[2.0], **({"torch": [3.0]} if n > 1 else {})) for n in (1, 2, 3)
    ]
    results.append(result((1, 4, 2, 2), numpy=[2.0]))  # ours failed
    counts = {row.contender: (row.shapes, row.of_shapes) for row in summaries(results)}
    assert counts == {FASTEST: (3, 4), "numpy": (3, 4), "torch": (2, 4)}
    console = Console(file=io.StringIO(), width=100)
    print_summary(console, results)
    assert "2 of 4" in console.file.getvalue()  # type: ignore[attr-defined]
    rows = {row["contender"]: row for row in record(results, MACHINE)["summary"]}
    assert (rows["torch"]["shapes"], rows["torch"]["of_shapes"]) == (2, 4)


def test_reasons_why_bounds_are_not_measured(device: DeviceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise NotMeasured("the driver crashed")

    monkeypatch.setattr(machine_module, "peak_of", fail)
    monkeypatch.setattr(machine_module, "rates_of", fail)
    machine = machine_module.machine_of(device, 2, {"numpy": "2"}, ["f32"])
    assert machine.not_measured == dict.fromkeys(["peak of f32", "bandwidth of the memory"], "the driver crashed")
    console = Console(file=io.StringIO(), width=100)
    cli._print_machine(console, machine, ["numpy"])
    assert "peak of f32 not measured: the driver crashed" in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("packages", "expected"), [((), ["onnxruntime"]), (("onnxruntime",), ["onnx (for onnxruntime)"])]
)
def test_the_package_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, packages: tuple[str, ...], expected: list[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name in packages or None)
    assert missing(["onnxruntime"], installed(["onnxruntime"], "")) == expected
