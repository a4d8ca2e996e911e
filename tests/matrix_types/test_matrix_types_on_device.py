"""Matrix types on devices: arithmetic at its edges, the way to cooperative matrices and back, programs and hook."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from differential import Array, Launch, Value, difference, execute
from opencl_devices import device_of

import coopmat
from coopmat.cache import CACHE_DIRECTORY
from coopmat.devices import DeviceInfo, opencl
from coopmat.runtime import run_file

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
CODES = ["spirv", "c"]


def run(device: DeviceInfo, source: str, launches: list[Launch], *options: str) -> list[dict[int, Array]]:
    """What the kernels leave, through the code that the options ask for."""
    module = coopmat.compile(source, ["--no-validate", *options], name="program.cl")
    if module.code == "c":
        return execute(device, module.opencl_c, launches, module.opencl_c_options)
    return execute(device, module.spirv, launches)


def _value(number: float, dtype: Any) -> Value:
    return Value(np.array(number, dtype))


# --- arithmetic ------------------------------------------------------------------------------------

EDGES = """
#pragma OPENCL FP_CONTRACT OFF
typedef float f __attribute__((matrix_type(1, 1)));
typedef char c __attribute__((matrix_type(1, 2)));
typedef int i __attribute__((matrix_type(1, 1)));
typedef half h __attribute__((matrix_type(1, 1)));
kernel void zeros(global float *o, float nothing)
{
    f minus = (f)-0.0f, one = (f)1.0f;
    f all[] = { minus * one, minus + minus, minus - minus, minus * -1, __builtin_matrix_transpose(minus),
                minus * nothing, 0 - one * nothing };
    for (int n = 0; n < 7; n++) o[n] = all[n][0][0];
}
kernel void integers(global char *o, global int *p, char big)
{
    c m = (c)big;
    i most = (i)0x7fffffff;
    __builtin_matrix_column_major_store(m + m, o);
    __builtin_matrix_column_major_store(m * big, o + 2);
    m[0][1]++;
    __builtin_matrix_column_major_store(m, o + 4);
    __builtin_matrix_column_major_store(most + 1, p);
    __builtin_matrix_column_major_store(most * most, p + 1);
}
kernel void halves(global half *o, half x, half y)
{
    h m = (h)x;
    __builtin_matrix_column_major_store(m + y, o);
    __builtin_matrix_column_major_store(m * m - y, o + 1);
    __builtin_matrix_column_major_store(m * y + y, o + 2);
}
"""


@pytest.mark.parametrize("code", CODES)
def test_elements_are_what_scalars_of_their_type_are(device: DeviceInfo, code: str) -> None:
    x, y = np.float16(33.03125), np.float16(0.5)
    launches = [
        Launch("zeros", [np.zeros(7, np.float32), _value(0.0, np.float32)]),
        Launch("integers", [np.zeros(6, np.int8), np.zeros(2, np.int32), _value(127, np.int8)]),
        Launch("halves", [np.zeros(3, np.float16), _value(x, np.float16), _value(y, np.float16)]),
    ]
    zeros, integers, halves = run(device, EDGES, launches, "--code", code)
    # A product starts from 0, to which -0 is added; a product with a scalar does not.
    assert not difference(zeros[0], np.array([0.0, -0.0, 0.0, 0.0, -0.0, -0.0, 0.0], np.float32))
    assert integers[0].tolist() == [-2, -2, 1, 1, 127, -128]
    assert integers[1].tolist() == [-(2**31), 1]
    # Each operation rounds to half.
    assert not difference(halves[0], np.array([x + y, x * x - y, x * y + y], np.float16))


CONTRACTED = """
typedef float row __attribute__((matrix_type(1, 2)));
typedef float column __attribute__((matrix_type(2, 1)));
kernel void k(global const row *a, global const column *b, global float *o)
{
    PRAGMA
    o[0] = (*a * *b)[0][0];
}
"""


OFF = "#pragma OPENCL FP_CONTRACT OFF"


@pytest.mark.parametrize(
    ("pragma", "option", "allowed"),
    [
        ("", "-ffp-contract=on", True),
        ("", "-ffp-contract=off", False),
        (OFF, "-ffp-contract=on", False),
        (OFF, "-ffp-contract=matrix", True),
    ],
)
def test_products_are_contracted_only_where_that_is_allowed(
    device: DeviceInfo, pragma: str, option: str, allowed: bool
) -> None:
    source = CONTRACTED.replace("PRAGMA", pragma)
    x = np.float32(1 + 2.0**-12)
    # What x * x loses by rounding is what remains where it is added unrounded.
    a, b, rest = np.array([-x * x, x], np.float32), np.array([1, x], np.float32), 2.0**-24
    for code in CODES:
        (found,) = run(device, source, [Launch("k", [a, b, np.zeros(1, np.float32)])], "--code", code, option)
        assert found[2][0] in ([0, rest] if allowed else [0]), code
    before = coopmat.compile(source, ["--code", "c", option]).opencl_c.partition("static CM_INLINE void cm_tree")[0]
    assert (OFF in before) != allowed


# --- builtins of clang and layouts ------------------------------------------------------------------

ELEMENTWISE = """
typedef float m34 [[clang::matrix_type(3, 4)]];
typedef int i34 __attribute__((matrix_type(3, 4, layout(row_major))));
kernel void floats(global const m34 *a, global m34 *o)
{
    o[0] = __builtin_elementwise_max(a[0], a[1]) * 2;
    o[1] = __builtin_elementwise_fma(a[0], __builtin_elementwise_abs(a[1]), a[0] - a[1]);
    o[2] = __builtin_elementwise_copysign(__builtin_elementwise_floor(a[0] * 0.5f), a[1]);
}
kernel void integers(global const i34 *a, global i34 *o, global int4 *v, global char *c)
{
    o[0] = __builtin_elementwise_abs(a[0]);
    o[1] = __builtin_elementwise_min(a[0], a[1]);
    o[2] = __builtin_elementwise_add_sat(a[0], (i34)0x7fffffff);
    v[0] = __builtin_elementwise_max(v[0], v[1]);
    c[0] = __builtin_elementwise_abs(c[0]);
}
"""


@pytest.mark.parametrize("code", CODES)
def test_elementwise_builtins(device: DeviceInfo, code: str) -> None:
    a = np.arange(-11, 13, dtype=np.float32).reshape(2, 12)[:, ::-1].copy()
    a[1] *= -1
    v, c = np.array([[1, -2, 3, -4], [0, 5, -6, 7]], np.int32), np.array([-128], np.int8)
    i = a.astype(np.int32)
    launches = [
        Launch("floats", [a, np.zeros((3, 12), np.float32)]),
        Launch("integers", [i, np.zeros((3, 12), np.int32), v, c]),
    ]
    floats, integers = run(device, ELEMENTWISE, launches, "--code", code)
    want = [np.maximum(a[0], a[1]) * 2, a[0] * abs(a[1]) + a[0] - a[1], np.copysign(np.floor(a[0] * 0.5), a[1])]
    assert floats[1].tolist() == np.array(want).tolist()
    sums = np.minimum(i[0].astype(np.int64) + 0x7FFFFFFF, 0x7FFFFFFF)
    assert integers[1].tolist() == np.array([abs(i[0]), np.minimum(i[0], i[1]), sums]).tolist()
    assert integers[2][0].tolist() == v.max(axis=0).tolist()
    assert integers[3].tolist() == [-128]  # 128 as a char


LAYOUTS = """
typedef float a34 __attribute__((matrix_type(3, 4)));
typedef float a42 __attribute__((matrix_type(4, 2)));
typedef float a32 __attribute__((matrix_type(3, 2)));
typedef float a23 __attribute__((matrix_type(2, 3)));
typedef float c34 __attribute__((matrix_type(3, 4, layout(column_major))));
kernel void k(global const a34 *a, global const a42 *b, global a32 *product, global a23 *transposed,
              global c34 *by_columns)
{
    *product = *a * *b;
    *transposed = __builtin_matrix_transpose(*product + *product);
    a34 same = __builtin_matrix_column_major_load((global const float *)by_columns, 3, 4);
    by_columns[1] = (c34)(same + *a);
}
"""


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("layout", ["row-major", "column-major"])
def test_the_layout_of_types_that_name_none(device: DeviceInfo, code: str, layout: str) -> None:
    order = "C" if layout == "row-major" else "F"
    a, b = np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(8, dtype=np.float32).reshape(4, 2)
    c = np.arange(24, dtype=np.float32)
    arguments = [a.flatten(order), b.flatten(order), np.zeros(6, np.float32), np.zeros(6, np.float32), c]
    options = ("--code", code, "-fenable-matrix", f"-fmatrix-memory-layout={layout}")
    (found,) = run(device, LAYOUTS, [Launch("k", arguments)], *options)
    assert found[2].tolist() == (a @ b).flatten(order).tolist()
    assert found[3].tolist() == (2 * a @ b).T.flatten(order).tolist()
    assert found[4][12:].tolist() == (c[:12] + a.flatten("F")).tolist()


# --- cooperative matrices --------------------------------------------------------------------------

BOTH = """
#define MATRIX(USE) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_##USE)))
#define COLUMN CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef float m4 __attribute__((matrix_type(4, 4)));
typedef float padded __attribute__((matrix_type(4, 4, layout(row_major), row_padding(3))));
__attribute__((reqd_work_group_size(SIZE, 1, 1)))
kernel void both(global const m4 *a, global const m4 *b, global m4 *d)
{
    m4 sum = *a + *b, result;
    padded other = (padded)__builtin_matrix_transpose(*b) * 2;
    float MATRIX(A) x = coop_mat_load((private float *)&sum, COLUMN, 4);
    float MATRIX(B) y = coop_mat_load((private float *)&other, ROW, 7);
    float MATRIX(ACCUMULATOR) z = coop_mat_mulAdd(x, y, (float MATRIX(ACCUMULATOR))coop_mat_init(1.0f));
    coop_mat_store((private float *)&result, z, COLUMN, 4);
    result = result * *a - sum;
    if (get_local_id(0) == SIZE - 1)
        *d = result;
}
"""


@pytest.mark.parametrize(("matrices", "size"), [("one", 1), ("lanes", 16), ("scratch", 8)])
@pytest.mark.parametrize("code", CODES)
def test_values_go_to_cooperative_matrices_and_back(device: DeviceInfo, code: str, matrices: str, size: int) -> None:
    random = np.random.default_rng(3)
    a, b = (random.integers(-4, 5, (4, 4)).astype(np.float32) for _ in range(2))
    expected = ((a + b) @ (b.T * 2) + 1) @ a - (a + b)
    # Memory is column-major, numpy's is not.
    arguments = [np.ascontiguousarray(m.T) for m in (a, b, np.zeros_like(a))]
    options = ["--code", code, "--matrices", matrices, "--sub-group-size", str(size)]
    launch = Launch("both", arguments, (size,), (size,))
    (found,) = run(device, BOTH.replace("SIZE", str(size)), [launch], *options)
    assert np.array_equal(found[2].T, expected)


@pytest.mark.parametrize("matrices", ["native", "one"])
def test_both_systems_share_a_module(matrices: str) -> None:
    module = coopmat.compile(BOTH.replace("SIZE", "16"), ["--matrices", matrices], name="both.cl")
    text = module.spirv_text
    assert module.validated and ("OpCooperativeMatrixMulAddKHR" in text) == (matrices == "native")
    # What goes from one to the other in private memory ends in registers; a zero that guards are hidden by does not.
    assert matrices == "native" or set(re.findall("OpVariable (.*) Function", text)) <= {"%_ptr_Function_ulong"}


# --- programs --------------------------------------------------------------------------------------

POINTS = """
typedef float m4 __attribute__((matrix_type(4, 4)));
typedef float v4 __attribute__((matrix_type(4, 1)));
kernel void transform(global const m4 *m, global float4 *points)
{
    const size_t i = get_global_id(0);
    points[i] = (float4)(*m * (v4)points[i]);
}
"""


@pytest.mark.parametrize("extra", ["cpu", "pocl"])
@pytest.mark.parametrize("hooked", [False, True])
def test_programs_and_the_hook_take_matrix_types(
    extra: str, hooked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cl = opencl()
    monkeypatch.setenv(CACHE_DIRECTORY, str(tmp_path))
    context = cl.Context([device_of(extra).handle])
    queue = cl.CommandQueue(context)
    m = np.arange(16, dtype=np.float32).reshape(4, 4)
    points = np.arange(40, dtype=np.float32).reshape(10, 4)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(array)) for array in (m.T, points)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        if hooked:
            with coopmat.hook():
                program = cl.Program(context, POINTS).build()
        else:
            program = coopmat.Program(context, POINTS).build()
    program.transform(queue, (10,), None, *buffers)
    found = np.empty_like(points)
    cl.enqueue_copy(queue, found, buffers[1])
    assert np.array_equal(found, points @ m.T)


@pytest.mark.parametrize("extra", ["cpu", "pocl"])
def test_the_kernel_file_runs(extra: str) -> None:
    (result,) = run_file(KERNELS / "kalman.cl", device_of(extra))
    assert result.ok
