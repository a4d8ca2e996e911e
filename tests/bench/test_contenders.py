"""The contenders: each result is compared with numpy's, in this process and in separate ones; and a small whole run."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from coopmat.bench import Result, Setup, cases_of, compare, installed, libraries
from coopmat.bench.cases import Case
from coopmat.bench.contender import Server
from coopmat.bench.libraries import Contender, contenders_of
from coopmat.bench.turns import Process
from coopmat.cli.app import run_command
from coopmat.devices import DeviceInfo

SHAPES = {
    "gemm": ["18x20x24", "3x5x7x9"],
    "gemv": ["1x40x24", "3x40x24"],
    "attention": ["2x20x16"],
    "gemm_quantized": ["3x32x64"],
    "conv2d": ["2x6x7x3x4x3", "1x6x6x4x8x1"],
}
CASES = [case for operation, shapes in SHAPES.items() for case in cases_of((operation,), (), shapes)]
CASES += cases_of(("gemm",), ("f32", "bf16"), ("18x20x24",), is_constant=True)
SETUP = Setup("", False, 2, "")


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.operation}-{case.type}-{case.label}-{case.is_constant}"
)
@pytest.mark.parametrize("library", ["numpy", "onnxruntime", "torch"])
def test_contenders_match_numpy(case: Case, library: str) -> None:
    if not installed([library], ""):
        pytest.skip(f"{library} is not installed")
    for contender in contenders_of(case, [library]):
        if contender == Contender("torch", "s8") and case.shape[0] > 1:
            continue  # PyTorch has no batches of bytes
        server = Server(library, contender.computed, SETUP)
        server.warm_up = 0
        assert server.prepare(case) == {}
        assert 0 < server.turn(0)["seconds"] < 60


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.operation}-{case.type}-{case.label}-{case.is_constant}"
)
def test_ours_matches_numpy(case: Case, device: DeviceInfo) -> None:
    server = Server("coopmat", "", Setup(device.index, False, 2, ""))
    server.warm_up = 0
    assert server.prepare(case) == {} and server.turn(0)["seconds"] > 0


@pytest.mark.slow
def test_libclblast_matches_numpy(device: DeviceInfo) -> None:
    path = installed(["libclblast"], os.environ.get("COOPMAT_TEST_CLBLAST", "")).get("libclblast")
    if path is None:
        pytest.skip("libclblast is not installed, and COOPMAT_TEST_CLBLAST names no file")
    setup = Setup(device.index, False, 2, path)
    for name in ("f32", "f16") if device.fp16 else ("f32",):
        process = Process(Contender("libclblast", name), setup)
        for case in (case for case in CASES if case.type == name and case.operation in ("gemm", "gemv")):
            assert process.ask({"case": vars(case)}) == {}
        process.close()


def test_each_type_has_its_contenders() -> None:
    def names(operation: str, name: str) -> list[str]:
        case = cases_of((operation,), (name,), ())[0]
        return [item.name for item in contenders_of(case, ["numpy", "onnxruntime", "torch", "libclblast"])]

    assert names("gemm", "f32") == ["numpy f32", "onnxruntime f32", "torch f32", "libclblast f32"]
    assert names("gemm", "bf16") == ["numpy f32", "onnxruntime f32", "torch f32", "torch bf16"]
    assert names("gemm", "s8") == ["numpy f32", "onnxruntime u8 x s8", "torch s8"]
    assert names("gemm", "u8") == ["numpy f32", "onnxruntime u8 x s8"]
    assert names("gemm_quantized", "q4_0") == ["numpy f32", "onnxruntime 4 bits", "torch f32"]
    assert names("gemm_quantized", "q8_0") == ["numpy f32", "torch f32"]


def test_wrong_results_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("gemm", "f32", (1, 8, 8, 8))
    run, result = libraries.numpy_call(case, libraries.float_inputs(case, libraries_inputs(case)), "f32", SETUP)
    monkeypatch.setitem(libraries.CALLS, "numpy", lambda *_: (run, lambda: result() + 1))  # type: ignore[index]
    with pytest.raises(ArithmeticError, match="differs from numpy's"):
        Server("numpy", "f32", SETUP).prepare(case)


def libraries_inputs(case: Case) -> Any:
    from coopmat.bench.cases import inputs_of

    return inputs_of(case)


def test_failures_of_processes_are_answers() -> None:
    process = Process(Contender("nosuch", "f32"), SETUP)
    case = {"case": vars(Case("gemm", "f32", (1, 4, 4, 4)))}
    assert process.ask(case)["failure"] == "KeyError: 'nosuch'"
    process.close()
    process.command = [sys.executable, "-c", "import sys; input(); sys.exit('broken')"]
    assert process.ask(case)["failure"] == "its process ended with the status 1: broken"
    assert process.process is None
    process.command = [sys.executable, "-c", "pass"]
    assert process.ask(case)["failure"].startswith("its process ended with the status 0")


def test_turns_go_on_without_contenders_that_fail(device: DeviceInfo) -> None:
    setup, count = Setup(device.index, False, 2, "/nowhere/libclblast.so"), []
    cases = cases_of(("gemm",), ("f32",), ("16x16x16", "8x8x8"))
    (results,) = compare(cases, ["numpy", "libclblast"], setup, 2, lambda: count.append(1))
    assert len(count) == 2 and [item.case for item in results] == cases
    for item in results:
        assert {name: len(times) for name, times in item.seconds.items()} == {"coopmat": 2, "numpy f32": 2}
        assert "libclblast.so" in item.failures["libclblast f32"] and list(item.ratios) == ["numpy f32"]


def test_a_whole_run(device: DeviceInfo, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    words = f"bench gemm --types f32 --shapes 24x32x16 --turns 1 --against numpy --device {device.index}".split()
    assert run_command([*words, "--json", str(file)]) == 0
    out = capsys.readouterr().out
    assert "24x32x16" in out and "fastest other" in out and f"{device.compute_units} threads" in out
    record = json.loads(file.read_text())
    keys = (
        "schema date device driver processor system threads versions peaks bandwidth not_measured results summary tiles"
    )
    assert list(record) == keys.split() and record["schema"] == 1 and record["tiles"] == []
    assert record["versions"].keys() == {"coopmat", "python", "numpy"} and record["peaks"]["f32"] > 0
    (row,) = record["results"]
    case = {"operation": "gemm", "type": "f32", "shape": [1, 24, 32, 16], "is_causal": False, "is_constant": False}
    assert row["case"] == case and row["failures"] == {} and row["flop"] == 2 * 24 * 32 * 16
    (own,), (other,) = row["seconds"]["coopmat"], row["seconds"]["numpy f32"]
    assert row["ratios"] == {"numpy f32": dict.fromkeys(("value", "low", "high"), pytest.approx(other / own))}
    assert [(line["contender"], line["minimum_at"]) for line in record["summary"]] == [
        ("fastest other", "24x32x16"),
        ("numpy f32", "24x32x16"),
    ]
    assert Result(Case(**{**case, "shape": (1, 24, 32, 16)}), row["seconds"], {}).medians["coopmat"] == own


def test_unknown_libraries_are_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["bench", "--against", "numpi"]) == 2
    assert "'numpi' is not one of numpy" in capsys.readouterr().err


def test_files_are_checked_before_the_measurements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["bench", "gemm", "--json", str(tmp_path / "none" / "times.json")]) == 2
    assert f"--json: there is no directory {tmp_path / 'none'}" in capsys.readouterr().err
    assert run_command(["bench", "gemm", "--json", str(tmp_path)]) == 2
    assert "is a directory" in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert run_command(["bench", "gemm", "--plot", str(tmp_path / "file")]) == 2
    assert "is a file" in capsys.readouterr().err
