"""OpenCL C on Vulkan devices, from the source to the results: from Python, `coopmat run` and `coopmat cts`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from vulkan_support import open_device, vulkan_device

from coopmat import CompileError, compile as compile_for_opencl
from coopmat.matrices.numpy_reference import numpy_convert
from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.vulkan import Device, LocalMemory

VALIDATION = "VK_LAYER_KHRONOS_validation"
KERNELS = Path(__file__).parents[2] / "kernels"

SCALARS = """
typedef struct { int first; float second; } Pair;
kernel void scalars(global double *out, char c, ushort s, uint u, long l, float f, float4 v)
{
    out[0] = c; out[1] = s; out[2] = u; out[3] = l; out[4] = f; out[5] = v.x + v.w;
}
kernel void reverse(global const int *in, global int *out, local int *tile)
{
    int i = get_local_id(0), n = get_local_size(0);
    tile[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[n - 1 - i];
}
kernel __attribute__((reqd_work_group_size(8, 2, 1))) void where(global int2 *out)
{
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = (int2)(get_group_id(0), get_local_id(1));
}
"""

# One tile for each subgroup, of the shape M x N x K that the options define.
GEMM = """
#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(R, C, U) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, U)))
typedef half A MATRIX(TM, TK, CLK_COOPERATIVE_MATRIX_A);
typedef half B MATRIX(TK, TN, CLK_COOPERATIVE_MATRIX_B);
typedef float C MATRIX(TM, TN, CLK_COOPERATIVE_MATRIX_ACCUMULATOR);
kernel void gemm(global const half *a, global const half *b, global float *c, int n, int k)
{
    int row = get_group_id(1) * TM, column = get_group_id(0) * TN;
    C sum = coop_mat_init(0);
    for (int i = 0; i < k; i += TK) {
        A left = coop_mat_load(a + row * k + i, ROW, k);
        B right = coop_mat_load(b + i * n + column, ROW, n);
        sum = coop_mat_mulAdd(left, right, sum);
    }
    coop_mat_store(c + row * n + column, sum, ROW, n);
}
"""


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    with open_device() as opened:
        yield opened


def test_scalars_of_every_size(device: Device) -> None:
    program = device.program(SCALARS)
    out = np.zeros(6)
    vector = np.array([1, 2, 3, 4], np.float32)
    values = (-3, np.uint16(65535), 4_000_000_000, -(1 << 40), np.float32(0.5), vector)
    program.scalars(1, 1, out, *values)
    assert out.tolist() == [-3, 65535, 4_000_000_000, -(1 << 40), 0.5, 5]
    assert program.kernels == ["scalars", "reverse", "where"]


def test_arrays_that_overlap(device: Device) -> None:
    source = "kernel void next(global int *out, global const int *in) { int i = get_global_id(0); out[i] = in[i] + 1; }"
    kernel = device.program(source).kernel()
    a = np.arange(16, dtype=np.int32)
    kernel(16, 16, a, a)
    assert np.array_equal(a, np.arange(1, 17))
    kernel(4, 4, a[8:12], a[:12])
    assert np.array_equal(a, [*range(1, 9), 2, 3, 4, 5, *range(13, 17)])
    only_read = a[4:]
    only_read.flags.writeable = False
    kernel(4, 4, a[4:8], only_read)
    assert a[4:8].tolist() == [6, 7, 8, 9]
    with pytest.raises(CompileError, match="writes 'out', whose array is read-only"):
        kernel(4, 4, only_read, a[:4])


@pytest.mark.parametrize(
    ("element", "count"), [("float", 3), ("short", 3), ("short", 7), ("char", 7), ("int", 5), ("char2", 3)]
)
def test_structs_that_are_copied_in_larger_pieces_than_their_scalars(device: Device, element: str, count: int) -> None:
    source = f"typedef struct {{ {element} m[{count}]; }} S;"
    source += f"kernel void k(global S *x) {{ S s = x[1]; s.m[{count - 1}] = 9; x[0] = s; }}"
    scalars = 2 if element == "char2" else 1
    dtype = {"float": np.float32, "short": np.int16, "int": np.int32}.get(element, np.int8)
    x = np.arange(1, 2 * count * scalars + 1).astype(dtype).reshape(2, count, scalars)
    device.program(source).k(1, 1, x)
    expected = x[1].copy()
    expected[-1] = 9
    assert np.array_equal(x[0], expected)


VECTORS = """
kernel void vectors(global float *out, char2 a, float3 b, short3 c, short8 d, float16 e)
{
    out[5] = d.s0; out[6] = d.s7; out[7] = e.s0; out[8] = e.sf;
    out[0] = a.x; out[1] = a.y; out[2] = b.x; out[3] = b.z; out[4] = c.z;
}
"""


def test_vectors_by_value(device: Device) -> None:
    kernel = device.program(VECTORS).kernel()
    out = np.zeros(9, np.float32)
    d, e = np.arange(10, 18, dtype=np.uint16), np.arange(20, 36, dtype=np.float32)
    a, b, c = np.array([-1, 2], np.int8), np.array([3, 4, 5.5], np.float32), np.array([6, 7, -8, 0], np.int16)
    kernel(1, 1, out, a, b, c, d, e)
    assert out.tolist() == [-1, 2, 3, 5.5, -8, 10, 17, 20, 35]
    for position, value, message in (
        (1, 5, r"'a' \(char2\) of kernel 'vectors' needs 2 bytes in a value of numpy, not a int"),
        (1, np.int8(5), "'a' .* has 2 bytes, and its value has 1"),
        (2, b.view(np.int32), "'b' .* needs an array of float32, not a numpy array of int32"),
        (3, c.astype(">i2"), "'c' .* needs numbers in this machine's byte order, not a numpy array of >i2"),
        (3, c[:2], "'c' .* has 6 bytes, and its value has 4"),
    ):
        values = [out, a, b, c, d, e]
        values[position] = value
        with pytest.raises(CompileError, match=message):
            kernel(1, 1, *values)


def test_local_memory(device: Device) -> None:
    data = np.arange(64, dtype=np.int32)
    out = np.zeros_like(data)
    device.program(SCALARS).reverse(64, 16, data, out, LocalMemory(64))
    assert np.array_equal(out, data.reshape(4, 16)[:, ::-1].reshape(-1))


@pytest.mark.parametrize("element, size", [("char", 1), ("uint", 4), ("float4", 16)])
def test_a_local_argument_that_is_accessed_as_another_type(device: Device, element: str, size: int) -> None:
    source = f"""
        kernel void k(local {element} *p, global const ulong *in, global ulong *out) {{
            local ulong *tile = (local ulong *)(p + 16);
            tile[get_local_id(0)] = in[get_local_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            out[get_local_id(0)] = tile[get_local_id(0) ^ 1];
        }}
    """
    data, out = np.arange(32, dtype=np.uint64) << np.uint64(31), np.zeros(32, np.uint64)
    device.program(source).k(32, 32, LocalMemory(16 * size + data.nbytes), data, out)
    assert np.array_equal(out, data.reshape(-1, 2)[:, ::-1].reshape(-1))


# name -> (body of a kernel with the arguments `global int *out, int n`, the items of `out` for n = 1)
POINTERS = {
    "walk over rows": (
        """int m[2][2]; m[0][0] = n; m[0][1] = n * 2; m[1][0] = n * 3; m[1][1] = n * 4;
        int *p = (int *)m; for (int i = 0; i < 4; i++) out[i] = p[i];""",
        [1, 2, 3, 4],
    ),
    "walk over a table": ("constant int *p = (constant int *)table; out[0] = p[n + 3];", [5]),
    "back out of a row": (
        """int m[3][2]; for (int i = 0; i < 6; i++) m[i / 2][i % 2] = i * n;
        int *p = m[2]; int *q = m[n]; out[0] = p[-1]; out[1] = m[n][n]; out[2] = q[n];""",
        [3, 3, 3],
    ),
    "walk over members": (
        """struct { int a[3]; int b[3]; } s; for (int i = 0; i < 3; i++) s.a[i] = i * n, s.b[i] = 10 + i;
        int *p = (int *)&s; out[0] = p[n + 3];""",
        [11],
    ),
    "parts of a wide vector": (
        """int8 m[4]; for (int i = 0; i < 4; i++) m[i] = (int8)(i * n * 10) + (int8)(0, 1, 2, 3, 4, 5, 6, 7);
        int4 *p = (int4 *)m; out[0] = p[n + 2].y;""",
        [15],
    ),
    "a null pointer": (
        "int a[4]; a[n] = 3; int *p = n > 2 ? a + n : 0; out[0] = p == 0; out[1] = p ? 5 : 6; out[2] = (ulong)p;",
        [1, 6, 0],
    ),
    "a pointer that could be null": (
        "int a[4]; a[n] = 3; int *p = n < 2 ? a + n : 0; out[0] = p == 0; out[1] = p ? *p : 6; out[2] = (ulong)p != 0;",
        [0, 3, 1],
    ),
    "a null pointer that a loop sets": (
        """int a[4]; a[n] = n; int *p = 0, *q = 0; for (int i = 0; i < n; i++) p = a + i;
        for (int i = 0; i < n - 1; i++) q = a + i; a[0] = 8; out[0] = p ? *p : 7; out[1] = q ? *q : 7;""",
        [8, 7],
    ),
    "a byte of a word, beside a local pointer": (
        """local int v[4]; v[2] = n; local int *p = v + n; int w = n + 0x01020304; ((char *)&w)[3] = 7;
        ((char *)&w)[n] = 9; out[0] = w + p[n];""",
        [0x07020906],
    ),
    "differences of pointers to a table": (
        """constant long *p = (constant long *)&row + n; out[0] = p - (constant long *)&row; out[1] = p >= p;
        local short4 v; local char *q = (local char *)&v; out[2] = &q[n + 1] - (local char *)&v;""",
        [1, 1, 2],
    ),
    "a null pointer in a branch that is not taken": (
        "if (n == 2) for (int j = 0; j < n; j++) out[j] = ((private int *)0)[j]; else out[0] = 4;",
        [4],
    ),
    "steps from pointers that are not set": (
        """ushort v = 3; long w[2] = {7, n}; long *p;
        *(n == 2 ? (ushort *)0 - 0 : (ushort *)&v) = 5; out[0] = v;
        p = (n == 1 ? w + 2 : p) + -1; out[1] = *p;""",
        [5, 1],
    ),
    "local pointers chosen by a branch": (
        """local int v[4]; v[0] = n; v[1] = n + 4; local int *p = v + n;
        if (n == 2) { p = v + 1; v[3] = 1; } out[0] = *p;""",
        [5],
    ),
}


@pytest.mark.parametrize("name", POINTERS)
def test_pointers_that_leave_a_row_or_may_be_null(device: Device, name: str) -> None:
    body, expected = POINTERS[name]
    table = "constant int table[2][3] = {{1, 2, 3}, {4, 5, 6}};\nconstant float8 row = (float8)(1);\n"
    out = np.zeros(len(expected), np.int32)
    device.program(f"{table}kernel void k(global int *out, int n) {{ {body} }}").k(1, 1, out, np.int32(1))
    assert out.tolist() == expected


def test_a_packed_struct_in_another_struct(device: Device) -> None:
    source = """
        typedef struct __attribute__((packed)) { short a; short b; } Pair;
        typedef struct { short first; Pair pairs[2]; char last; } Item;
        kernel void k(global ulong *out, global Item *s, int n) {
            out[0] = s[n].pairs[n].b; out[1] = sizeof(Item); s[n].last = 99;
        }
    """
    out, data = np.zeros(2, np.uint64), np.arange(24, dtype=np.uint8)
    device.program(source).k(1, 1, out, data, np.int32(1))
    assert out.tolist() == [20 + 256 * 21, 12]
    assert data[22] == 99 and np.count_nonzero(data != np.arange(24)) == 1


def test_functions_of_work_groups_use_local_memory(device: Device) -> None:
    source = (
        "kernel void k(global long *o, local long *t) { t[0] = 1; o[get_local_id(0)] = work_group_reduce_add(t[0]); }"
    )
    out = np.zeros(64, np.int64)
    kernel = device.program(source).kernel()
    kernel(64, 64, out, LocalMemory(64))
    assert (out == 64).all()
    most = device.info.local_memory
    with pytest.raises(CompileError, match=f"'k' needs {most + 8 * 63} bytes of local memory, and .* has {most}"):
        kernel(64, 64, out, LocalMemory(most - 8))


def test_required_work_group_sizes(device: Device) -> None:
    out = np.zeros((4, 16, 2), np.int32)
    device.program(SCALARS).where((16, 4), None, out)
    assert np.array_equal(out[1, :, 0], np.arange(16) // 8)
    assert np.array_equal(out[:, 0, 1], np.arange(4) % 2)


@pytest.mark.parametrize("route", ["native", "lanes"])
def test_a_product_of_matrices(device: Device, route: str) -> None:
    variants = [v for v in device.info.variants or () if (v.a.name, v.c.name) == ("f16", "f32")]
    if route == "native" and not variants:
        pytest.skip(f"{device.info.label} multiplies no halves to float")
    m, n, k = (variants[0].m, variants[0].n, variants[0].k) if variants else (8, 8, 8)
    program = device.program(GEMM, [f"-DTM={m}", f"-DTN={n}", f"-DTK={k}", "--matrices", route])
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((2 * m, 3 * k), (3 * k, 4 * n)))
    c = np.zeros((2 * m, 4 * n), np.float32)
    kernel = program.gemm
    program.gemm((4 * kernel.sub_group_size, 2), (kernel.sub_group_size, 1), a, b, c, 4 * n, 3 * k)
    assert np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    with pytest.raises(CompileError, match="partial subgroups cannot hold a matrix"):
        program.gemm((4, 2), (1, 1), a, b, c, 4 * n, 3 * k)


@pytest.mark.parametrize("route", ("native", "lanes"))
def test_a_product_does_not_change_what_it_adds_to(device: Device, route: str) -> None:
    """Mesa's lavapipe adds to C itself if it divides K, and C may have other uses, or be used in a loop."""
    variants = [v for v in device.info.further_variants if (v.a.name, v.c.name) == ("f16", "f32")]
    if route == "native" and not variants:
        pytest.skip(f"{device.info.label} has no flexible multiply-add of halves to float, whose K it could divide")
    smallest = min(variants, key=lambda v: (v.m * v.n, v.k), default=None)
    m, n, k = (smallest.m, smallest.n, smallest.k) if smallest else (8, 8, 16)
    head, _, _ = GEMM.partition("kernel void")
    source = (
        head
        + """
        kernel void products(global const half *a, global const half *b, global float *c, int count)
        {
            A left = coop_mat_load(a, ROW, TK);
            B right = coop_mat_load(b, ROW, TN);
            const C given = coop_mat_load(c, ROW, TN);
            C sum = coop_mat_mulAdd(left, right, given);
            for (int i = 0; i < count; ++i) sum = sum + coop_mat_mulAdd(left, right, given);
            coop_mat_store(c, sum - given, ROW, TN);
        }
        """
    )
    program = device.program(source, [f"-DTM={m}", f"-DTN={n}", f"-DTK={k}", "--matrices", route])
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(-4, 5, shape) for shape in ((m, k), (k, n), (m, n)))
    out = c.astype(np.float32)
    size = program.products.sub_group_size
    program.products((size,), (size,), a.astype(np.float16), b.astype(np.float16), out, 3)
    assert np.array_equal(out, 4 * (a @ b) + 3 * c)


CONVERSION = """
#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#define MATRIX(T) T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, M, N, \\
    CLK_COOPERATIVE_MATRIX_ACCUMULATOR)))
typedef MATRIX(FROM) Source;
typedef MATRIX(TO) Target;
kernel void convert(global const FROM *in, global TO *out)
{
    Source m = coop_mat_load(in, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, N);
    Target n = coop_mat_convert##HOW(m);
    coop_mat_store(out, n, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, N);
}
"""


@pytest.mark.parametrize("route", ("native", "lanes"))
@pytest.mark.parametrize(
    ("source", "target", "hows"),
    [
        ("f32", "s32", ("rte", "rtz", "rtp", "rtn", "sat", "sat_rte", "sat_rtz", "sat_rtp", "sat_rtn")),
        ("f32", "u32", ("rte", "rtp", "rtn", "sat", "sat_rte", "sat_rtn")),
        ("f16", "s32", ("rte", "sat", "sat_rtp")),
        ("f32", "f16", ("rte", "rtz", "rtp", "rtn")),
        ("s32", "u32", ("sat",)),
        ("s32", "f32", ("rte",)),
    ],
)
def test_conversions_of_matrices(device: Device, source: str, target: str, hows: Sequence[str], route: str) -> None:
    """Vulkan's instructions neither round as a decoration states nor saturate."""
    sums = {v.c.name: (v.m, v.n) for v in device.info.variants or ()}
    if route == "native" and not (source in sums and sums[source] == sums.get(target)):
        pytest.skip(f"{device.info.label} has no matrices of {source} and {target}")
    m, n = sums.get(source, (8, 8))
    old, new = COMPONENT_TYPES[source], COMPONENT_TYPES[target]
    for how in hows:
        options = [f"-DM={m}", f"-DN={n}", f"-DFROM={old.opencl_c}", f"-DTO={new.opencl_c}", "--matrices", route]
        program = device.program(CONVERSION.replace("##HOW", f"_{how}"), options)
        saturate, rounding = how.startswith("sat"), how.removeprefix("sat").removeprefix("_")
        values = np.random.default_rng(1).uniform(0 if target == "u32" and not saturate else -99, 99, m * n)
        values[:4] = 0.5, 2.5, 3.5, 2047
        if old.is_integer or saturate:
            ends = (2.0**31, -(2.0**31), 2.0**32, 2147483520, 60000, -0.5, -1, np.inf, -np.inf, np.nan)
            values[4:14] = np.clip(np.nan_to_num(ends), -(2.0**31), 2.0**31 - 1) if old.is_integer else ends
        elif target == "f16":
            values[4:12] = 2049, 65519, 65520, 1e30, -1e30, 1e-7, 3e-8, np.inf
        with np.errstate(over="ignore"):
            data = values.astype(old.numpy).reshape(m, n)
        out = np.zeros((m, n), new.numpy)
        size = program.convert.sub_group_size
        program.convert(size, size, data, out)
        np.testing.assert_array_equal(out, numpy_convert(data, new, rounding, saturate), how)


# Matrices of floats in local memory that is declared as vectors, as a struct, and as integers of 16 bits.
SHARED_MEMORY = (
    GEMM.partition("kernel void")[0]
    + """
#define SIZE (TM * TN)
kernel void sums(global const float *in, global float *out)
{
    local float4 vectors[SIZE / 4];
    local struct { float first; float others[SIZE - 1]; } both;
    local ushort halves[2 * SIZE];
    uint lane = get_local_id(0), step = get_local_size(0);
    for (uint i = lane; i < SIZE / 4; i += step) vectors[i] = vload4(i, in);
    for (uint i = lane; i < SIZE; i += step) ((local float *)&both)[i] = in[i];
    for (uint i = lane; i < 2 * SIZE; i += step) halves[i] = as_uint(in[i / 2]) >> 16 * (i % 2);
    barrier(CLK_LOCAL_MEM_FENCE);
    C first = coop_mat_load((local float *)vectors, ROW, TN);
    C second = coop_mat_load((local float *)&both, ROW, TN);
    C third = coop_mat_load((local float *)halves, ROW, TN);
    barrier(CLK_LOCAL_MEM_FENCE);
    coop_mat_store((local float *)vectors, first + second + third, CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR, TM);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < SIZE / 4; i += step) vstore4(vectors[i], i, out);
}
"""
)


@pytest.mark.parametrize("route", ("native", "lanes"))
def test_matrices_in_local_memory_of_another_type(device: Device, route: str) -> None:
    """The conversion makes integers of such memory, in which a matrix's stride counts integers."""
    variants = [v for v in device.info.variants or () if v.c.name == "f32" and v.m * v.n % 4 == 0]
    if route == "native" and not variants:
        pytest.skip(f"{device.info.label} has no matrices of float")
    m, n, k = (variants[0].m, variants[0].n, variants[0].k) if variants else (8, 8, 8)
    program = device.program(SHARED_MEMORY, [f"-DTM={m}", f"-DTN={n}", f"-DTK={k}", "--matrices", route])
    data, out = np.arange(m * n, dtype=np.float32).reshape(m, n), np.zeros((n, m), np.float32)
    program.sums(program.sums.sub_group_size, program.sums.sub_group_size, data, out)
    assert np.array_equal(out, 3 * data.T)


def test_a_shape_that_the_device_lacks_is_refused_at_its_line(device: Device) -> None:
    if not device.info.variants:
        pytest.skip(f"{device.info.label} has no matrices")
    with pytest.raises(CompileError, match="does not support the matrix type 3x5"):
        device.program(GEMM, ["-DTM=3", "-DTN=5", "-DTK=5"])


# A kernel that runs for some seconds, and a program that runs it until a signal.
LONG = """
import os, signal, sys, time, numpy, coopmat.vulkan
device = coopmat.vulkan.Device(sys.argv[1])
source = '''
kernel void turn(global volatile int *a, long n) { for (long i = 0; i < n; i++) a[0] = i; a[1] = 1; }
kernel void next(global int *a) { a[0] += 1; }
'''
program = device.program(source)
a = numpy.zeros(2, numpy.int32)
"""


def run_long(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LONG + program, vulkan_device().index]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_an_interrupt_ends_the_wait_for_a_kernel() -> None:
    done = run_long(
        "signal.signal(signal.SIGALRM, signal.default_int_handler)\nsignal.alarm(2)\nprogram.turn(1, 1, a, 1 << 60)"
    )
    assert "KeyboardInterrupt" in done.stderr


def test_a_run_after_an_interrupt_follows_the_abandoned_kernel() -> None:
    """Any signal's handler may interrupt a wait; then the buffers stay until the abandoned kernel has ended."""
    done = run_long("""
def stop(*_):
    raise TimeoutError
signal.signal(signal.SIGALRM, stop)
# Long enough to be interrupted, on machines of any speed.
n = 1000
while program.turn(1, 1, a, n) < 2:
    n *= 2
launch = program.bind(program.turn, {'a': a, 'n': n})
signal.setitimer(signal.ITIMER_REAL, 0.5)
start = time.perf_counter()
try:
    launch.run(1, 1)
except TimeoutError:
    print('interrupted', time.perf_counter() - start < 1.9)
b = numpy.zeros(2, numpy.int32)
program.next(1, 1, b)
print(b[0], launch.read('a')[1])
launch.close()
device.close()
""")
    assert (done.stdout, done.returncode) == ("interrupted True\n1 1\n", 0), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_fork_cannot_use_the_device() -> None:
    done = run_long(
        """
import warnings
warnings.simplefilter('ignore')
program.next(1, 1, a)
if os.fork() == 0:
    try:
        program.next(1, 1, a)
    except coopmat.CompileError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
program.next(1, 1, a)
print(a[0])
""".replace("import warnings", "import coopmat, warnings")
    )
    assert "was opened before this process was forked; start the process by multiprocessing's method" in done.stdout
    assert done.stdout.endswith("\n2\n")


def test_opencl_c_for_the_device_is_refused(device: Device) -> None:
    with pytest.raises(CompileError, match="takes SPIR-V only"):
        device.program(SCALARS, ["--matrices", "mma"])


def test_a_module_and_its_launch_description_from_files(device: Device, tmp_path: Path) -> None:
    source = tmp_path / "reverse.cl"
    source.write_text(SCALARS)
    done = coopmat("compile", str(source), "--target-env", "vulkan1.3", "--emit", "spv,launch", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    description = (tmp_path / "reverse.launch.json").read_text()
    program = device.load_spirv((tmp_path / "reverse.spv").read_bytes(), description)
    data = np.arange(32, dtype=np.int32)
    out = np.zeros_like(data)
    program.reverse(32, 8, data, out, LocalMemory(32))
    assert np.array_equal(out, data.reshape(4, 8)[:, ::-1].reshape(-1))


def test_modules_for_opencl_are_refused(device: Device) -> None:
    with pytest.raises(CompileError, match=r"the module is not for .*: compile it with --target-env vulkan1\.3"):
        device.load(compile_for_opencl(SCALARS))


def test_compile_for_a_device(tmp_path: Path) -> None:
    source = tmp_path / "gemm.cl"
    source.write_text(GEMM)
    words = ("compile", str(source), "--device", vulkan_device().index, "-DTM=8", "-DTN=8", "-DTK=8", "-o", "gemm.spv")
    done = coopmat(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "gemm.spv").read_bytes()[4:8] == b"\0\6\1\0"


# --- the command line --------------------------------------------------------------------------------


def coopmat(*words: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "coopmat", *words]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **variables}, check=False, cwd=cwd
    )


def run(path: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return coopmat("run", str(path), "--device", vulkan_device().index, *words, **variables)


@pytest.mark.parametrize(
    ("name", "options"),
    [("saxpy", ()), ("reduce", ()), ("gemm_tiled", ()), ("gemm_f16", ("--matrices", "lanes", "--repeat", "2"))],
)
def test_kernels_run_as_on_opencl(name: str, options: Sequence[str]) -> None:
    done = run(KERNELS / f"{name}.cl", *options)
    assert done.returncode == 0, done.stderr
    assert ": ok, max error" in done.stdout
    assert "WRONG" not in done.stdout


def test_a_wrong_result_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "wrong.cl"
    file.write_text(
        "// run: kernel=k global=4 local=4 a=i32[4]:zeros\n// check: a == 2 + range\n"
        "kernel void k(global int *a) { a[get_global_id(0)] = 1; }\n".replace("2 + range", "arange(4)")
    )
    done = run(file)
    assert done.returncode == 1
    assert "WRONG" in done.stdout
    assert "3 of 4 elements are wrong" in done.stderr


def test_partial_work_groups_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "partial.cl"
    file.write_text(
        "// run: kernel=k global=6 local=4 a=i32[8]:zeros\nkernel void k(global int *a) { a[get_global_id(0)] = 1; }\n"
    )
    done = run(file)
    assert done.returncode == 1
    assert "global size (6,) is no multiple of local size (4,): Vulkan executes whole work-groups" in done.stderr


def test_a_kernel_that_never_ends_is_ended(tmp_path: Path) -> None:
    file = tmp_path / "endless.cl"
    file.write_text(
        "// run: kernel=k global=1 local=1 a=i32[1]:zeros\n"
        "kernel void k(global volatile int *a) { while (a[0] == 0) {} }\n"
    )
    done = run(file, "--timeout", "5")
    assert done.returncode == 1
    assert "the run took longer than 5 s, and was ended" in done.stderr


def test_a_crash_of_the_driver_is_reported_with_its_signal(tmp_path: Path) -> None:
    if vulkan_device().kind != "CPU":
        pytest.skip("an invalid access only crashes a device that shares the process")
    file = tmp_path / "crash.cl"
    file.write_text(
        "// run: kernel=k global=8 local=8 a=i32[8]:zeros\n"
        "kernel void k(global int *a) { a[(1l << 40) + get_global_id(0)] = 1; }\n"
    )
    done = run(file)
    assert done.returncode == 1
    assert "kernel 'k' crashed with signal 11 (SIGSEGV)" in done.stderr
    assert "global size (8,), local size (8,), a=int32[8]" in done.stderr


def test_unknown_devices(tmp_path: Path) -> None:
    vulkan_device()
    done = coopmat("run", str(KERNELS / "saxpy.cl"), "--device", "vulkan:no such device")
    assert done.returncode == 1
    assert "no Vulkan device fits 'vulkan:no such device'" in done.stderr


@pytest.mark.parametrize("route", ["native", "lanes"])
def test_conformance_tests(route: str, tmp_path: Path) -> None:
    device = vulkan_device()
    if route == "native" and not device.variants:
        pytest.skip(f"{device.label} has no matrices")
    words = ("c_length", "c_add", "spirv_add", "-w", "--device", device.index, "--route", route)
    done = coopmat("cts", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert " 0 FAILED" in done.stdout
    assert "only OpenCL C is converted for Vulkan" in done.stdout


def test_the_validation_layers_report_nothing(tmp_path: Path) -> None:
    vulkan_device()
    variables = {"VK_INSTANCE_LAYERS": VALIDATION}
    first = run(KERNELS / "saxpy.cl", **variables)
    if "VK_ERROR_LAYER_NOT_PRESENT" in first.stderr:
        pytest.skip(f"{VALIDATION} is not installed")
    words = ("c_add", "-w", "--device", vulkan_device().index)
    second = coopmat("cts", *words, cwd=tmp_path, **variables)
    files = [str(Path(__file__).with_name(f"test_vulkan_{name}.py")) for name in ("launches", "images")]
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", *files]
    third = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, check=False)
    for done in (first, second, third):
        assert done.returncode == 0, done.stdout + done.stderr
        assert not [word for word in ("VUID", "Validation") if word in done.stdout + done.stderr]


NARROW = """
#define MATRIX(U) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_##U)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef char A MATRIX(A);
typedef char B MATRIX(B);
typedef int C MATRIX(ACCUMULATOR);
kernel void gemm(global const char *a, global const char *b, global int *c, int n)
{
    A left = coop_mat_load(a, ROW, 8);
    B right = coop_mat_load(b, ROW, n);
    C sum = coop_mat_mulAdd(left, right, (C)coop_mat_init(0));
    coop_mat_store(c, sum, ROW, 8);
}
"""


def test_rows_of_8_bytes_need_strides_of_8_bytes(device: Device) -> None:
    if not any((p.m, p.n, p.k, p.a, p.b, p.c) == (8, 8, 8, "s8", "s8", "s32") for p in device.info.products):
        pytest.skip("the device has no 8x8x8.s8xs8_s32_s32")
    random, size = np.random.default_rng(1), device.info.sub_group_size
    a, b = (random.integers(-9, 9, (8, columns)).astype(np.int8) for columns in (8, 24))
    c = np.zeros((8, 8), np.int32)
    program = device.program(NARROW)
    program.gemm(size, size, a, b, c, 24)
    assert np.array_equal(c, a.astype(int) @ b[:, :8])
    with pytest.raises(CompileError, match=r"'n' .* is 20; it is the stride of matrices, and must be a multiple of 8"):
        program.gemm(size, size, a, b, c, 20)
