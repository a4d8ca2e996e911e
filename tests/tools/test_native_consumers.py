"""What the tool makes of a compiler that takes modules, refuses them, dies, or makes no matrix instructions."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import native_consumers
import pytest
from native_consumers import TARGETS, Job, TargetSetting, access, main

from coopmat.matrices.variants import COMPONENT_TYPES, Layout, MatrixType, Use
from coopmat.spirv import tools

COMPILERS = {
    "takes": "print(100, 'dpas')",
    "takes without instructions": "print('0 dpas')",
    "refuses": "sys.exit('error: no such matrix')",
    "segfaults": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "dies in a shell": "sys.exit(139)",
    "tells of itself": "print('internal compiler error'); sys.exit(245)",
}


@pytest.fixture
def run(tmp_path, capsys):
    def run(name: str, *arguments: str) -> tuple[int, str]:
        script = tmp_path / "compiler.py"
        script.write_text(f"import sys\nassert open(sys.argv[2], 'rb').read(4)\n{COMPILERS[name]}\n")
        command = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {{device}} {{file}}"
        status = main(["--command", command, "--devices", "pvc", "--jobs", "1", *arguments])
        return status, capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    ("name", "status", "told"),
    [
        ("takes", 0, "wrong: 0"),
        ("takes without instructions", 1, "instructions: pvc c_matrixmuladd_saturating"),
        (
            "refuses",
            1,
            "refused: pvc c_matrixmuladd_saturating 8x16x32.s8xs8_s32_s32.sat.sg16\n    error: no such matrix",
        ),
        ("segfaults", 1, "crash: pvc c_matrixmuladd_saturating"),
        ("dies in a shell", 1, "crash: pvc"),
        ("tells of itself", 1, "crash: pvc"),
    ],
)
def test_what_a_compiler_does_is_told(run, name, status, told):
    found, text = run(name, "c_matrixmuladd_saturating")
    assert found == status and told in text
    assert "c_matrixmuladd_saturating" in text.splitlines()[1]


def test_a_refused_access_that_the_target_lacks_is_no_fault(run):
    """Modules of OpenCL C have no such access, which goes through local memory."""
    _, text = run("refuses", "spirv_copy")
    assert "refused" in text and " lacks, " in text
    assert "pvc lacks: " in text and "load 16x16.A.16 colm" in text


def test_kernels_of_other_shapes_are_left_out(run):
    status, text = run("takes", "kernels", "--keep", "modules")
    (line,) = (line for line in text.splitlines() if line.startswith("kernels"))
    assert status == 0 and " ok" in line and " shapes" in line
    assert sorted(path.name for path in Path("modules").iterdir()) == [
        f"kernels.{name}.pvc.spv" for name in ("conv2d", "gemm_epilogue", "gemm_f16")
    ]


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_places_are_where_the_target_has_them() -> None:
    setting = object.__new__(TargetSetting)
    object.__setattr__(setting, "lacks", TARGETS["dg2-g10"].lacks)
    a, b = (
        MatrixType(COMPONENT_TYPES[name], rows, columns, use)
        for name, rows, columns, use in (("f16", 8, 16, Use.A), ("s8", 32, 8, Use.B))
    )
    assert access("load", a, Layout.COLUMN_MAJOR) == "load 8x16.A.16 colm"
    assert [setting._lacking(a, layout) for layout in (Layout.ROW_MAJOR, Layout.COLUMN_MAJOR)] == [False, True]
    assert [setting._lacking(b, layout) for layout in (Layout.ROW_MAJOR, Layout.COLUMN_MAJOR)] == [True, False]


def test_a_module_that_is_not_made_is_an_error_of_ours() -> None:
    def fail() -> bytes:
        raise tools.ToolError("nothing")

    consumer = native_consumers.Consumer((), native_consumers.re.compile("x"), Path())
    result = consumer.take(Job("c_add", "none", "pvc", fail))
    assert (result.status, result.text) == ("error", "ToolError: nothing")


def test_an_unknown_device_is_a_usage_error() -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--command", "true", "--devices", "pvc,nosuch"])
    assert caught.value.code == 2
