"""What once went wrong, each with its smallest source: it must compile to valid SPIR-V on every route and level,
and on a device give what C says."""

from __future__ import annotations

import numpy as np
import pytest

import coopmat
from coopmat.devices import DeviceInfo, opencl
from coopmat.runtime.program import Program
from coopmat.spirv.tools import validate

MATRICES = """
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define SG CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
typedef float M __attribute__((coop_mat(SG, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
typedef double D __attribute__((coop_mat(SG, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
struct S { M m[2]; int i; };
"""

SOURCES = {
    "cast to void": "kernel void k(global int *o) { (void)o; o[0] ? (void)0 : (void)1; }",
    "zero matrices": """kernel void k(global float *p) { M a[2] = {}; for (int i = 0; i < 2; i++) a[i] *= 2;
        coop_mat_store(p, a[0], ROW, 16); coop_mat_store(p + 256, a[1], ROW, 16); }""",
    "zero matrix in a record": """kernel void k(global float *p, int n) { struct S s = { .i = 3 }; struct S t = {};
        M x = n ? s.m[1] : t.m[0]; coop_mat_store(p, x, ROW, 16); }""",
    "rest of an array of matrices": """kernel void k(global float *p, int n) { M a = coop_mat_load(p, ROW, 16);
        M w[2] = {a}; M x = n ? w[1] : a; coop_mat_store(p, x, ROW, 16); }""",
    "matrix assigned in a loop": """kernel void k(global float *p, int n) { M a = coop_mat_load(p, ROW, 16); M w;
        for (int i = 0; i < n; i++) { if (i == 0) w = a; else w += a; } coop_mat_store(p, w, ROW, 16); }""",
    "narrowed and widened": """kernel void k(global uint *o, long l) { o[0] = (ushort)l; ushort u = l; u += l;
        o[1] = u; uint4 v = convert_uint4(convert_ushort4((long4)(l))); o[2] = v.x; }""",
    "aligned to 128": """kernel void k(global double *p) { int a[4] __attribute__((aligned(128))); a[p[0] > 1] = 2;
        D c = coop_mat_load(p, ROW, 16); for (uint i = 0; i < coop_mat_length(D); i++) c[i] *= 2;
        coop_mat_store(p, c, ROW, 16); double16 z = p[0]; p[0] = a[1] + z.s3; }""",
    "NaN constants": "constant float t[2] = {NAN, -INFINITY}; kernel void k(global float *o) { o[0] = t[o[1] > 0]; }",
}


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O3"])
@pytest.mark.parametrize("matrices", ["native", "one", "lanes"])
@pytest.mark.parametrize("name", SOURCES)
def test_it_compiles_to_valid_spirv(name: str, matrices: str, level: str) -> None:
    module = coopmat.compile(MATRICES + SOURCES[name], ["--matrices", matrices, level, "-w"], name=name)
    assert module.spirv and module.validated


# Source, what `o` (8 uints, all 77 at first) must hold afterwards; one work-item runs.
RESULTS = {
    "a missing return is no end of the world": (
        "int f(global uint *o, int x) { if (x > 100) return 1; o[1] = 5; } kernel void k(global uint *o) { f(o, 0); }",
        {1: 5},
    ),
    "bits of NaN constants": (
        """kernel void k(global uint *o) { global float *f = (global float *)o; f[0] = as_float(-1);
           f[1] = as_float(0x7fc12345); f[2] = as_float(0xffc00000u); o[3] = as_uint(as_float(0x7f800001)); }""",
        {0: 0xFFFFFFFF, 1: 0x7FC12345, 2: 0xFFC00000, 3: 0x7F800001},
    ),
    "a vector literal is a primary expression": (
        "kernel void k(global uint *o) { o[0] = (int2)(5, 6).y; o[1] = as_uint((uchar4)(1, 2, 3, 4).wzyx); }",
        {0: 6, 1: 0x01020304},
    ),
    "const objects are constants": (
        """constant int G = 4; constant int H = G * 2; constant int b[2] = {G, 2};
           kernel void k(global uint *o) { const int N = 4; local int a[N * 2]; a[7] = H + b[0]; o[0] = a[7]; }""",
        {0: 12},
    ),
    "float division by zero": (
        """constant float c = 1.0f / 0.0f; constant float d = -1.0f / 0.0f;
           kernel void k(global uint *o) { o[0] = as_uint(c); o[1] = as_uint(d); }""",
        {0: 0x7F800000, 1: 0xFF800000},
    ),
    "shuffles stay in a subgroup of one": (
        """kernel void k(global uint *o) { uint x = get_global_id(0) + 3;
           o[0] = sub_group_shuffle_up(x, 0u); o[1] = sub_group_shuffle_down(x, 0u); o[2] = get_sub_group_size(); }""",
        {0: 3, 1: 3, 2: 1},
    ),
}


@pytest.mark.parametrize("level", ["-O0", "-O1"])
@pytest.mark.parametrize("name", RESULTS)
def test_it_computes_what_c_says(name: str, level: str, device: DeviceInfo) -> None:
    source, expected = RESULTS[name]
    program = Program(coopmat.compile(source, ["--matrices", "one", level, "-w"], name=name), device)
    cl = opencl()
    values = np.full(8, 77, np.uint32)
    buffer = cl.Buffer(program.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
    kernel = cl.Kernel(program._program, "k")
    kernel(program.queue, (1,), (1,), buffer)
    cl.enqueue_copy(program.queue, values, buffer)
    assert [int(v) for v in values] == [expected.get(i, 77) for i in range(8)]


def test_a_kernel_keeps_its_own_subgroup_size() -> None:
    source = (
        MATRICES
        + """
    __attribute__((intel_reqd_sub_group_size(8))) kernel void plain(global uint *p) { p[0] = get_sub_group_size(); }
    __attribute__((intel_reqd_sub_group_size(32))) kernel void twice(global float *p) {
        M m = coop_mat_load(p, ROW, 16); coop_mat_store(p, m * 2, ROW, 16); }
    """
    )
    kernels = coopmat.compile(source, ["--matrices", "lanes"]).kernels
    assert {name: kernel.sub_group_size for name, kernel in kernels.items()} == {"plain": 8, "twice": 32}
    with pytest.raises(coopmat.CompileError, match="asks for subgroups of 32"):
        coopmat.compile(source, ["--matrices", "lanes", "--sub-group-size", "16"]).kernels  # noqa: B018


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (f"void f({', '.join(['int'] * 255)});", "more than 254 parameters of a function"),
        (f"struct S {{ {'int m%d; ' * 16384} }};" % tuple(range(16384)), "more than 16383 members of a record"),
        (
            f"void f(int i) {{ switch (i) {{ {'case %d:; ' * 16384} }} }}" % tuple(range(16384)),
            "more than 16383 cases of a switch",
        ),
        ('constant char *s = "' + '" "'.join(["x" * 60] * 1100) + '";', "more than 65532 characters of a string"),
    ],
    ids=["parameters", "members", "cases", "characters"],
)
def test_what_spirv_has_no_room_for_is_refused(source: str, message: str) -> None:
    with pytest.raises(coopmat.CompileError, match=f"{message} are not supported yet") as caught:
        coopmat.compile(source.replace("; ", ";\n").replace('" "', '"\n"'))
    assert len(caught.value.diagnostics) == 1


@pytest.mark.parametrize(
    "source", ["int a __attribute__((aligned(256)));", "struct __attribute__((aligned(256))) R { int i; };"]
)
def test_what_cannot_be_aligned_is_refused(source: str) -> None:
    with pytest.raises(coopmat.CompileError, match="more than 128 bytes is not supported yet"):
        coopmat.compile(f"kernel void k(void) {{ {source} }}")


REVERSAL = """
kernel void reverse(global uint4 *p) {
    uint4 x = p[0];
    x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
    x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
    x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
    x = ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8);
    p[0] = (x >> 16) | (x << 16);
}
"""


def test_reversed_bits_stay_shifts_and_masks() -> None:
    # LLVM's O1 pipeline makes one intrinsic of them, which the backend dies of.
    assert validate(coopmat.compile(REVERSAL, ["--matrices", "one"]).spirv, "spv1.4") is None
