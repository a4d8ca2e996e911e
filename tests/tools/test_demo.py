"""The demonstration fails where anything is wrong, unchecked or not validated."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from opencl_devices import spirv_device

from coopmat import compiler

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("demo", ROOT / "tools" / "demo.py")
demo = importlib.util.module_from_spec(_spec)
sys.modules["demo"] = demo  # dataclasses look their module up
_spec.loader.exec_module(demo)

KERNEL = """\
// run: kernel=scale global=8 a=i32[8]:range
// check: a == 3 * a
kernel void scale(global int *a) { a[get_global_id(0)] *= 3; }
"""


@pytest.fixture
def run(tmp_path):
    spirv_device()

    def run(*sources: str):
        paths = []
        for number, source in enumerate(sources):
            paths.append(tmp_path / f"k{number}.cl")
            paths[-1].write_text(source)
        return CliRunner().invoke(demo.main, [str(path) for path in paths])

    return run


def rows(result):
    return {line.split("  ")[0]: line for line in result.stdout.splitlines()[2:] if line}


def test_a_right_kernel_is_a_row_of_the_table(run):
    result = run(KERNEL)
    assert result.exit_code == 0, result.output
    assert rows(result)["scale"].count("ok, max error 0") == 3
    assert "validated" in rows(result)["scale"] and "NOT" not in rows(result)["scale"]
    assert "1 of 1 right" in result.stdout


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (KERNEL.replace("3 * a", "4 * a"), "WRONG"),
        (KERNEL.replace("// check: a == 3 * a\n", ""), "not checked"),
        (KERNEL.replace("*= 3", "*= nosuch"), "FAILED: undeclared-identifier"),
        (KERNEL.replace("// run:", "// walk:").replace("// check:", ""), "no '// run:' line"),
    ],
)
def test_one_bad_kernel_fails_the_whole(run, source, told):
    result = run(KERNEL, source)
    assert result.exit_code == 1
    assert told in result.stdout and "1 of 2 right" in result.stdout


def test_a_module_that_was_not_validated_is_never_called_so(run, monkeypatch):
    monkeypatch.setattr(compiler.Module, "validate", lambda self: None)
    result = run(KERNEL)
    assert result.exit_code == 1
    assert "NOT validated" in rows(result)["scale"]


def test_no_kernels_is_not_a_success(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "KERNELS", tmp_path)
    assert CliRunner().invoke(demo.main, []).exit_code == 1


def test_an_unknown_device_is_told(run):
    result = CliRunner().invoke(demo.main, ["--device", "nosuch"])
    assert result.exit_code == 1 and "no OpenCL device fits 'nosuch'" in result.stderr


def test_rows_come_as_they_finish_and_all_has_further_runs(run, monkeypatch, tmp_path):
    (tmp_path / "quick.cl").write_text(KERNEL + KERNEL.split("kernel void")[0].replace("// run:", "// run: -w", 1))
    (tmp_path / "slow.cl").write_text(KERNEL)
    monkeypatch.setattr(demo, "KERNELS", tmp_path)
    monkeypatch.setattr(demo, "SLOW", ("slow",))
    written: list[str] = []
    monkeypatch.setattr(demo, "print_row", lambda texts: written.append(texts[0]))
    monkeypatch.setattr(demo, "attempt", lambda make, *arguments: demo.Cell(f"after {len(written)} rows", True))
    for arguments, count in (([], 1), (["--all"], 3)):
        written.clear()
        result = CliRunner().invoke(demo.main, arguments)
        assert result.exit_code == 0 and f"{count} of {count} right" in result.stdout, result.output
        assert len(written) == 2 + count
