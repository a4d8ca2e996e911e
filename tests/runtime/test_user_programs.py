"""What a user's Python program shows: warnings at its lines, reprs, short tracebacks, and hints."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.devices.query import describe

GEMM = (Path(__file__).parents[2] / "kernels" / "gemm_f16.cl").read_text()
SIZES = "-DM=16 -DN=16 -DK=16"


@pytest.fixture
def context(device: DeviceInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("COOPMAT_CACHE_DIR", str(tmp_path))
    return opencl().Context([device.handle])


def test_compile_issues_warnings_and_remarks_at_the_users_line() -> None:
    with pytest.warns(coopmat.CompilerWarning, match="variable 'u' is never used") as caught:
        module = coopmat.compile("kernel void f() { int u; }", "-Wall")
    assert caught[0].filename == __file__ and "kernel void f()" in str(caught[0].message)
    assert str(module.diagnostics[0]) == "<source>:1:23: warning: variable 'u' is never used [unused-variable]"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        coopmat.compile("kernel void f() { int u; }", "-Wall -w").spirv  # noqa: B018
        module = coopmat.compile(GEMM, f"{SIZES} -Rpass=matrix --matrices one")
    with pytest.warns(coopmat.CompilerWarning, match="remark: .* multiply-add") as caught:
        module.spirv  # noqa: B018 - remarks are made with the code
    assert caught[0].filename == __file__
    assert pickle.loads(pickle.dumps(module)).spirv == module.spirv


@pytest.mark.device
def test_a_build_issues_warnings_and_remarks_at_the_users_line(context: Any) -> None:
    for _ in range(2):  # compiled, and from the cache
        with pytest.warns(opencl().CompilerWarning, match="remark: .* multiply-add") as caught:
            coopmat.Program(context, GEMM).build(f"{SIZES} -Rpass=matrix")
        assert caught[0].filename == __file__ and issubclass(caught[0].category, coopmat.CompilerWarning)


@pytest.mark.device
def test_reprs(context: Any) -> None:
    assert repr(coopmat.compile(GEMM, SIZES)) == "<coopmat.Module of <source>: cl, matrices native, kernels gemm_f16>"
    program = coopmat.Program(context, GEMM)
    assert repr(program) == "<coopmat.Program of <program source>, not built>"
    program.build(SIZES)
    label = describe(context.devices[0]).label
    assert f"kernels gemm_f16, built for {label} (" in repr(program)
    assert repr(program.gemm_f16).startswith("<coopmat Kernel gemm_f16(global const half * a, ")
    assert label in repr(program.gemm_f16)


@pytest.mark.device
def test_a_device_of_a_context_has_its_numbers(device: DeviceInfo) -> None:
    assert describe(device.handle).label == device.label and device.index


def test_tracebacks_of_notebooks_have_the_users_lines_only() -> None:
    with pytest.raises(coopmat.CompileError) as caught:
        coopmat.compile("kernel void f() { x; }")
    lines = caught.value._render_traceback_()
    assert [line for line in lines if line.startswith("  File")] == [
        f'  File "{__file__}", line {caught.traceback[0].lineno + 1}, in {caught.traceback[0].name}'
    ]
    assert "CompileError: <source>:1:19: error: 'x' is not declared [undeclared-identifier]" in lines
    for kind in (coopmat.BuildError, coopmat.UsageError):
        assert hasattr(kind, "_render_traceback_")


@pytest.mark.device
def test_a_file_name_is_no_source(context: Any) -> None:
    with pytest.raises(coopmat.UsageError, match=r"give a path, pathlib.Path\('gemm.cl'\)"):
        coopmat.compile("gemm.cl")
    with pytest.raises(coopmat.CompileError, match=r"give a path, pathlib.Path\('a/gemm.cl'\)"):
        coopmat.Program(context, "a/gemm.cl").build()


@pytest.mark.device
def test_misspelled_options_are_our_usage_errors(context: Any) -> None:
    with pytest.raises(coopmat.CompileError, match=r"unknown option '--matrix'; did you mean '--matrices'\? \[usage\]"):
        coopmat.Program(context, GEMM).build("--matrix lanes")
