"""The proof on a device: what it runs, and that it fails where one of it does."""

from __future__ import annotations

import os
from pathlib import Path

import device_proof
import pytest

from coopmat.devices import DeviceInfo


@pytest.mark.device
@pytest.mark.parametrize("name", device_proof.TYPES)
def test_products_are_right_and_have_a_speed(
    device: DeviceInfo, monkeypatch, capsys, tmp_path: Path, name: str
) -> None:
    monkeypatch.setattr(device_proof, "TILES", ((32, 32, 32),))
    monkeypatch.setattr(device_proof, "_LIBRARY", "print(1000)")
    assert device_proof.beside_the_library(("--matrices", "one"), 64, name, tmp_path)
    text = capsys.readouterr().out
    assert f"=== {name} 64^3: " in text and "the vendor's library 1000: " in text


def test_a_wrong_product_and_a_wrong_kernel_are_told(monkeypatch, capsys, tmp_path: Path) -> None:
    ran = []

    def coopmat(*words: str) -> tuple[bool, str]:
        ran.append(words)
        return words[0] == "cts", "1.0 GFLOP/s"

    monkeypatch.setattr(device_proof, "coopmat", coopmat)
    monkeypatch.setattr(device_proof, "_LIBRARY", "raise ValueError('no such library')")
    assert device_proof.main(["mma", "--device", "A100", "--wimpy"]) == 1
    jobs = ("-j", str(os.cpu_count()))
    assert ran[0] == ("cts", "--route", "mma", *jobs, "--device", "A100", "--wimpy")
    by_default = ("run", str(device_proof.KERNELS / "gemm_f16.cl"), "--device", "A100")
    assert ran.count(by_default) == 1
    assert all(words[2:6] == ("--matrices", "mma", "--device", "A100") for words in ran[1:] if words != by_default)
    assert {Path(words[1]).stem for words in ran[1:]} > {"gemm_f16", "gemm_s8", "gemm_half_64x64x32"}
    text = capsys.readouterr().out
    kernels = {words[1] for words in ran if words[0] == "run" and Path(words[1]).parent == device_proof.KERNELS}
    assert len(kernels) > 10
    assert "no such library" in text and text.endswith(f"1 of {len(kernels) + 2 + len(device_proof.TYPES)} right\n")


def test_vulkan_runs_both_routes_and_accepts_what_a_device_lacks(monkeypatch, capsys) -> None:
    ran = []

    def coopmat(*words: str, **variables: str) -> tuple[bool, str]:
        ran.append(words)
        if words[0] == "devices":
            return True, '"index": "vulkan:0"'
        refused = words[0] == "run" and Path(words[1]).stem == "gemm_fp8"
        return not refused, "error: no such type [coop-mat-target-type]" if refused else "1.0 GFLOP/s"

    monkeypatch.setattr(device_proof, "coopmat", coopmat)
    monkeypatch.setattr(device_proof, "_LIBRARY", "print(1)")
    assert device_proof.main(["vulkan", "--device", "vulkan:RADV", "--wimpy"]) == 0
    assert [words for words in ran if words[0] == "cts"] == [
        ("cts", "--route", route, "--device", "vulkan:RADV", "--wimpy") for route in ("native", "lanes")
    ]
    assert all("vulkan:RADV" in words for words in ran if words[0] == "run")
    count = len(list(device_proof.KERNELS.glob("*.cl")))
    assert capsys.readouterr().out.endswith(f"{3 * count + 7} of {3 * count + 7} right\n")


def test_vulkan_without_a_device_fails(monkeypatch, capsys) -> None:
    monkeypatch.setattr(device_proof, "coopmat", lambda *words: (True, "[]"))
    assert device_proof.main(["vulkan"]) == 1
    assert capsys.readouterr().out.endswith("0 of 1 right\n")
