"""`coopmat compile` from outside: outputs, statuses, diagnostics."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from opencl_devices import spirv_device

from coopmat import passes
from coopmat.cli import app
from coopmat.devices import route_for

GOOD = b"kernel void twice(global int *a) { a[get_global_id(0)] *= FACTOR; }\n"
BAD = b"kernel void f(global int *a) {\n    a[0] = nosuch;\n    b = 1;\n}\n"
MATRIX = b"""\
typedef float C __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 16, 16,
                                        CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
kernel void zero(global float *c) {
    C m = coop_mat_init(0.0f);
    coop_mat_store(c, m, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 16);
}
"""
ROOT = Path(__file__).parents[2]


@pytest.fixture
def good(coopmat):
    (coopmat.place / "good.cl").write_bytes(GOOD)
    return "good.cl"


def files(coopmat):
    return {path.name for path in coopmat.place.iterdir()}


def is_spirv(data: bytes) -> bool:
    return len(data) > 20 and struct.unpack("<I", data[:4])[0] == 0x07230203


def test_the_output_is_named_after_the_input(coopmat, good):
    result = coopmat("compile", "-DFACTOR=2", good)
    assert (result.status, result.out, result.err) == (0, b"", "")
    assert is_spirv((coopmat.place / "good.spv").read_bytes())
    assert files(coopmat) == {"good.cl", "good.spv"}


def test_outputs_without_a_name_overwrite_nothing_of_others(coopmat, good):
    """`--emit c` leaves a host program of the same name alone; -o names what may be overwritten."""
    host, lowered, module = (coopmat.place / f"good{suffix}" for suffix in (".c", ".lowered.cl", ".spv"))
    host.write_text("int main(void) { return 0; }\n")
    for _ in range(2):
        assert coopmat("compile", "-DFACTOR=2", "--emit", "c", good).status == 0
    assert lowered.exists() and host.read_text().startswith("int main")
    for words, suffix in (
        ([], "spv"),
        (["--emit=spvasm"], "spvasm"),
        (["--emit=ll"], "ll"),
        (["--emit=ast"], "ast"),
        (["--emit=c"], "lowered.cl"),
        (["-MD"], "d"),
    ):
        path = coopmat.place / f"good.{suffix}"
        path.write_text("a text")
        refused = coopmat("compile", "-DFACTOR=2", *words, good)
        assert refused.status == 2 and f"good.{suffix}" in refused.err and "-o" in refused.err
        assert path.read_text() == "a text"
        named = ["-MF", path.name] if words == ["-MD"] else ["-o", path.name]
        for more in (named, []):
            assert coopmat("compile", "-DFACTOR=2", *words, *more, good).status == 0
        assert path.read_text(errors="replace") != "a text"
    assert is_spirv(module.read_bytes())


def test_several_kinds_at_once(coopmat, good):
    assert coopmat("compile", "-D", "FACTOR=2", "--emit=ll,spvasm,ast", good).status == 0
    assert files(coopmat) == {"good.cl", "good.ll", "good.spvasm", "good.ast"}
    assert "define" in (coopmat.place / "good.ll").read_text()
    assert "OpEntryPoint Kernel" in (coopmat.place / "good.spvasm").read_text()
    assert "twice" in (coopmat.place / "good.ast").read_text()


@pytest.mark.parametrize("dialect", ["khr", "rfc", "clang"])
def test_ir_written_and_read(coopmat, dialect):
    (coopmat.place / "m.cl").write_bytes(MATRIX)
    assert coopmat("compile", "--dialect", dialect, "--emit=ll", "m.cl").status == 0
    text = (coopmat.place / "m.ll").read_bytes()
    assert (b", 16, 16, 0, 2)" in text) == (dialect == "rfc")
    assert coopmat("compile", "--matrices=one", "m.ll").status == 0
    assert is_spirv((coopmat.place / "m.spv").read_bytes())
    result = coopmat("compile", "-x", "ir", "--emit=spvasm,ll", "-", stdin=text)
    assert result.status == 2  # several outputs have no names there
    result = coopmat("compile", "-x", "ir", "--emit=spvasm", "-", stdin=text)
    assert result.status == 0 and b"OpCooperativeMatrixStoreKHR" in result.out


def test_ir_that_llvm_refuses(coopmat):
    (coopmat.place / "bad.ll").write_text("define void @f() {\n  ret i32 0\n}\n")
    result = coopmat("compile", "bad.ll")
    assert result.status == 1 and result.err.startswith("bad.ll:2:7: error: LLVM refuses this: value doesn't match")
    assert coopmat("compile", "--print-after=parse", "-x", "ir", "-fsyntax-only", "bad.ll").status == 1


def test_standard_input_and_output(coopmat):
    result = coopmat("compile", "-DFACTOR=2", "-", stdin=GOOD)
    assert result.status == 0 and is_spirv(result.out)
    assert coopmat("compile", "-DFACTOR=2", "-o", "o.spv", "-", stdin=GOOD).out == b""
    assert (coopmat.place / "o.spv").read_bytes() == result.out


def test_preprocessing_needs_no_correct_program(coopmat):
    result = coopmat("compile", "-E", "-DFACTOR=3", "-", stdin=GOOD + b"int = FACTOR;")
    assert result.status == 0 and b"int = 3" in result.out.replace(b"  ", b" ")


def test_macros_are_printed_as_they_were_defined(coopmat):
    source = b"#define F(a, b...)  a ##  #b /* c */ + 1\n#define G\n#define H 1\n#undef H\nint = G;"
    result = coopmat("compile", "-E", "-dM", "-DFACTOR=3", "-", stdin=source)
    lines = result.out.decode().splitlines()
    assert result.status == 0 and all(line.startswith("#define ") for line in lines) and lines == sorted(lines)
    assert {
        "#define F(a, b...) a ## #b + 1",
        "#define G",
        "#define FACTOR 3",
        "#define __OPENCL_C_VERSION__ 300",
    } <= set(lines)
    assert not {line.split()[1] for line in lines} & {"H", "__FILE__", "__DATE__", "__LINE__"}
    # What is printed is defined as it was.
    again = coopmat("compile", "-E", "-dM", "-", stdin=result.out)
    assert again.out == result.out


def test_checking_writes_nothing(coopmat, good):
    result = coopmat("compile", "-fsyntax-only", "-DFACTOR=2", good)
    assert (result.status, files(coopmat)) == (0, {"good.cl"})


@pytest.mark.parametrize("kind", ["spv", "ll", "ast"])
def test_errors_leave_no_output(coopmat, kind):
    (coopmat.place / "bad.cl").write_bytes(BAD)
    result = coopmat("compile", "--emit", kind, "-MD", "bad.cl")
    assert result.status == 1
    assert "bad.cl:2:12: error: 'nosuch' is not declared" in result.err
    assert "bad.cl:3:5: error: " in result.err
    assert "Traceback" not in result.err
    assert files(coopmat) == {"bad.cl"}


def test_diagnostics_as_json_and_sarif(coopmat):
    found = json.loads(coopmat("compile", "--diagnostics=json", "-", stdin=BAD).err)
    assert [(item["file"], item["line"], item["severity"]) for item in found] == [
        ("<stdin>", 2, "error"),
        ("<stdin>", 3, "error"),
    ]
    sarif = json.loads(coopmat("compile", "--diagnostics", "sarif", "-", stdin=BAD).err)
    assert len(sarif["runs"][0]["results"]) == 2
    assert json.loads(coopmat("compile", "--diagnostics=json", "-DFACTOR=1", "-o", "-", "-", stdin=GOOD).err) == []
    missing = json.loads(coopmat("compile", "--diagnostics=json", "missing.cl").err)
    assert missing[0]["code"] == "file" and "missing.cl" in missing[0]["message"]


def test_colours_only_where_asked_for(coopmat):
    assert "\x1b[" not in coopmat("compile", "-", stdin=BAD).err
    assert "\x1b[" in coopmat("compile", "-fcolor-diagnostics", "-", stdin=BAD).err


def test_dependencies(coopmat, good):
    (coopmat.place / "my header.h").write_text("#define FACTOR 2\n")
    (coopmat.place / "good.cl").write_bytes(b'#include "my header.h"\n' + GOOD)
    assert coopmat("compile", "-MD", good).status == 0
    rule = (coopmat.place / "good.d").read_text()
    assert rule.startswith("good.spv: good.cl ") and "my\\ header.h" in rule
    assert coopmat("compile", "-M", "-MT", "target", good).out.decode().startswith("target: good.cl ")
    assert coopmat("compile", "-MD", "-MF", "x.d", "-o", "y.spv", good).status == 0
    assert (coopmat.place / "x.d").read_text().startswith("y.spv: ")


def test_stages_and_times_go_to_standard_error(coopmat, good):
    result = coopmat("compile", "-DFACTOR=2", "--print-after=parse", "--print-after=lower", "--time-passes", good)
    assert result.status == 0
    assert "// after parse" in result.err and "// after lower" in result.err
    assert "define" in result.err and " ms  emit" in result.err and " ms  total" in result.err


MATRIX_TYPES = b"""typedef float m __attribute__((matrix_type(64, 64)));
kernel void k(global m *restrict a, global m *b)
{
    *b = *a + *a;
    *a = *b * *b;
}
"""


def test_how_expressions_of_matrices_are_calculated(coopmat):
    plans = []
    for registers in ("256x16", "128x8"):
        options = ["--print-after=matrices", "--matrix-registers", registers, "--emit=ll", "-o", "-", "-"]
        result = coopmat("compile", *options, stdin=MATRIX_TYPES)
        assert result.status == 0 and "<stdin>:4:10: " in result.err and "<stdin>:5:10: " in result.err
        assert f" of {registers.partition('x')[2]}; " in result.err
        plans.append(result.err)
    assert plans[0] != plans[1]


MATRIX_SUM = MATRIX.replace(b"C m = coop_mat_init(0.0f);", b"C m = coop_mat_init(0.0f); m = m + m;")


def test_the_native_profile_is_a_choice(coopmat):
    (coopmat.place / "a.cl").write_bytes(MATRIX_SUM)
    texts = {}
    for words in ([], ["--native-profile", "khr"], ["--native-profile=igc"]):
        result = coopmat("compile", "--emit=spvasm", "-o", "-", *words, "a.cl")
        assert result.status == 0, result.err
        texts[words[-1] if words else ""] = result.out
    assert texts[""] == texts["khr"]
    matrix_sum = b"OpFAdd %spirv_CooperativeMatrixKHR"
    assert matrix_sum in texts["khr"] and matrix_sum not in texts["--native-profile=igc"]


def test_a_device_says_its_native_profile_and_the_user_may_say_another(coopmat):
    (coopmat.place / "a.cl").write_bytes(MATRIX_SUM)
    (coopmat.place / "info").write_text(
        'CL_PLATFORM_NAME="Intel(R) OpenCL Graphics"\nCL_DEVICE_TYPE=CL_DEVICE_TYPE_GPU\n'
        'CL_DEVICE_IL_VERSION="SPIR-V_1.4"\nCL_DEVICE_EXTENSIONS=cl_khr_cooperative_matrix\n'
    )
    line = ["compile", "-w", "--device-info=info", "--emit=spvasm", "-o", "-", "a.cl"]
    matrix_sum = b"OpFAdd %spirv_CooperativeMatrixKHR"
    assert matrix_sum not in coopmat(*line).out
    assert matrix_sum in coopmat(*line, "--native-profile=khr").out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["-o", "x", "a.cl", "b.cl"],
        ["--nosuch", "a.cl"],
        ["--emit=exe", "a.cl"],
        ["-o"],
        ["--emit=ll,spv", "-o", "x", "a.cl"],
        ["--print-after=lunch", "a.cl"],
        ["-MF", "x", "a.cl"],
        ["--device=a", "--device-info=b", "a.cl"],
        ["-MD", "-o", "-", "a.cl"],
        ["--spirv-version=9", "a.cl"],
        ["--matrix-registers=256", "a.cl"],
        ["-ffp-contract=fast", "a.cl"],
        ["--native-profile=maint2", "a.cl"],
        ["-o", "a.cl", "a.cl"],
        ["--emit=ll,spv", "-"],
    ],
)
def test_usage_errors(coopmat, arguments):
    (coopmat.place / "a.cl").write_bytes(GOOD)
    result = coopmat("compile", *arguments)
    assert result.status == 2, result.err
    assert result.err and "Traceback" not in result.err
    assert (coopmat.place / "a.cl").read_bytes() == GOOD and files(coopmat) == {"a.cl"}


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--source=a.cl", "--output=o", "--mode=binary"], "--mode binary"),
        (["--device=host", "a.cl"], "host device"),
    ],
)
def test_what_comes_later_says_so(coopmat, arguments, what):
    (coopmat.place / "a.cl").write_bytes(GOOD)
    result = coopmat("compile", *arguments)
    assert result.status == 1
    assert what in result.err and "not supported yet" in result.err


@pytest.mark.parametrize("arguments", [["-x", "spv", "a.cl"], ["a.spv"], ["a.spv", "--no-validate"]])
def test_what_is_no_spirv_is_a_diagnostic(coopmat, arguments):
    (coopmat.place / "a.cl").write_bytes(GOOD)
    (coopmat.place / "a.spv").write_bytes(b"")
    result = coopmat("compile", *arguments)
    assert result.status == 1
    assert "[spirv-invalid]" in result.err and "Traceback" not in result.err


def test_spirv_is_read_and_written_beside_the_input(coopmat):
    (coopmat.place / "a.cl").write_bytes(GOOD)
    assert coopmat("compile", "-DFACTOR=2", "a.cl").status == 0
    result = coopmat("compile", "-x", "spv", "--matrices", "lanes", "a.spv")
    assert result.status == 0, result.err
    assert files(coopmat) == {"a.cl", "a.spv", "a.lanes.spv"}
    assert (coopmat.place / "a.spv").read_bytes() == (coopmat.place / "a.lanes.spv").read_bytes()


@pytest.mark.parametrize("name", ["missing.cl", "directory"])
def test_an_unreadable_input_is_a_diagnostic(coopmat, name):
    (coopmat.place / "directory").mkdir()
    result = coopmat("compile", name)
    assert result.status == 1
    assert f"error: {name}: " in result.err and "Traceback" not in result.err


def test_an_output_in_a_missing_directory_is_a_diagnostic(coopmat, good):
    result = coopmat("compile", "-DFACTOR=2", "-o", "no/where.spv", good)
    assert result.status == 1 and "no/where.spv" in result.err


def test_the_conformance_suites_contract(coopmat, good):
    (coopmat.place / "info").write_text('CL_DEVICE_IL_VERSION="SPIR-V_1.0 SPIR-V_1.2"\nCL_DEVICE_ADDRESS_BITS=64\n')
    line = ["--source=good.cl", "--output=o.bin", "--cl-device-info=info", "--mode=spir-v", "--", "-DFACTOR=2"]
    result = coopmat("compile", *line, "-cl-std=CL3.0")
    assert result.status == 0, result.err
    data = (coopmat.place / "o.bin").read_bytes()
    assert is_spirv(data) and struct.unpack("<I", data[4:8])[0] == 0x00010200  # what the device takes
    assert files(coopmat) == {"good.cl", "info", "o.bin"}


def test_shapes_are_not_silently_left_unchecked(coopmat):
    (coopmat.place / "info").write_text('CL_DEVICE_IL_VERSION="SPIR-V_1.4"\nCL_DEVICE_NAME="D"\n')
    native = coopmat("compile", "--device-info=info", "-o", "o.spv", "-", stdin=MATRIX)
    assert native.status == 0 and "does not report which matrices it has: those of zero" in native.err
    assert "[unchecked-shapes]" in native.err
    assert files(coopmat) == {"info", "o.spv"}
    auto = coopmat("compile", "--device-info=info", "--matrices=auto", "-o", "o.spv", "-", stdin=MATRIX)
    assert auto.status == 0, auto.err


def test_shapes_are_checked_against_a_device_that_tells_them(coopmat):
    known = 'CL_DEVICE_IL_VERSION="SPIR-V_1.4"\nCL_DEVICE_NAME="D"\nCL_DEVICE_EXTENSIONS="cl_khr_cooperative_matrix"\n'
    key = "CL_DEVICE_COOPERATIVE_MATRIX_DEFAULT_SUB_GROUP_VARIANTS_KHR"
    for name, variants, status in (
        ("has", "16x16x16.f32xf32_f32_f32.nosat", 0),
        ("has not", "8x8x8.f16xf16_f16_f16.nosat 1,1,1,5,5,5,5,0", 1),
        ("bad", "8x8", 1),
    ):
        (coopmat.place / name).write_text(f'{known}{key}="{variants}"\n')
        for matrices in ("native", "auto"):
            line = ["--device-info", name, "--matrices", matrices, "-o", "o.spv", "-"]
            result = coopmat("compile", *line, stdin=MATRIX)
            assert result.status == status, result.err
            assert "[unchecked-shapes]" not in result.err
            assert ("[coop-mat-target-type]" in result.err) == (name == "has not")
            assert ("[device-info]" in result.err) == (name == "bad")
            assert ("--matrices one" in result.err) == (name == "has not")


def test_a_bad_device_file_is_a_diagnostic(coopmat, good):
    (coopmat.place / "info").write_text("nonsense\n")
    result = coopmat("compile", "-DFACTOR=2", "--device-info", "info", good)
    assert result.status == 1 and "info:1: " in result.err


def test_help_and_version_are_quick_and_load_nothing_heavy(coopmat):
    result = coopmat("--version")
    assert result.out.startswith(b"coopmat ")
    assert result.seconds < 1.5  # 0.3 s on an idle machine
    assert b"--emit" in coopmat("compile", "--help").out
    assert b"compile" in coopmat("--help").out
    code = "import sys, coopmat.cli.app as a; a.run_command(['--help']); "
    code += "sys.exit(any(m in sys.modules for m in ('numpy', 'pyopencl', 'llvmlite', 'lark', 'rich')))"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def test_no_arguments_is_a_usage_error(coopmat):
    assert coopmat().status == 2
    assert coopmat("nosuch").status == 2


def test_a_closed_pipe_is_no_traceback(coopmat, good):
    command = [sys.executable, "-m", "coopmat", "compile", "-DFACTOR=2", "--emit=ll", "-o", "-", good]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        command,
        stdout=write,
        stderr=subprocess.PIPE,
        cwd=coopmat.place,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    os.close(write)
    assert done.returncode == 1 and done.stderr == b""


def test_control_c_is_no_traceback(coopmat):
    process = subprocess.Popen(
        [sys.executable, "-m", "coopmat", "compile", "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=coopmat.place,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        # A suite that runs in the background has the signal ignored, and would hand that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(1.5)  # long enough for it to wait for its input
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and err == b""


def test_an_internal_error_is_70_and_says_what_to_report(monkeypatch, tmp_path, capsys):
    from coopmat import compiler
    from coopmat.diagnostics import InternalError

    (tmp_path / "a.cl").write_bytes(GOOD)
    for error, told in ((InternalError("broken", "the details"), "the details"), (KeyError("x"), "KeyError")):

        def fail(*arguments, error=error, **keywords):
            raise error

        monkeypatch.setattr(compiler, "compile", fail)
        output = tmp_path / "o.spv"
        assert app.run_command(["compile", "-o", str(output), str(tmp_path / "a.cl")]) == 70
        text = capsys.readouterr().err
        assert told in text and "please report" in text
        assert not output.exists()


def test_the_typed_ast_is_printed_after_each_pass(coopmat, good):
    options = ["--matrices", "one", "--verify-passes", "-fsyntax-only"]
    for name in (name for name in passes.NAMES if name != "native-matrices"):
        result = coopmat("compile", "-DFACTOR=2", *options, f"--print-after={name}", good)
        assert result.status == 0 and f"// after {name}\nkernel function" in result.err, result.err
    refused = coopmat("compile", "-DFACTOR=2", *options, "--print-after=native-matrices", good)
    assert refused.status == 2 and "cooperative-matrices, matrix-types, small-floats" in refused.err


HEADERS = b"""#include <w.h>
__attribute__((reqd_work_group_size(16, 2, 1))) kernel void scale(global int *p) { *p = FACTOR + W; }
"""


@pytest.fixture
def headers(coopmat):
    place = coopmat.place
    (place / "system").mkdir()
    (place / "my kernel.cl").write_bytes(HEADERS)
    (place / "factor.h").write_text("#pragma once\n#define FACTOR 3\nint first(void) { int unused; return 1; }\n")
    (place / "system" / "w.h").write_text("#define W 4\nint second(void) { int unused; return 2; }\n")
    return ["-Wall", "-include", "factor.h", "-include", "factor.h", "my kernel.cl"]


def test_files_are_included_first_and_system_headers_have_no_warnings(coopmat, headers):
    result = coopmat("compile", "-isystem", "system", *headers)
    assert result.status == 0 and result.err.count("warning") == 1 and "factor.h:3:" in result.err
    assert coopmat("compile", "-I", "system", *headers).err.count("warning") == 2
    result = coopmat("compile", "-include", "nosuch.h", "my kernel.cl")
    assert result.status == 1 and "<command line>:1:10: error: 'nosuch.h' file not found" in result.err


def test_dependencies_have_quoted_and_phony_targets(coopmat, headers):
    result = coopmat("compile", "-M", "-MP", "-MQ", "a$b #c", "-MT", "d$", "-isystem", "system", *headers)
    assert result.status == 0
    lines = result.out.decode().splitlines()
    assert lines[0] == "a$$b\\ \\#c d$: my\\ kernel.cl factor.h system/w.h"
    assert sorted(lines[1:]) == ["factor.h:", "system/w.h:"]
    assert coopmat("compile", "-MP", "-fsyntax-only", *headers).status == 2


def test_a_header_contains_the_module_and_the_kernels_sizes(coopmat, headers):
    """A C compiler reads back what --emit spv writes."""
    words = ["compile", "-w", "-isystem", "system", "--sub-group-size=8", "--matrices", "lanes", *headers]
    assert coopmat(*words).status == coopmat(*words, "--emit", "header").status == 0
    text = (coopmat.place / "my kernel.h").read_text()
    array = bytes(int(byte, 16) for byte in re.findall(r"0x(..),", text))
    assert array == (coopmat.place / "my kernel.spv").read_bytes()
    assert f"#define my_kernel_spv_size {len(array)}\n" in text
    assert "#define my_kernel_scale_local_size 16, 2, 1\n" in text and "my_kernel_scale_sub_group_size" in text
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is not None:
        program = 2 * '#include "my kernel.h"\n' + "const unsigned long sizes[] = {my_kernel_scale_local_size};\n"
        program += "int size = my_kernel_spv_size == sizeof my_kernel_spv ? my_kernel_scale_sub_group_size : 1 / 0;\n"
        (coopmat.place / "host.c").write_text(program)
        subprocess.run([compiler, "-Wall", "-Werror", "-fsyntax-only", "host.c"], cwd=coopmat.place, check=True)


@pytest.mark.device
def test_a_device_implies_its_route(coopmat):
    device, sizes = spirv_device(), ["-DM=16", "-DN=16", "-DK=16"]
    lowered = coopmat("compile", "--device", device.index, "--emit=ll", "-o", "-", ROOT / "kernels/gemm_f16.cl", *sizes)
    named = coopmat("compile", "--matrices", "native", "--emit=ll", "-o", "-", ROOT / "kernels/gemm_f16.cl", *sizes)
    assert lowered.status == named.status == 0 and b"CooperativeMatrix" in named.out
    assert (b"CooperativeMatrix" in lowered.out) == (route_for(device).matrices == "native")


def test_one_pass_runs_alone(coopmat, good):
    result = coopmat("compile", "-DFACTOR=2", "--matrices", "one", "--run-pass=cooperative-matrices", good)
    assert result.status == 0 and result.out.startswith(b"kernel function")
    unknown = coopmat("compile", "-DFACTOR=2", "--matrices", "one", "--run-pass=native-matrices", good)
    passes = "storage-vectors, expansions, cooperative-matrices, matrix-types, small-floats"
    assert unknown.status == 2 and f"this route has {passes}" in unknown.err
    assert b"--run-pass" not in coopmat("compile", "--help").out
