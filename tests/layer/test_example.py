"""examples/gemm.c, which knows nothing of coopmat: built by each C compiler, with the layer and without."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coopmat.devices import DeviceInfo, opencl
from coopmat.layer import library

EXAMPLES = Path(__file__).parents[2] / "examples"


def loader() -> Path:
    """An OpenCL loader that programs can be linked with: that beside Intel's runtime, or the system's."""
    places = (Path(sys.prefix) / "lib", *map(Path, ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")))
    path = next((path for place in places if (path := place / "libOpenCL.so.1").exists()), None)
    if path is None:
        pytest.skip("there is no OpenCL loader to link with")
    return path


@pytest.fixture(scope="module", params=["gcc", "clang"])
def gemm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = next((path for name in (request.param, f"{request.param}-19") if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"this machine has no {request.param}")
    path = tmp_path_factory.mktemp("examples") / "gemm"
    include = next(source for source in library.sources()).parent.parent / "include"
    own = loader()
    command = [found, "-O2", "-Wall", "-Wextra", "-Werror", f"-I{include}", "-o", str(path), str(EXAMPLES / "gemm.c")]
    # Intel's loader needs libraries of Intel's compiler beside it.
    libraries = [str(own), f"-Wl,-rpath,{own.parent}", "-Wl,--allow-shlib-undefined", "-lm"]
    subprocess.run([*command, *libraries], check=True, capture_output=True)
    return path


def run(gemm: Path, platform: str, **variables: str) -> subprocess.CompletedProcess[str]:
    own = loader().parent
    others = [os.environ[name] for name in ("LD_LIBRARY_PATH",) if os.environ.get(name)]
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join([str(own), *others]), **variables}
    return subprocess.run([str(gemm), platform], env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("route", ["", "one", "lanes", "scratch"])
def test_gemm_is_right_with_the_layer(gemm: Path, layer: library.LayerLibrary, device: DeviceInfo, route: str) -> None:
    done = run(gemm, device.platform, OPENCL_LAYERS=str(layer.path), COOPMAT_ROUTE=route)
    assert " 0 of 6144 components wrong" in done.stdout, done
    assert done.returncode == 0


def test_gemm_says_that_the_extension_is_missing(gemm: Path, device: DeviceInfo) -> None:
    done = run(gemm, device.platform, OPENCL_LAYERS="")
    assert done.returncode == 2 and "cl_khr_cooperative_matrix" in done.stderr


def test_gemm_is_right_on_oclgrind(gemm: Path, layer: library.LayerLibrary, tmp_path: Path) -> None:
    """A device that only takes OpenCL C."""
    libraries = Path(opencl().__file__).parent / ".libs"
    found = next(iter(libraries.glob("oclgrind.icd")), None)
    if found is None:
        pytest.skip("Oclgrind is not in this Python environment")
    (tmp_path / "oclgrind.icd").write_text(f"{libraries / found.read_text().strip()}\n")
    done = run(gemm, "Oclgrind", OPENCL_LAYERS=str(layer.path), OCL_ICD_VENDORS=f"{tmp_path}{os.sep}")
    assert " 0 of 6144 components wrong" in done.stdout, done
