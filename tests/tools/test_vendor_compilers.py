"""What reaches the vendors' instructions before the vendors' compilers that are here; and what the tool makes of wrong
ones, with compilers that are scripts."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
import vendor_kernels
from vendor_compilers import DIRECTORY, main, selection
from vendor_kernels import KERNELS, Call, Kernel, MultiplyAdd
from vendor_toolchains import CLANG, Amd, Compiler, Intel, NvidiaByClang, NvidiaCuda, Refused, compilers

from coopmat.matrices.routes import LOWERED_ROUTES
from coopmat.matrices.vendor_instructions import FAMILIES, INSTRUCTIONS, source
from coopmat.runtime.runheader import parse_header

needs_clang = pytest.mark.skipif(shutil.which(CLANG) is None, reason=f"no {CLANG}: apt install {CLANG}")
needs_nvidia = pytest.mark.skipif(
    not any((DIRECTORY / "nvidia").glob("nvidia/cu*/bin/nvdisasm")), reason="no NVIDIA wheels: tools/vendor-compilers"
)
needs_ocloc = pytest.mark.skipif(shutil.which("ocloc") is None, reason="no ocloc: apt install intel-ocloc")


COMPILERS = [
    pytest.param(NvidiaCuda(DIRECTORY), marks=needs_nvidia, id="nvidia"),
    pytest.param(NvidiaByClang(DIRECTORY), marks=[needs_nvidia, needs_clang], id="nvidia by clang"),
    pytest.param(Amd(), marks=needs_clang, id="amd"),
    pytest.param(Intel("ocloc"), marks=needs_ocloc, id="intel"),
]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_function_is_its_instruction(compiler: Compiler, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--devices", ",".join(compiler.devices), "functions"]) == 0, capsys.readouterr().out


# One for each way in which the machine code is read; the others run with --all.
QUICK = ["*16x8x16.f16xf16_f32_f32*", "*8x32x48.f16xf16_f32_f32*", "*8x16x32.u8xs8_s32_s32.sat", "gemm_s8*"]


@pytest.mark.parametrize("compiler", COMPILERS[1:])
def test_routes_make_as_many_instructions_as_the_shape_needs(compiler: Compiler, capsys) -> None:
    assert main(["--devices", ",".join(compiler.devices), *QUICK]) == 0, capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS[1:])
def test_every_multiply_add_and_kernel_is_made_of_instructions(compiler: Compiler, capsys) -> None:
    assert main(["--devices", ",".join(compiler.devices), "multiply-adds", "kernels"]) == 0, capsys.readouterr().out


@needs_clang
@pytest.mark.slow
def test_matrices_stay_in_registers(capsys) -> None:
    """Those of AMD's devices, which have the most, where none of several instructions spills."""
    assert main(["--devices", "gfx1100,gfx90a", "multiply-adds"]) == 0
    used = [line.split()[-2] for line in capsys.readouterr().out.splitlines() if line.endswith(" bytes")]
    assert used and set(used) == {"0"}


def test_every_function_and_product_has_a_device() -> None:
    every = compilers(DIRECTORY, "ocloc")
    assert {family for compiler in every for family in compiler.families} == set(FAMILIES)
    jobs = [job for compiler in every for job in selection(compiler, [], [])]
    assert {job.name for job in jobs if isinstance(job, Call)} == set(INSTRUCTIONS)
    products = {row.name for route in FAMILIES for row in LOWERED_ROUTES[route].every_product}
    assert {job.product.name for job in jobs if isinstance(job, MultiplyAdd)} == products
    signs = {(job.variant.a.name, job.variant.b.name) for job in jobs if isinstance(job, MultiplyAdd)}
    assert {(a, b) for a in ("s8", "u8") for b in ("s8", "u8")} < signs
    devices = {job.device for job in jobs}
    kernels = {(job.device, job.file.stem, job.number) for job in jobs if isinstance(job, Kernel)}
    texts = {file: file.read_text(encoding="utf-8") for file in KERNELS.glob("*.cl")}
    runs = [
        (file.stem, number)
        for file, text in texts.items()
        for number, _ in enumerate(parse_header(text, file.name), 1)
        if "coop_mat(" in text
    ]
    assert kernels == {(device, *run) for device in devices - {*NvidiaCuda.devices} for run in runs}


HALF_VALUE = re.compile(r"\bhalf\b(?! \*)")


@pytest.mark.parametrize("kernel", sorted(KERNELS.glob("*.cl")), ids=lambda path: path.stem)
def test_texts_for_nvidia_have_what_its_opencl_c_has(kernel: Path) -> None:
    """OpenCL C 1.2 without cl_khr_fp16: no values of half, and no builtins of newer versions."""
    compiler = next(compiler for compiler in compilers(DIRECTORY, "ocloc") if "sm_80-cl" in compiler.devices)
    for job in selection(compiler, ["sm_80-cl"], ["kernels"]):
        if isinstance(job, Kernel) and job.file == kernel:
            text = job.module.opencl_c
            assert job.module.opencl_c_options[0] == "-cl-std=CL1.2"
            assert not HALF_VALUE.search(text.replace("const half", "half")) and "ctz(" not in text


MFMA = "__builtin_amdgcn_mfma_##MFMA(AS(a), AS(b), c, 0, 0, 0)"


@needs_clang
@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("_fp8_fp8", "_fp8_bf8", "_fp8_bf8; wanted: v_mfma_f32_16x16x32_fp8_fp8"),
        (f"return {MFMA}", "return c", "no matrix instruction; wanted"),
        (f"return {MFMA}", f"c = {MFMA}; return {MFMA}", "2 v_mfma_f32_16x16x32_fp8_fp8; wanted"),
        ("return", "retrun", "error: "),
    ],
    ids=["another", "none", "two", "refused"],
)
def test_a_wrong_instruction_is_told(monkeypatch, capsys, right: str, wrong: str, message: str) -> None:
    assert right in source("mfma")
    monkeypatch.setattr(vendor_kernels, "source", lambda family: source(family).replace(right, wrong))
    assert main(["--devices", "gfx942", "cm_mfma_m16n16k32_e4m3fnuz_f32"]) == 1
    text = capsys.readouterr().out
    assert message in text and "wrong: 1" in text


ONCE = "coop_mat_mulAdd(x, y, z, {operands})"


@needs_clang
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (f"coop_mat_mulAdd(x, y, {ONCE}, {{operands}})", "2 v_mfma_f32_16x16x16_f16; wanted: 1 v_mfma"),
        ("z", "no matrix instruction; wanted: 1 v_mfma_f32_16x16x16_f16"),
        ("q", "error: "),
    ],
    ids=["two", "none", "refused"],
)
def test_a_wrong_number_of_instructions_is_told(monkeypatch, capsys, wrong: str, message: str) -> None:
    text = vendor_kernels._MULTIPLY_ADD
    assert ONCE in text
    monkeypatch.setattr(vendor_kernels, "_MULTIPLY_ADD", text.replace(ONCE, wrong))
    assert main(["--devices", "gfx942", "16x16x16.f16xf16_f32_f32.nosat"]) == 1
    told = capsys.readouterr().out
    assert message in told and "wrong: 1" in told


@needs_clang
def test_a_call_that_nobody_answers_is_told(tmp_path: Path) -> None:
    text = "kernel void k(global float *p) { *p = sin(*p); }"
    with pytest.raises(Refused, match="nobody has _Z3sinf"):
        Amd().compile("gfx942", text, ["-cl-std=CL2.0"], tmp_path)


@needs_clang
def test_the_table_is_short_in_markdown(capsys) -> None:
    assert main(["--devices", "gfx942", "--markdown", "16x16x16.f16*", "gemm_f16"]) == 0
    head, _, row, *rest = capsys.readouterr().out.splitlines()
    assert head.startswith("| target | functions | registers | memory | multiply-adds | registers | memory | kernels |")
    assert row.startswith("| gfx942 |  |  |  | 1 |") and "| kernel | gfx942 |" in rest


OCLOC = """
import os, sys
device = sys.argv[sys.argv.index("-device") + 1]
text = open(sys.argv[sys.argv.index("-file") + 1]).read()
assert "cm_dpas_m8n16k32_u8_s8_s32(a[lane]" in text and "intel_reqd_sub_group_size(16)" in text
os.makedirs(os.environ["IGC_DumpToCustomDir"])
with open(os.environ["IGC_DumpToCustomDir"] + "/kernel.asm", "w") as file:
    file.write("        {line}  {{$3}} // $39\\n")
"""
DUMMY = "dpas.8x8 (16|M0)         r9:d           null:d            r9:b            r9.0:ub"
RIGHT = "dpas.8x8 (16|M0)         r1:d          r1:d              r13:b            r9.0:ub"


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (RIGHT, 0),
        (f"{DUMMY}  {{Atomic}} // $39\\n        {RIGHT}", 0),
        (DUMMY, 1),
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
