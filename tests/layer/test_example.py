"""examples/gemm.c, which knows nothing of coopmat: built by each C compiler, with the layer and without."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from c_programs import compile_program, run_program

from coopmat.devices import DeviceInfo, opencl
from coopmat.layer import library

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module", params=["gcc", "clang"])
def gemm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(request.param, EXAMPLES / "gemm.c", tmp_path_factory.mktemp("examples") / "gemm")


@pytest.mark.parametrize("route", ["", "one", "lanes", "scratch"])
def test_gemm_is_right_with_the_layer(gemm: Path, layer: library.LayerLibrary, device: DeviceInfo, route: str) -> None:
    done = run_program(gemm, device.platform, OPENCL_LAYERS=str(layer.path), COOPMAT_ROUTE=route)
    assert " 0 of 6144 components wrong" in done.stdout, done
    assert done.returncode == 0


def test_gemm_says_that_the_extension_is_missing(gemm: Path, device: DeviceInfo) -> None:
    done = run_program(gemm, device.platform, OPENCL_LAYERS="")
    assert done.returncode == 2 and "cl_khr_cooperative_matrix" in done.stderr


def test_gemm_is_right_on_oclgrind(gemm: Path, layer: library.LayerLibrary, tmp_path: Path) -> None:
    """A device that only takes OpenCL C."""
    libraries = Path(opencl().__file__).parent / ".libs"
    found = next(iter(libraries.glob("oclgrind.icd")), None)
    if found is None:
        pytest.skip("Oclgrind is not in this Python environment")
    (tmp_path / "oclgrind.icd").write_text(f"{libraries / found.read_text().strip()}\n")
    done = run_program(gemm, "Oclgrind", OPENCL_LAYERS=str(layer.path), OCL_ICD_VENDORS=f"{tmp_path}{os.sep}")
    assert " 0 of 6144 components wrong" in done.stdout, done
