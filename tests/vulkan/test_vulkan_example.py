"""examples/gemm_vulkan.c, built by gcc with a module that this package compiles, and run on a Vulkan driver."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "gemm_vulkan.c"


def build(where: Path, options: list[str], defines: list[str]) -> Path:
    """Compile the kernel and the program into a folder, and return the program. Skips where a tool is missing."""
    gcc = shutil.which("gcc") or pytest.skip("gcc is not installed")
    header = subprocess.run([gcc, "-E", "-"], input=b"#include <vulkan/vulkan.h>", capture_output=True)
    if header.returncode:
        pytest.skip("the headers of Vulkan are not installed (libvulkan-dev)")
    source = str(EXAMPLE.with_suffix(".cl"))
    words = ["compile", source, *defines, "--target-env", "vulkan1.3", *options, "--emit", "header"]
    line = [sys.executable, "-m", "coopmat", *words, "-o", str(where / "gemm_vulkan.h")]
    subprocess.run(line, check=True, capture_output=True)
    program = where / "gemm_vulkan"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{where}", *defines]
    subprocess.run([gcc, *flags, str(EXAMPLE), "-o", str(program), "-lvulkan"], check=True, capture_output=True)
    return program


@pytest.mark.parametrize("route", ["native", "lanes"])
def test_the_example_multiplies(route: str, tmp_path: Path) -> None:
    lanes = ["--matrices", "lanes", "--sub-group-size", "8"]
    options, defines = (lanes, ["-DTILE=8", "-DLANES=1"]) if route == "lanes" else ([], ["-DTILE=8"])
    program = build(tmp_path, options, defines)
    environment = {**os.environ, "LP_NATIVE_VECTOR_WIDTH": "256"}
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, env=environment)
    if done.returncode == 2:
        pytest.skip(f"the program finds no device: {(done.stdout + done.stderr).strip()}")
    assert done.returncode == 0 and done.stdout.endswith("C of 32 x 48: 0 wrong\n"), done


def test_a_missing_device_is_told(tmp_path: Path) -> None:
    program = build(tmp_path, [], ["-DTILE=8"])
    done = subprocess.run([str(program), "no such device"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "no " in done.stderr


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 250
