"""Programs in C that know OpenCL and nothing of coopmat: how tests compile and run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from stub_application import preload

from coopmat.layer import library


def loader() -> Path:
    """Return an OpenCL loader that programs can be linked with: that beside Intel's runtime, or the system's."""
    places = (Path(sys.prefix) / "lib", *map(Path, ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")))
    found = [place / "libOpenCL.so.1" for place in places if (place / "libOpenCL.so.1").exists()]
    if not found:
        pytest.skip("there is no OpenCL loader to link with")
    return found[0]


def compile_program(compiler: str, source: Path, path: Path) -> Path:
    """Compile a C program to `path`, and return this path. If the compiler is not installed, skip the test."""
    found = shutil.which(compiler) or shutil.which(f"{compiler}-19")
    if found is None:
        pytest.skip(f"this machine has no {compiler}")
    own = loader()
    command = [found, "-O2", "-Wall", "-Wextra", "-Werror", f"-I{library.INCLUDE}", "-o", str(path), str(source)]
    # Intel's loader needs libraries of Intel's compiler beside it.
    libraries = [str(own), f"-Wl,-rpath,{own.parent}", "-Wl,--allow-shlib-undefined", "-lm"]
    subprocess.run([*command, *libraries], check=True, capture_output=True)
    return path


def run_program(program: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program that `compile_program` compiled, with additional environment variables."""
    others = [os.environ[name] for name in ("LD_LIBRARY_PATH",) if os.environ.get(name)]
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join([str(loader().parent), *others]), **preload(), **variables}
    return subprocess.run([str(program), *arguments], env=environment, capture_output=True, text=True, timeout=600)
