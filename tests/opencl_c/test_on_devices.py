"""Programs as OpenCL C on devices, held to the device's own compiler, and those with matrices to numpy."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import opencl_c_programs as programs
import pytest
from differential import Launch, difference, execute
from opencl_devices import device_of
from repeats import slow_where

import coopmat
from coopmat.compiler import Module
from coopmat.devices import DeviceInfo, opencl
from coopmat.opencl_c import logs
from coopmat.options import CompileOptions
from coopmat.runtime import resolve_options, run_file

ROOT = Path(__file__).resolve().parents[2]


def compiled(device: DeviceInfo, source: str, *options: str) -> Module:
    wanted = CompileOptions.from_arguments(["--code", "c", "--matrices", "auto", "-cl-std=CL1.2", *options])
    return coopmat.compile(source, resolve_options(wanted, device), name="program.cl")


def test_the_language_is_what_the_devices_own_compiler_has(device: DeviceInfo) -> None:
    contract = "#pragma OPENCL FP_CONTRACT OFF\n"
    module = compiled(device, contract + programs.LANGUAGE)
    launches = programs.launches()
    ours = execute(device, module.opencl_c, launches, module.opencl_c_options)
    theirs = execute(device, contract + programs.LANGUAGE, launches, ["-cl-std=CL1.2"])
    found = [
        f"{launch.kernel}, argument {number}: {text}"
        for launch, mine, other in zip(launches, ours, theirs, strict=True)
        for number in mine
        if (text := difference(mine[number], other[number]))
    ]
    assert not found, "\n".join(found)


CASES = [("one", 1), ("scratch", 8), ("lanes", 16)]


@pytest.mark.parametrize(("matrices", "size"), CASES)
def test_matrices_are_what_numpy_says(device: DeviceInfo, matrices: str, size: int) -> None:
    if matrices == "lanes" and not device.sub_groups:
        pytest.skip("the device has no subgroups")
    module = compiled(device, _sized(size), "--matrices", matrices, "--sub-group-size", str(size))
    assert module.kernels["program"].sub_group_size == size
    launches = [programs.matrix_launch(size), programs.operators_launch(size)]
    found = execute(device, module.opencl_c, [launch for launch, _ in launches], module.opencl_c_options)
    for after, (launch, expected) in zip(found, launches, strict=True):
        for number, wanted in expected.items():
            assert not difference(after[number], wanted), (launch.kernel, number)


def _sized(size: int) -> str:
    return programs.MATRICES.replace("SIZE", f"__attribute__((reqd_work_group_size({size}, 1, 1)))")


# That device's compiler takes long over each product: once for each lowering, and for each file.
_ONCE = {("saxpy.cl", "one"), ("gemm_f32.cl", "one"), ("gemm_f16.cl", "scratch")}
_FILES = product(("saxpy.cl", "gemm_f32.cl", "gemm_f16.cl"), ("one", "scratch"))


@pytest.mark.parametrize(
    ("file", "matrices"), slow_where(lambda *pair: "gemm" in pair[0] and pair not in _ONCE, _FILES)
)
def test_kernel_files_run_where_no_spirv_is_taken(file: str, matrices: str) -> None:
    results = run_file(ROOT / "kernels" / file, device_of("pocl"), matrices=matrices)
    assert results and all(result.ok and result.module.code == "c" for result in results)


# The address of a part of a value that has no name.
UNNAMED = """
#define C(T, R, N) T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, N, ACCUMULATOR)))
#define ACCUMULATOR CLK_COOPERATIVE_MATRIX_ACCUMULATOR
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef float M __attribute__((matrix_type(4, 4)));
typedef struct { C(float, 4, 4) o[2]; } S;
typedef struct { S s[2]; } N;
typedef struct { M o[2]; int a[3]; } T;

static S pair(C(float, 4, 4) m) { S s; s.o[0] = m; s.o[1] = m + m; return s; }
static N nest(C(float, 4, 4) m) { N n; n.s[1] = pair(m); return n; }
static T type(M m, int x) { T t; t.o[1] = m; t.a[1] = x; t.a[2] = x + 1; return t; }
static int first(const int *p) { return *p; }

kernel void unnamed(global float *p, global float *q, global int *r)
{
    C(float, 4, 4) m = coop_mat_load(p, ROW, 4);
    S s = pair(m + m);
    coop_mat_store(q, pair(m).o[0], ROW, 4);
    coop_mat_store(q + 16, (r[0] ? s : pair(m)).o[1], ROW, 4);
    coop_mat_store(q + 32, nest(m).s[1].o[1], ROW, 4);
    coop_mat_store(q + 48, ((S){{m, m}}).o[1], ROW, 4);
    M t = __builtin_matrix_column_major_load(p, 4, 4, 4);
    __builtin_matrix_column_major_store(type(t, 1).o[1], q + 64, 4);
    const int *kept = &type(t, 5).a[1];
    r[1] = first(type(t, 3).a + 1); r[2] = first(&type(t, 3).a[2]); r[3] = *kept; r[4] = type(t, 7).a[2];
    r[5] = first(((T){.a = {8, 9}}).a);
}
"""


def test_parts_of_unnamed_values(device: DeviceInfo) -> None:
    p = np.random.default_rng(4).uniform(-1, 1, (4, 4)).astype(np.float32)
    r = np.array([1, 0, 0, 0, 0, 0], np.int32)
    module = compiled(device, UNNAMED, "--matrices", "one")
    launch = Launch("unnamed", [p, np.zeros((5, 4, 4), np.float32), r])
    (found,) = execute(device, module.opencl_c, [launch], module.opencl_c_options)
    assert not difference(found[1], np.array([p, 4 * p, 2 * p, p, p]))
    assert found[2].tolist() == [1, 3, 4, 5, 8, 8]


HALVES = """
#define ACCUMULATOR CLK_COOPERATIVE_MATRIX_ACCUMULATOR
#define C(T) T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 8, ACCUMULATOR)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
kernel void halves(global float *f, global double *d, global int *i, global half *h, global float *back)
{
    C(half) a = (C(half))(C(float))coop_mat_load(f, ROW, 8), b = (C(half))(C(double))coop_mat_load(d, ROW, 8);
    C(half) c = (C(half))(C(int))coop_mat_load(i, ROW, 8);
    coop_mat_store(h, a, ROW, 8);
    coop_mat_store(h + 32, b, ROW, 8);
    coop_mat_store(h + 64, c, ROW, 8);
    coop_mat_store(h + 96, a * b - c, ROW, 8);
    coop_mat_store(back, (C(float))-a, ROW, 8);
}
"""


@pytest.mark.parametrize("extra", ["pocl", "oclgrind"])
def test_matrices_of_half_without_the_extension(extra: str) -> None:
    device = device_of(extra)
    assert not device.fp16
    d = np.random.default_rng(8).standard_normal((4, 8)) * np.exp2(np.arange(-24, 8))[:32].reshape(4, 8)
    d[0, :4] = [1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 65519.99, 1e9]
    i = np.random.default_rng(9).integers(-70000, 70000, (4, 8), np.int32)
    i[0, :3] = [2049, 2051, -(2**31)]
    f = d.astype(np.float32)
    with np.errstate(all="ignore"):
        a, b, c = (x.astype(np.float16) for x in (f, d, i))
        expected = np.array([a, b, c, (a * b).astype(np.float16) - c])
    module = compiled(device, HALVES)
    launch = Launch("halves", [f, d, i, np.zeros((4, 4, 8), np.float16), np.zeros((4, 8), np.float32)])
    (found,) = execute(device, module.opencl_c, [launch], module.opencl_c_options)
    assert not difference(found[3], expected)
    assert not difference(found[4], -a.astype(np.float32))


HALF_VALUES = """
typedef struct { int i; half h; } S;
constant half table[2] = {1.5h, -0.0h};
half twice(half x) { x += x; return x; }
kernel void values(const global half *x, const global half *y, const global S *s, const global double *d,
                   global half *out, global int *ints)
{
    size_t i = get_global_id(0), n = get_global_size(0);
    half a = x[i], b[2] = {y[i], s->h};
    half sum = a;
    sum += *b;
    int whole = ints[i];
    whole += a;
    half next = a;
    half before = next++;
    half results[] = {sum, a - *b, a * *b, a / *b, -a, twice(a), a * b[0] + b[1], (half)d[i], convert_half_rtz(d[i]),
                      (half)whole, a < *b ? a : *b, as_half((ushort)(as_ushort(a) ^ 0x8000)), before, next,
                      table[i & 1], (half)vload_half(i, y)};
    for (int j = 0; j < 16; j++)
        out[j * n + i] = results[j];
    ints[i] = (a == *b) + 2 * (a != 0) + 4 * (bool)a + 8 * (int)s->h;
}
"""


@pytest.mark.parametrize("extra", ["pocl", "oclgrind"])
def test_values_of_half_without_the_extension(extra: str) -> None:
    """They are carried as bits and computed in float: numpy's float16, bit by bit."""
    device = device_of(extra)
    rng = np.random.default_rng(11)
    x, y = (rng.integers(0, 0x7C00, 64).astype(np.uint16).view(np.float16) for _ in range(2))
    x, y = (v * rng.choice([-1, 1], 64).astype(np.float16) for v in (x, y))
    x[:4], y[:4] = [0, 65504, 6e-8, 1], [1, 65504, 3, 1]
    d = rng.standard_normal(64) * np.exp2(rng.integers(-26, 17, 64))
    d[:2] = [1 + 2.0**-11 + 2.0**-40, -(1 + 2.0**-11)]
    i = rng.integers(-2000, 2000, 64).astype(np.int32)
    s = np.zeros(1, [("i", np.int32), ("h", np.float16), ("pad", np.uint16)])
    s["h"] = h = np.float16(2.75)
    with np.errstate(all="ignore"):
        whole = (i.astype(np.float16) + x).astype(np.int32)
        toward = d.astype(np.float16)
        toward = np.where(np.abs(toward.astype(float)) > np.abs(d), np.nextafter(toward, np.float16(0)), toward)
        table = np.where(np.arange(64) & 1, np.float16(-0.0), np.float16(1.5))
        expected = [x + y, x - y, x * y, x / y, -x, x + x, x * y + h, d.astype(np.float16), toward]
        one = np.float16(1)
        expected += [whole.astype(np.float16), np.where(x < y, x, y), -x, x, x + one, table, y]
    module = compiled(device, HALF_VALUES)
    assert "half " not in module.opencl_c.replace("const half *", "").replace("__private half *", "")
    arguments = [x, y, s.view(np.uint8), d, np.zeros((16, 64), np.float16), i.copy()]
    (found,) = execute(device, module.opencl_c, [Launch("values", arguments, (64,))], module.opencl_c_options)
    assert not difference(found[4], np.array(expected))
    assert (found[5] == (x == y) + 2 * (x != 0) + 4 * (x != 0) + 16).all()


NEWER = """
kernel void numbers(const global uchar *x, global uint *out)
{
    size_t i = get_global_linear_id();
    char narrow = x[i];
    char2 pair = ctz((char2)(narrow, x[i] << 4));
    out[4 * i] = ctz(narrow) + 16 * ctz((ulong)x[i] << 33);
    out[4 * i + 1] = pair.x + 16 * pair.y;
    out[4 * i + 2] = get_local_linear_id() + 1000 * get_enqueued_local_size(1);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[4 * i + 3] = ctz(x[i] & 3u);
}
"""


def test_builtins_of_newer_versions_in_words_of_older_ones(device: DeviceInfo) -> None:
    module = compiled(device, NEWER)
    assert module.opencl_c_options[0] == "-cl-std=CL1.2" and "ctz" not in module.opencl_c
    x = np.arange(64, dtype=np.uint8)
    launch = Launch("numbers", [x, np.zeros((64, 4), np.uint32)], (16, 4), (8, 2))
    (found,) = execute(device, module.opencl_c, [launch], module.opencl_c_options)
    zeros = np.array([8, *(((int(n) & -int(n)).bit_length() - 1) for n in x[1:])])
    i = np.arange(64)
    local = i % 16 % 8 + 8 * (i // 16 % 2)
    assert (found[1][:, 0] == zeros + 16 * np.where(x == 0, 64, zeros + 33)).all()
    assert (found[1][:, 1] == zeros + 16 * np.where(x % 16 == 0, 8, zeros + 4)).all()
    assert (found[1][:, 2] == local + 2000).all()
    assert (found[1][:, 3] == np.where(x & 3, zeros, 32)).all()


@pytest.mark.parametrize(("matrices", "size"), CASES[:2])
def test_oclgrind_finds_no_race_and_nothing_uninitialised(matrices: str, size: int, tmp_path: Path) -> None:
    device = device_of("oclgrind")
    module = compiled(device, _sized(size), "--matrices", matrices, "--sub-group-size", str(size))
    job = tmp_path / "job"
    job.write_bytes(pickle.dumps((module.opencl_c, module.opencl_c_options, size)))
    environment = os.environ | {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_UNINITIALIZED": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("simulated.py")), str(job)],
        capture_output=True, text=True, cwd=ROOT, env=environment, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 0 and "right" in ran.stdout, ran.stderr
    assert "Oclgrind" not in ran.stderr and "Invalid" not in ran.stderr and "race" not in ran.stderr, ran.stderr


@pytest.mark.parametrize("extra", ["cpu", "pocl", "oclgrind"])
def test_what_a_driver_says_is_told_of_the_users_source(extra: str) -> None:
    device = device_of(extra)
    source = "kernel void k(global int *o)\n{\n    o[0] = 1;\n    o[1] = 2;\n}\n"
    module = compiled(device, source)
    text = module.opencl_c.replace("o[1] = 2", "o[1] = missing")
    with pytest.raises(Exception, match="BUILD_PROGRAM_FAILURE") as caught:
        execute_once(device, text, module.opencl_c_options)
    found = logs.diagnostics(str(caught.value), module.sources, text)
    assert [(str(item.span), "undeclared" in item.message) for item in found if item.severity.is_error] == [
        ("program.cl:4:5", True)
    ]


def execute_once(device: DeviceInfo, text: str, options: tuple[str, ...]) -> None:
    cl = opencl()
    program = cl._cl._Program(cl.Context([device.handle]), text.encode())
    program.build(" ".join(options).encode(), [device.handle])


def test_the_same_buffers_come_out_of_spirv() -> None:
    device = device_of("cpu")
    launch, expected = programs.matrix_launch(1)
    module = coopmat.compile(_sized(1), ["--matrices", "one", "--no-validate"], name="program.cl")
    (found,) = execute(device, module.spirv, [launch])
    assert all(np.array_equal(found[number], wanted) for number, wanted in expected.items())
