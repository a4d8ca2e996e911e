"""The vendors' instructions before the vendors' compilers that are here; and what the tool makes of wrong ones, with
compilers that are scripts."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
import vendor_compilers
from vendor_compilers import CLANG, DIRECTORY, Amd, Compiler, Intel, Nvidia, NvidiaByClang, main

from coopmat.matrices.instructions import FAMILIES, INSTRUCTIONS, source

needs_clang = pytest.mark.skipif(shutil.which(CLANG) is None, reason=f"no {CLANG}: apt install {CLANG}")
needs_nvidia = pytest.mark.skipif(
    not any((DIRECTORY / "nvidia").glob("nvidia/cu*/bin/nvdisasm")), reason="no NVIDIA wheels: tools/vendor-compilers"
)
needs_ocloc = pytest.mark.skipif(shutil.which("ocloc") is None, reason="no ocloc: apt install intel-ocloc")


@pytest.mark.parametrize(
    "compiler",
    [
        pytest.param(Nvidia(DIRECTORY), marks=needs_nvidia, id="nvidia"),
        pytest.param(NvidiaByClang(DIRECTORY), marks=[needs_nvidia, needs_clang], id="nvidia by clang"),
        pytest.param(Amd(), marks=needs_clang, id="amd"),
        pytest.param(Intel("ocloc"), marks=needs_ocloc, id="intel"),
    ],
)
def test_every_function_is_its_instruction(compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--devices", ",".join(compiler.devices)]) == 0, capsys.readouterr().out


def test_every_function_has_a_device() -> None:
    compilers = vendor_compilers.compilers(DIRECTORY, "ocloc")
    assert {family for compiler in compilers for family in compiler.families} == set(FAMILIES)
    names = {row.name for compiler in compilers for _, row in vendor_compilers.jobs(compiler, [], [])}
    assert names == set(INSTRUCTIONS)


MFMA = "__builtin_amdgcn_mfma_##MFMA(AS(a), AS(b), c, 0, 0, 0)"


@needs_clang
@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("_fp8_fp8", "_fp8_bf8", "_fp8_bf8; wanted: v_mfma_f32_16x16x32_fp8_fp8"),
        (f"return {MFMA}", "return c", "no matrix instruction; wanted"),
        (f"return {MFMA}", f"c = {MFMA}; return {MFMA}", "_fp8_fp8, v_mfma"),
        ("return", "retrun", "error: "),
    ],
    ids=["another", "none", "two", "refused"],
)
def test_a_wrong_instruction_is_told(monkeypatch, capsys, right: str, wrong: str, message: str) -> None:
    assert right in source("mfma")
    monkeypatch.setattr(vendor_compilers, "source", lambda family: source(family).replace(right, wrong))
    assert main(["--devices", "gfx942", "cm_mfma_m16n16k32_e4m3fnuz_f32"]) == 1
    text = capsys.readouterr().out
    assert message in text and "wrong: 1" in text


OCLOC = """
import os, sys
device = sys.argv[sys.argv.index("-device") + 1]
text = open(sys.argv[sys.argv.index("-file") + 1]).read()
assert "cm_dpas_m8n16k32_u8_s8_s32(a[lane]" in text and "intel_reqd_sub_group_size(16)" in text
os.makedirs(os.environ["IGC_DumpToCustomDir"])
with open(os.environ["IGC_DumpToCustomDir"] + "/kernel.asm", "w") as file:
    file.write("        {line}  {{$3}} // $39\\n")
"""
RIGHT = "dpas.8x8 (16|M0)         r1:d          r1:d              r13:b            r9.0:ub"


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (RIGHT, 0),
        (RIGHT.replace("ub", "b"), 1),
        (RIGHT.replace("8x8", "8x4"), 1),
        (RIGHT.replace("16|", "8|"), 1),
        ("mad (16|M0) r1:d r1:d r13:b r9.0:ub", 1),
    ],
)
def test_the_text_of_intels_machine_code_is_read(tmp_path: Path, line: str, status: int) -> None:
    script = tmp_path / "ocloc.py"
    script.write_text(OCLOC.format(line=line))
    command = f"'{sys.executable}' '{script}'"
    assert main(["--ocloc", command, "--devices", "pvc", "cm_dpas_m8n16k32_u8_s8_s32"]) == status


def test_what_is_missing_is_named(monkeypatch, capsys, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["--devices", "gfx942,pvc"]) == 2
    text = capsys.readouterr().err
    assert f"gfx942: no {CLANG}: apt install {CLANG}" in text and "intel-ocloc" in text


def test_unknown_devices_are_named(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["--devices", "sm_1"])
    assert "there is no sm_1; there are sm_75" in capsys.readouterr().err
