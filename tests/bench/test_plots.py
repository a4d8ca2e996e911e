"""The plots of `coopmat bench`."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from test_bench_report import MACHINE

from coopmat.bench import Result, draw, plots, require_matplotlib
from coopmat.bench.cases import Case
from coopmat.cli.app import run_command

TILES = {(8, 16): 2e-3, (8, 32): 1e-3, (16, 16): 4e-3}
RESULTS = [
    *(
        Result(Case("gemm", "f32", (1, n, n, n)), {"coopmat": [1e-6 * n], "numpy f32": [2e-6 * n]}, {})
        for n in range(1, 12)
    ),
    Result(Case("attention", "f16", (2, 3, 4)), {"numpy f32": [1e-3]}, {"coopmat": "failed"}),
]


def test_plots_are_whole_and_the_same_each_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    paths = draw(tmp_path / "new" / "plots", RESULTS, MACHINE, TILES, "gemm 1x1x1")
    stems = ("roofline", "bars-gemm-f32", "bars-attention-f16", "tiles")
    assert [path.name for path in paths] == [stem + suffix for stem in stems for suffix in (".svg", ".png")]
    again = draw(tmp_path / "again", RESULTS, MACHINE, TILES, "gemm 1x1x1")
    for path, other in zip(paths, again, strict=True):
        data = path.read_bytes()
        assert data == other.read_bytes() and len(data) > 4000
        if path.suffix == ".png":
            assert data.startswith(b"\x89PNG")
        else:
            assert b"<dc:date>" not in data and ElementTree.fromstring(data).tag.endswith("svg")


def test_svgs_have_only_greys(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for path in draw(tmp_path, RESULTS, MACHINE, TILES, "tiles"):
        if path.suffix == ".svg":
            colours = set(re.findall(r"(?:fill|stroke): #([0-9a-f]{6})", path.read_text()))
            assert colours and all(name[:2] == name[2:4] == name[4:] for name in colours), path


def test_no_heat_map_without_tiles(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert not [path for path in draw(tmp_path, RESULTS[:1], MACHINE, {}, "") if path.stem == "tiles"]


def test_missing_matplotlib_is_reported_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(plots, "find_spec", lambda name: None if name == "matplotlib" else find(name))
    assert run_command(["bench", "--plot", str(tmp_path / "plots")]) == 2
    captured = capsys.readouterr()
    assert "pip install 'coopmat[bench]'" in captured.err and captured.out == ""
    monkeypatch.undo()
    if find("matplotlib"):
        require_matplotlib()
