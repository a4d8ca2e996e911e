"""`coopmat run` from outside, on the first device that takes SPIR-V."""

from __future__ import annotations

import re

import numpy as np
import pytest
from opencl_devices import spirv_device

SCALE = b"""\
// run: kernel=scale global=N local=16 N=64 -DFACTOR=3 a=i32[N]:range
// check: a == 3 * a
// run: kernel=scale global=8 -DFACTOR=2 a=i32[8]:ones
// check: a == 2
kernel void scale(global int *a) { a[get_global_id(0)] *= FACTOR; }
"""


@pytest.fixture(autouse=True)
def device():
    return spirv_device()


@pytest.fixture
def scale(coopmat):
    (coopmat.place / "scale.cl").write_bytes(SCALE)
    return "scale.cl"


def test_every_run_of_a_file_is_launched_and_checked(coopmat, scale):
    result = coopmat("run", scale)
    assert (result.status, result.err) == (0, "")
    first, second = result.out.decode().splitlines()
    assert first.startswith("scale: ") and "global (64,) local (16,)" in first and first.endswith("ok, max error 0")
    assert "global (8,) local any" in second


def test_a_failed_check_points_at_itself(coopmat):
    result = coopmat("run", "-", stdin=SCALE.replace(b"3 * a", b"4 * a"))
    assert result.status == 1
    assert "<stdin>:2:11: error: 63 of 64 elements are wrong, max error 63" in result.err
    assert "the first is at [1]: got 3, expected 4" in result.err
    assert "// check: a == 4 * a" in result.err
    assert "WRONG" in result.out.decode()


def test_arguments_and_results_as_files(coopmat):
    source = b"kernel void add(global float *a, const global float *b, float s) {\n"
    source += b"  size_t i = get_global_id(0); a[i] += s * b[i]; }\n"
    a, b = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    np.save(coopmat.place / "a.npy", a)
    np.save(coopmat.place / "b.npy", b)
    line = ["--kernel=add", "--global=8", "--arg", "a=a.npy", "--arg=b=b.npy", "--arg=s=f32:1/2", "--out=a=r.npy"]
    result = coopmat("run", "-", *line, "--check", "a == a + s * b", stdin=source)
    assert (result.status, result.err) == (0, "")
    np.testing.assert_array_equal(np.load(coopmat.place / "r.npy"), a + 0.5 * b)


def test_compiler_flags_pass_through(coopmat):
    source = SCALE.replace(b"-DFACTOR=3 ", b"").split(b"// run: kernel=scale global=8")
    source = source[0] + source[1].split(b"\n", 2)[2]
    assert coopmat("run", "-", "-DFACTOR=3", "-Dhoho", "-cl-std=CL3.0", stdin=source).status == 0
    words = ["-D", "FACTOR=3", "-U", "hoho", "--code", "c", "--sub-group-size", "8"]
    result = coopmat("run", *words, "-", stdin=source)
    assert (result.status, result.err) == (0, "")
    assert coopmat("run", "-", stdin=source).status == 1


def test_the_command_line_replaces_the_header(coopmat):
    source = SCALE.split(b"// run: kernel=scale global=8")[0] + SCALE.splitlines()[-1]
    line = ["--arg", "a=i32[N]:full(7)", "--local=8", "--repeat=3", "--check=a[:5] == 21", "--matrices=lanes"]
    result = coopmat("run", *line, "-", stdin=source)
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith(b"scale: lanes, global (64,) local (8,)")
    assert coopmat("run", "--global=4", "--local=2", "--check=a[4:] == a[4:]", "-", stdin=source).status == 0


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        ([], 2, "one input file"),
        (["a.cl", "b.cl"], 2, "one input file"),
        (["missing.cl"], 1, "missing.cl"),
        (["scale.cl", "--code"], 2, "--code needs a value"),
        (["scale.cl", "--code", "d"], 2, "--code takes"),
        (["scale.cl", "--kernel=other"], 1, "no '// run:' line of kernel 'other'"),
        (["scale.cl", "--device=nosuch"], 1, "no OpenCL device fits 'nosuch'"),
        (["scale.cl", "--repeat=0"], 2, "--repeat"),
        (["scale.cl", "--matrices=no"], 2, "--matrices takes"),
        (["scale.cl", "-fnosuch"], 2, "unknown option '-fnosuch'"),
        (["scale.cl", "--arg=a"], 1, "<--arg>"),
        (["scale.cl", "--arg=a=nosuch.npy"], 1, "nosuch.npy"),
        (["scale.cl", "--arg=a=scale.npy"], 1, "is not a .npy file"),
        (["scale.cl", "--arg=zzz=i32:1"], 1, "no parameter 'zzz'"),
        (["scale.cl", "--check=a ~ 1"], 1, "needs atol=X or rtol=X"),
        (["scale.cl", "--check=zzz == 1"], 1, "unknown name 'zzz'"),
        (["scale.cl", "--out=a=r.npy"], 2, "single run"),
    ],
)
def test_what_is_wrong_is_told(coopmat, scale, arguments, status, told):
    (coopmat.place / "scale.npy").write_bytes(b"nonsense")
    result = coopmat("run", *arguments)
    assert result.status == status, result.err
    assert told in result.err and "Traceback" not in result.err


def test_a_broken_kernel_gives_the_compilers_diagnostics(coopmat):
    result = coopmat("run", "-", stdin=SCALE.replace(b"*= FACTOR", b"*= nosuch"))
    assert result.status == 1
    assert "<stdin>:5:" in result.err and "'nosuch' is not declared" in result.err


def test_warnings_are_shown_once(coopmat):
    source = SCALE.replace(b"FACTOR=2", b"FACTOR=2 -g").replace(b"FACTOR=3", b"FACTOR=3 -g")
    result = coopmat("run", "-", stdin=source)
    assert result.status == 0
    assert result.err.count("-g: debug information is not supported yet") == 1


COPY = b"""\
// run: kernel=copy global=(M, N) M=40 N=64 -DM=40 -DN=64 a=f32[M,N]:uniform(-1,1) c=f32[M,N]:zeros
// check: c == a
kernel void copy(global const float *a, global float *c) {
    size_t i = get_global_id(0), j = get_global_id(1);
    int unused;
    c[i * N + j] = READ;
}
"""


def test_a_symbol_is_set_with_its_macro(coopmat):
    """-D alone leaves the launch as it was, which a warning says; both warnings come before the launch."""
    right = ["run", "-", "-DREAD=a[i*N+j]"]
    result = coopmat(*right, "--set", "M=128", "--set=N=0x10", stdin=COPY)
    assert result.status == 0 and b"global (128, 16)" in result.out and result.err.count("warning") == 0
    result = coopmat(*right, "-DM=128", "-Wall", stdin=COPY)
    assert result.status == 0 and b"global (40, 64)" in result.out
    assert "warning: variable 'unused' is never used" in result.err
    assert "-DM=128 does not change the header's symbol M = 40: --set M=128 does" in result.err
    for setting, told in (("Q=1", "has no symbol 'Q'; its symbols are: M, N"), ("M", "--set takes"), ("M=x", "--set")):
        result = coopmat(*right, "--set", setting, stdin=COPY)
        assert result.status == 2 and told in result.err


@pytest.mark.parametrize(
    ("read", "told"),
    [
        ("a[j*M+i]", "note: correct if a is transposed"),
        (
            "i<16?0:a[i*N+j]",
            "wrong tiles of 16 x 16 ('#' all wrong, '+' some, '.' none):\n    ####\n    ....\n    ....\n",
        ),
        ("a[i*N+j]+(i==39&&j==0)", "    ....\n    ....\n    +...\n"),
    ],
)
def test_wrong_results_are_drawn(coopmat, read, told):
    result = coopmat("run", "-", f"-DREAD={read}", stdin=COPY)
    assert result.status == 1 and told in result.err
    assert ("transposed" in result.err) == ("transposed" in told)


def test_a_kernel_that_crashes_gives_a_message(coopmat):
    """Warnings and the runs before it are printed; the cause follows from the signal."""
    source = SCALE.split(b"// run: kernel=scale global=8")[0].replace(b"kernel=scale ", b"kernel=scale -Wall ")
    source += b"// run: kernel=crash global=64 -DFACTOR=2 a=i32[8]:ones\n" + SCALE.splitlines()[-1]
    source += b"\nkernel void crash(global int *a) { int unused; a[get_global_id(0) << 40] = 1; }\n"
    result = coopmat("run", "-", stdin=source)
    assert result.status == 1 and result.out.startswith(b"scale: ") and b": ok" in result.out
    assert result.err.index("variable 'unused'") < result.err.index("error: kernel 'crash' crashed with signal")
    assert "global size (64,), local size any, a=int32[8]" in result.err
    assert "the likely cause: an access outside an argument's array" in result.err and "[crash]" in result.err


def test_out_needs_an_array(coopmat):
    source = SCALE.split(b"// run: kernel=scale global=8")[0] + SCALE.splitlines()[-1]
    assert coopmat("run", "-", "--out=a=r.npy", stdin=source).status == 0
    assert np.load(coopmat.place / "r.npy").tolist() == [3 * i for i in range(64)]
    assert coopmat("run", "-", "--out=b=r2.npy", stdin=source).status == 2
    assert not (coopmat.place / "r2.npy").exists()


@pytest.mark.usefixtures("dead_pocl")
def test_a_device_that_builds_nothing_is_told_and_not_blamed_on_us(coopmat, scale):
    for command in (["run", scale], ["cts", "c_add", "--wimpy"]):
        result = coopmat(*command, "--device", "pocl", COOPMAT_CACHE_DIR=str(coopmat.place))
        assert result.status == 1
        assert "cannot build an empty kernel" in result.err and "error: unknown" in result.err
        assert "[dead-device]" in result.err and "bug" not in result.err


def test_the_speed_is_told_where_the_header_tells_the_work(coopmat):
    for field, unit in (("flop=2*N", "GFLOP/s"), ("op=2*N", "GOP/s")):
        result = coopmat("run", "-", stdin=SCALE.replace(b"-DFACTOR=3", f"-DFACTOR=3 {field}".encode()))
        first, second = result.out.decode().splitlines()
        found = re.search(rf"([\d.]+) ms, ([-\d.e]+) {unit}: ok", first)
        assert result.status == 0 and found and "OP/s" not in second
        assert float(found[2]) == pytest.approx(128 / float(found[1]) * 1e-6, rel=0.5)
    result = coopmat("run", "-", stdin=SCALE.replace(b"-DFACTOR=3", b"-DFACTOR=3 flop=nosuch"))
    assert result.status == 1 and "<stdin>:1:" in result.err and "nosuch" in result.err


def test_a_run_that_never_ends_is_ended(coopmat):
    """With all that it has started; one that ends in time is as without the limit."""
    source = b"// run: kernel=k global=1 p=i32[1]:zeros\n"
    source += b"kernel void k(volatile global int *p) { while (*p == 0); }\n"
    result = coopmat("run", "-", "--timeout", "3", stdin=source)
    assert (result.status, result.out) == (1, b"")
    assert result.err == "coopmat: error: the run took longer than 3 s, and was ended [timeout]\n"
    limited = coopmat("run", "-", "--timeout=100", "--repeat", "2", "-DOTHER=3", stdin=SCALE)
    assert limited.status == 0 and limited.out.count(b": ok") == 2
    wrong = coopmat("run", "-", "--timeout=100", "--kernel=scale", stdin=SCALE.replace(b"3 * a", b"4 * a"))
    assert wrong.status == 1 and "63 of 64 elements are wrong" in wrong.err
    assert coopmat("run", "-", "--timeout", "0", stdin=SCALE).status == 2
