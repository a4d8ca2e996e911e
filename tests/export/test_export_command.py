"""`coopmat export`: its options and diagnostics."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_header import WITHOUT

from coopmat.cli.app import run_command
from coopmat.runtime.ahead import AheadTarget


@pytest.fixture
def info(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "info").write_text(WITHOUT)
    return "--device-info=info"


def test_names_begin_with_the_files_name(info: str) -> None:
    assert run_command(["export", "gemm", info, "--types", "f16", "-o", "products.h"]) == 0
    text = Path("products.h").read_text()
    assert "cl_int products_f16(" in text and "PRODUCTS_IMPLEMENTATION" in text and "gemm_library" not in text
    assert run_command(["export", "gemm", info, "--types", "f16", "-o", "products.h", "--name", "lib"]) == 0
    assert "cl_int lib_f16(" in Path("products.h").read_text()


def test_b_may_be_transposed(info: str) -> None:
    assert run_command(["export", "gemm", info, "--types", "f16", "--trans-b", "-o", "gemm.h"]) == 0
    assert "B is n x k" in Path("gemm.h").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--types", "f17"], "--types f17: f17 is not supported (supported: bf16, e4m3,"),
        (["--types", "f16,s8"], "--types f16,s8: f16 and s8 cannot be multiplied"),
        (["--types", "f16,f16,s32"], "--types f16,f16,s32: C is s32, and the products are added up in f32"),
        (["--types", "f16,f16,f32,f32"], "expected those of A, B and C, not 4"),
        (["--types", "f16", "--matrices", "none"], "--matrices takes a route of docs/routes.md, not 'none'"),
        (["--types", "f16", "--device", "x"], "--device and --device-info exclude each other"),
        (["--types", "f16", "--name", "1x"], "--name: expected an identifier of C, not '1x'"),
        (["--types", "f16", "--matrices", "native"], "takes no SPIR-V"),
        (["--types", "f16", "--code", "spirv"], "takes no SPIR-V"),
    ],
)
def test_diagnostics(info: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert run_command(["export", "gemm", info, *arguments, "-o", "gemm.h"]) in (1, 2)
    assert message in capsys.readouterr().err
    assert not Path("gemm.h").exists()


def test_names_are_checked_before_anything_is_compiled(
    info: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AheadTarget, "compile", lambda *_: pytest.fail("the name was not checked before"))
    for words in (["-o", "a b.h"], ["-o", "gemm.h", "--name", "a-b"]):
        assert run_command(["export", "gemm", info, "--types", "f16", *words]) == 2
    errors = capsys.readouterr().err
    assert "--name: expected an identifier of C, not 'a b'" in errors and "not 'a-b'" in errors


def test_unknown_devices_and_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output = str(tmp_path / "gemm.h")
    assert run_command(["export", "gemm", "--device", "no such", "--types", "f16", "-o", output]) == 1
    assert run_command(["export", "gemm", "--device-info", "no/such", "--types", "f16", "-o", output]) == 1
    errors = capsys.readouterr().err
    assert "[unknown-device]" in errors or "[no-device]" in errors
    assert "no/such" in errors
    assert run_command(["export", "attention", "--types", "f16", "-o", output]) == 2
    assert run_command(["export", "gemm", "-o", output]) == 2
