"""Small programs as users of pyopencl write them: each runs inside the hook as it stands."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import pytest

import coopmat
from coopmat.devices import DeviceInfo, opencl

PROGRAMS = sorted((Path(__file__).parent / "pyopencl_programs").glob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program_runs_inside_the_hook(
    path: Path, device: DeviceInfo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYOPENCL_CTX", device.index)
    monkeypatch.setenv("COOPMAT_CACHE_DIR", str(tmp_path))
    with warnings.catch_warnings(), coopmat.hook():
        warnings.simplefilter("ignore", opencl().CompilerWarning)
        runpy.run_path(str(path), run_name="__main__")
