"""The measurements of products with quantized weights: all contenders compute the same, whatever their speed."""

from __future__ import annotations

import bench_quantized
import numpy as np
import pytest

from coopmat.devices import DeviceInfo

SPEC = {"format": "q4_0", "rows": 8, "device": None, "threads": 1, "options": ["-w"], "tile": [16, 8, 32]}


@pytest.mark.parametrize("contender", ["kernel", "kernel before", "half weights", "numpy decodes", "numpy decoded"])
def test_contenders_agree(contender: str, device: DeviceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_quantized, "SIDE", 64)
    before = bench_quantized.KERNELS / "gemm_q4_0.cl"
    options = ["-w", "-DT=half"]
    product = bench_quantized.Product({**SPEC, "before": str(before), "options": options, "device": device.index})
    run, result = product.call(contender)
    run()
    expected = product.x.astype(np.float32) @ product.decoded()
    assert expected.shape == (8, 64) and np.abs(expected).max() > 0.05
    assert np.abs(result() - expected).max() <= 5e-3 * np.abs(expected).max()


def test_a_report_has_ratios_to_the_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    bench_quantized.report({"kernel": [0.001, 0.001, 0.001], "numpy": [0.002, 0.003, 0.004]})
    _, line = capsys.readouterr().out.splitlines()
    assert line.split()[:5] == ["numpy", "3.000", "ms", "kernel", "3.00"]
