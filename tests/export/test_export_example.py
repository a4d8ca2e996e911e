"""examples/gemm_library.c, built as docs/linalg.md says: by CMake, and by a compiler with pkg-config."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from c_library import compiler, loader

from coopmat.devices import DeviceInfo
from coopmat.export import Library, header_text
from coopmat.layer import library as layer
from coopmat.linalg.listing import Listing
from coopmat.runtime.ahead import AheadTarget

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.device


@pytest.fixture(scope="module")
def text(device: DeviceInfo) -> str:
    return header_text(Library.of(AheadTarget.of(device, code="c"), [Listing.of(("f16",))]), "gemm")


def _run(program: Path, device: DeviceInfo) -> None:
    for sizes in ((100, 90, 80), (16, 300, 1)):
        line = [str(program), device.platform, *map(str, sizes)]
        done = subprocess.run(line, capture_output=True, text=True, timeout=600)
        assert " 0 of " in done.stdout and " x ".join(map(str, sizes)) in done.stdout, done
        assert done.returncode == 0
    assert subprocess.run([str(program), "no such platform"], capture_output=True).returncode == 2


def test_cmake_builds_the_example(text: str, device: DeviceInfo, tmp_path: Path) -> None:
    cmake = compiler("cmake")
    compiler("gcc")
    build = tmp_path / "build"
    build.mkdir()
    (build / "gemm.h").write_text(text)
    where = [f"-DOpenCL_INCLUDE_DIR={layer.INCLUDE}", f"-DOpenCL_LIBRARY={loader()}"]
    configure = [cmake, "-S", str(ROOT / "examples"), "-B", str(build), *where, "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"]
    subprocess.run(configure, check=True, capture_output=True)
    subprocess.run([cmake, "--build", str(build), "--target", "gemm_library"], check=True, capture_output=True)
    _run(build / "gemm_library", device)


def test_the_command_with_pkg_config(text: str, device: DeviceInfo, tmp_path: Path) -> None:
    compiler("gcc")
    compiler("pkg-config")
    page = (ROOT / "docs" / "linalg.md").read_text(encoding="utf-8")
    found = re.search(r"^    cc (.*gemm_library\.c.*)$", page, re.MULTILINE)
    assert found
    (tmp_path / "OpenCL.pc").write_text(
        f"Name: OpenCL\nDescription: a loader\nVersion: 3.0\nCflags: -I{layer.INCLUDE}\n"
        f"Libs: {loader()} -Wl,-rpath,{Path(loader()).parent}\n"
    )
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "gemm.h").write_text(text)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(tmp_path)}
    subprocess.run(f"{shlex.quote(compiler('gcc'))} {found[1]}", shell=True, check=True, cwd=tmp_path, env=environment)
    _run(tmp_path / "build" / "gemm_library", device)
