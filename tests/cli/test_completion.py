"""What shells complete, asked as a shell asks, and `coopmat --version`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from coopmat.cli import app


def completed(line: str) -> list[str]:
    """Return what bash offers for the last word of a line."""
    words = line.split(" ")
    asked = {"_COOPMAT_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    call = [sys.executable, "-c", "import sys; sys.argv[0] = 'coopmat'; from coopmat.cli import main; main()"]
    child = subprocess.run(call, env={**os.environ, **asked}, capture_output=True, text=True, check=True, timeout=60)
    return [item.partition(",")[2] for item in child.stdout.splitlines() if item]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("coopmat completi", ["completion"]),
        (
            "coopmat cts spirv_matrixmuladd_s",
            ["spirv_matrixmuladd_same_c", "spirv_matrixmuladd_saturating", "spirv_matrixmuladd_stride0"],
        ),
        ("coopmat cts c_copy_", ["c_copy_stride0", "c_copy_workgroup"]),
        ("coopmat cts spirv_length", ["spirv_length"]),
        ("coopmat cts --route one,la", ["one,lanes"]),
        ("coopmat cts --wim", ["--wimpy"]),
        ("coopmat compile -Wmatrix-performance-ch", ["-Wmatrix-performance-checked"]),
        ("coopmat compile -Wno-tautological-u", ["-Wno-tautological-unsigned-zero-compare"]),
        ("coopmat compile --native-profile = ma", ["maint1"]),
        ("coopmat compile --emit l", ["launch", "ll"]),
        ("coopmat compile --fo", []),
        ("coopmat run --rep", ["--repeat"]),
    ],
)
def test_shells_complete(line, found):
    assert completed(line) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell, capsys):
    assert app.run_command(["completion", shell]) == 0
    assert "_COOPMAT_COMPLETE" in capsys.readouterr().out


def test_the_version_of_a_bug_report_names_tools_and_devices(capsys):
    assert app.run_command(["--version"]) == 0
    short = capsys.readouterr().out
    assert app.run_command(["--version", "-v"]) == 0
    long = capsys.readouterr().out
    assert long.startswith(short) and len(short.splitlines()) == 1
    for word in ("llvmlite", "SPIR-V tools", "Kernels and examples in", "OpenCL"):
        assert word in long
    assert app.run_command(["-v"]) == 2 and "needs --version" in capsys.readouterr().err
