"""The CMake package: examples/offline is built by it, sources and includes are compiled again when they change."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "offline"
HEAD = "cmake_minimum_required(VERSION 3.20)\nproject(test LANGUAGES NONE)\nfind_package(coopmat REQUIRED)\n"
KERNEL = '#include "size.h"\nkernel void f(global int *p) { *p = SIZE; }\n'


class Project:
    """A CMake project in a folder."""

    def __init__(self, folder: Path) -> None:
        found = shutil.which("cmake")
        if found is None:
            pytest.skip("this machine has no cmake")
        self.cmake, self.source, self.build_folder = found, folder / "source", folder / "build"
        self.source.mkdir()
        program = folder / "coopmat"
        program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m coopmat "$@"\n')
        program.chmod(0o755)
        words = [sys.executable, "-m", "coopmat", "--cmake-dir"]
        directory = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()
        self.options = [f"-Dcoopmat_DIR={directory}", f"-DCOOPMAT_EXECUTABLE={program}"]

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.source / name.replace("__", ".")).write_text(text)

    def configure(self, generator: str = "Unix Makefiles") -> subprocess.CompletedProcess[str]:
        words = [self.cmake, "-S", str(self.source), "-B", str(self.build_folder), "-G", generator, *self.options]
        return subprocess.run(words, capture_output=True, text=True)

    def build(self) -> subprocess.CompletedProcess[str]:
        words = [self.cmake, "--build", str(self.build_folder)]
        return subprocess.run(words, capture_output=True, text=True)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def compiled(project: Project) -> list[str]:
    """Build, and return the sources that were compiled."""
    done = project.build()
    assert done.returncode == 0, done.stdout + done.stderr
    return re.findall(r"Compiling (\S+) by coopmat", done.stdout)


@pytest.mark.parametrize(("generator", "program"), [("Unix Makefiles", "make"), ("Ninja", "ninja")])
def test_what_changed_is_compiled_again(project: Project, generator: str, program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"this machine has no {program}")
    lists = HEAD + "coopmat_compile(kernels SOURCES a.cl b.cl OPTIONS --matrices one -DX=1 EMIT spv)\n"
    project.write(CMakeLists__txt=lists, a__cl=KERNEL, b__cl="kernel void g(global int *p) { *p = X; }\n")
    project.write(size__h="#define SIZE 1\n")
    configured = project.configure(generator)
    assert configured.returncode == 0, configured.stderr
    assert sorted(compiled(project)) == ["a.cl", "b.cl"]
    outputs = [project.build_folder / "kernels.coopmat" / f"{name}.spv" for name in "ab"]
    before = outputs[0].read_bytes()
    assert all(path.read_bytes()[:4] == b"\x03\x02\x23\x07" for path in outputs)
    assert compiled(project) == []
    project.write(size__h="#define SIZE 2\n")
    assert compiled(project) == ["a.cl"]
    assert outputs[0].read_bytes() != before
    project.write(b__cl="kernel void g(global int *p) { *p = X + 1; }\n")
    assert compiled(project) == ["b.cl"]


def test_an_error_fails_the_build(project: Project) -> None:
    project.write(CMakeLists__txt=HEAD + "coopmat_compile(kernels SOURCES a.cl)\n", a__cl="kernel void f() { x; }\n")
    assert project.configure().returncode == 0
    done = project.build()
    assert done.returncode != 0 and "'x' is not declared [undeclared-identifier]" in done.stderr


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("k", "SOURCES names no file"),
        ("k OPTION -DX SOURCES a.cl", "unknown arguments OPTION;-DX"),
        ("k SOURCES a.cl EMIT exe", "unknown kind exe for EMIT"),
        ("k SOURCES a.cl sub/a.cl", "several sources of k are named a"),
    ],
)
def test_wrong_calls(project: Project, call: str, message: str) -> None:
    project.write(CMakeLists__txt=HEAD + f"coopmat_compile({call})\n", a__cl="")
    done = project.configure()
    assert done.returncode != 0 and message in re.sub(r"\s+", " ", done.stderr)


def test_a_missing_program_is_reported(project: Project) -> None:
    project.options[1] = "-DCOOPMAT_EXECUTABLE=COOPMAT_EXECUTABLE-NOTFOUND"
    project.write(
        CMakeLists__txt=HEAD.replace("find_package", "set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH 0)\nfind_package")
    )
    done = project.configure()
    if "Compiling" in done.stdout or done.returncode == 0:
        pytest.skip("coopmat is installed beside the package")
    assert "The program coopmat was not found" in re.sub(r"\s+", " ", done.stderr)


def test_the_page_shows_the_example() -> None:
    page = (ROOT / "docs" / "howto" / "cmake.md").read_text(encoding="utf-8")
    assert f"```cmake\n{(EXAMPLE / 'CMakeLists.txt').read_text(encoding='utf-8')}```" in page
    shown = re.search(r"```c\n(.*?)```", page, re.DOTALL)
    program = (EXAMPLE / "multiply.c").read_text(encoding="utf-8")
    assert shown is not None
    for call in re.findall(r"clCreate\w+\([^;]*;|#include .*", shown[1]):
        assert call in program
