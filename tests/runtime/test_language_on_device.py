"""Parts of the language that kernels seldom use, against the device's own compiler."""

from __future__ import annotations

import numpy as np
import pytest
from differential import PLAIN_AND_OPTIMISED, Launch, compare, execute

import coopmat
from coopmat.devices import DeviceInfo


def longs(device: DeviceInfo, before: str, body: str) -> None:
    """Runs the body, which fills `global long *o` of 16."""
    source = f"{before}\nkernel void k(global long *o) {{ {body} }}"
    compare(device, source, [Launch("k", [np.arange(16, dtype=np.int64)])], PLAIN_AND_OPTIMISED)


def test_overloadable_functions(device: DeviceInfo) -> None:
    before = """
    #define OVERLOADABLE __attribute__((overloadable))
    int OVERLOADABLE f(int x) { return x; }
    int OVERLOADABLE f(float x) { return x * 10; }
    int OVERLOADABLE f(float4 x) { return x.x * 100; }
    int OVERLOADABLE f(global long *x) { return 7; }
    int OVERLOADABLE f(int x, int y);
    int OVERLOADABLE f(int x, int y) { return x * y; }
    """
    longs(
        device,
        before,
        "o[0] = f(1); o[1] = f(2.5f); o[2] = f((float4)(3)); o[3] = f(o); o[4] = f(3, 4); o[5] = f('a');",
    )


@pytest.mark.parametrize("route", PLAIN_AND_OPTIMISED)
def test_a_function_may_have_the_name_of_a_builtin(device: DeviceInfo, route: str) -> None:
    # As in clang, where builtins are declared when they are used; this device declares them all before.
    before = "float floor(float x) { return x + 1; } uint rotate(uint x, int n) { return x * n; }"
    source = (
        f"{before} kernel void k(global long *o) {{ o[0] = floor(1.5f); o[1] = rotate(3u, 5); o[2] = ceil(1.5f); }}"
    )
    launch = Launch("k", [np.zeros(3, np.int64)])
    (buffers,) = execute(device, coopmat.compile(source, ["--matrices", route]).spirv, [launch])
    assert buffers[0].tolist() == [2, 15, 2]


def test_an_overloadable_function_joins_the_builtins() -> None:
    own = "int __attribute__((overloadable)) max(float2 a) { return 1; }"
    source = own + "kernel void k(global int *o) { o[0] = max(2, 3) + max((float2)(1)); }"
    text = coopmat.compile(source).llvm_ir
    assert "_Z3maxii" in text and "user.max" in text


@pytest.mark.parametrize(
    ("own", "call", "expected"),
    [
        ("int O fmax(int a, int b) { return 9; }", "fmax(m, 0.5f)", [0.5, 0.5, 1, 2]),
        ("C O fmax(C a, int q) { return a * q; }", "fmax(m, 0.5f)", [0.5, 0.5, 1, 2]),
        ("C O fmax(C a, int q) { return fmax(a, (float)q) * 2; }", "fmax(m, 1)", [2, 2, 2, 4]),
        ("C O fmax(C a, float q) { return a * q; }", "fmax(m, 3.0f)", [-3, 0, 3, 6]),
        ("C O fmax(C a, C b) { return a - b; }", "fmax(fmax(m, m), 1.0f)", [1, 1, 1, 1]),
    ],
)
def test_own_functions_beside_the_builtin_for_matrices(
    device: DeviceInfo, own: str, call: str, expected: list[float]
) -> None:
    source = f"""
        #define O __attribute__((overloadable))
        #define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
        #define USE CLK_COOPERATIVE_MATRIX_ACCUMULATOR
        typedef float C __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 2, 2, USE)));
        {own}
        kernel void k(global float *p) {{ C m = coop_mat_load(p, ROW, 2); coop_mat_store(p, {call}, ROW, 2); }}
    """
    launch = Launch("k", [np.array([-1, 0, 1, 2], np.float32)])
    (buffers,) = execute(device, coopmat.compile(source, ["--matrices", "one"]).spirv, [launch])
    assert buffers[0].tolist() == expected


@pytest.mark.parametrize("call", ["f(1.0)", "f(1u)"])
def test_ambiguous_calls_are_told(call: str) -> None:
    source = "#define O __attribute__((overloadable))\nint O f(int x) { return 1; } int O f(long x) { return 2; }"
    with pytest.raises(coopmat.CompileError, match="ambiguous"):
        coopmat.compile(f"{source} kernel void k(global int *o) {{ o[0] = {call}; }}")


def test_generic_selections(device: DeviceInfo) -> None:
    before = "#define KIND(x) _Generic((x), int: 1, float: 2, global long *: 3, float4: 4, default: 5)"
    longs(
        device,
        before,
        "const int c = 1; o[0] = KIND(c); o[1] = KIND(1.0f); o[2] = KIND(o); o[3] = KIND((float4)1); o[4] = KIND(1u);",
    )


def test_unnamed_members_and_packed_ones(device: DeviceInfo) -> None:
    before = """
    struct S { char a; union { float f; uint u; struct { ushort low, high; }; }; short b; };
    struct P { char c; int i __attribute__((packed)); short s; struct { char x; long y; } __attribute__((packed)) q; };
    typedef int wide __attribute__((aligned(16)));
    struct A { char c; wide w; };
    constant struct S table[2] = { { 1, { 2.0f }, 3 }, { .u = 5, .b = 6 } };
    """
    body = """
    struct S s = { .a = 1, .f = 1.0f, 9 };
    s.high ^= 1;
    o[0] = s.u; o[1] = s.a + s.b; o[2] = table[0].high; o[3] = table[1].u + table[1].b;
    struct P p = { 1, 2, 3, { 4, 5 } };
    p.i += 100;
    o[4] = p.i + p.s + p.q.y; o[5] = sizeof(struct P); o[6] = sizeof(struct A); o[7] = sizeof(struct S);
    wide w = 3; o[8] = ((ulong)&w & 15) + w; o[9] = __alignof__(wide);
    struct A a = { 1, 2 }; o[10] = a.w + (int)((ulong)&a.w & 15);
    """
    longs(device, before, body)


def test_designators(device: DeviceInfo) -> None:
    before = """
    struct P { int a[3]; struct { int x, y; } q; int z; };
    constant struct P fixed = { .a[1] = 5, 6, 7, 8, .z = 9 };
    constant int range[8] = { [1 ... 3] = 7, 8, [0] = 1 };
    """
    body = """
    struct P p = { .q.y = (int)o[7], .a[2] = 6, .a[0] = 4, 5 };
    int m[2][3] = { [1][0] = 3, 4, [0] = { 1 }, [0][2] = 2 };
    struct P n[2] = { [1].q = { 1, 2 }, 3, [0].a = { 4 }, [0].z = 5 };
    o[0] = p.a[0] + 10 * p.a[1] + 100 * p.a[2] + 1000 * p.q.y + p.z;
    o[1] = m[0][0] + 10 * m[0][2] + 100 * m[1][0] + 1000 * m[1][1] + m[0][1] + m[1][2];
    o[2] = n[1].q.y + 10 * n[1].z + 100 * n[0].a[0] + 1000 * n[0].z;
    o[3] = fixed.a[1] + 10 * fixed.a[2] + 100 * fixed.q.x + 1000 * fixed.q.y + 10000 * fixed.z;
    for (int i = 0; i < 8; i++) o[4 + i] = range[i];
    """
    longs(device, before, body)


def test_vectors_are_computed_in_constant_initialisers(device: DeviceInfo) -> None:
    before = """
    constant float4 c = (float4)(1.0f, 2.0f, 3.0f, 4.0f) * 2.0f + 1.0f;
    constant int4 d = -(int4)(1) << 3;
    constant int4 e = ((int4)(1, 5, 3, 7) > 4) & (int4)(9);
    constant uchar4 f[2] = { (uchar4)(250) + (uchar4)(10), ~(uchar4)(1) };
    """
    longs(
        device, before, "o[0] = c.y * 4; o[1] = d.z; o[2] = e.x + 10 * e.y + 100 * e.w; o[3] = f[0].x + 1000 * f[1].y;"
    )


def test_arrays_of_values_case_ranges_and_names(device: DeviceInfo) -> None:
    before = """
    struct P { int a[3]; int b; };
    struct P make(int x) { struct P p = { { x, x + 1, x + 2 }, x + 3 }; return p; }
    int place(int x) { switch (x) { case -2 ... 3: return 1; case 10 ... 12: case 20: return 2; default: return 3; } }
    """
    body = """
    o[0] = make(5).a[o[1]] + make(7).b;
    for (int i = 0; i < 4; i++) o[1 + i] = place(i * 5) * 10 + place(i + 10);
    constant char *name = __func__;
    o[6] = name[0] + name[1]; o[7] = sizeof(__func__);
    unsigned long long int wide = 1ull << 40; o[8] = wide;
    typedef float pair __attribute__((ext_vector_type(2))); pair v = 2.5f; o[9] = v.x + v.y;
    o[10] = __builtin_expect(o[0] > 0, 1) ? 3 : 4; o[11] = __builtin_astype(1.0f, int);
    """
    longs(device, before, body)


@pytest.mark.parametrize(
    ("pragma", "options", "flags", "off"),
    [
        ("", [], "fmul float", False),
        ("#pragma OPENCL FP_CONTRACT OFF", [], "fmul float", True),
        (
            "#pragma OPENCL FP_CONTRACT OFF\n#pragma OPENCL FP_CONTRACT ON",
            ["-cl-mad-enable"],
            "fmul contract float",
            False,
        ),
        ("#pragma STDC FP_CONTRACT OFF", ["-cl-mad-enable"], "fmul float", True),
        (
            "#pragma OPENCL FP_CONTRACT OFF",
            ["-cl-fast-relaxed-math"],
            "fmul reassoc nnan ninf nsz arcp afn float",
            True,
        ),
        ("", ["-cl-no-signed-zeros", "-cl-finite-math-only"], "fmul nsz nnan ninf float", False),
    ],
)
def test_contraction(pragma: str, options: list[str], flags: str, off: bool) -> None:
    module = coopmat.compile(f"{pragma}\nkernel void k(global float *o) {{ o[0] = o[1] * o[2] + o[3]; }}", options)
    assert flags in module.llvm_ir
    assert ("ContractionOff" in module.spirv_text) is off


def test_contraction_inside_a_block_ends_with_it() -> None:
    source = """
    float f(float a) { { #pragma OPENCL FP_CONTRACT OFF
    } return a * a; }
    float g(float a) { return a * a; }
    """.replace("{ #pragma", "{\n#pragma")
    text = coopmat.compile(source, ["-cl-mad-enable", "--no-validate"]).llvm_ir
    first, second = text.split("define ")[1:]
    assert "fmul float" in first and "fmul contract float" in second


def test_constants_without_a_suffix(device: DeviceInfo) -> None:
    source = "kernel void k(global float *o) { o[0] = sizeof(1.0); o[1] = 1.0 / 3 * 3 - 1; }"
    assert "double" not in coopmat.compile(source, ["-cl-single-precision-constant"]).llvm_ir
    assert device is not None


def test_enumerations_without_negative_values_are_unsigned(device: DeviceInfo) -> None:
    before = """
    enum E { A, B, C }; enum N { M = -5, P = 7 }; enum W { V = 0xffffffffu }; typedef struct { enum E e; uchar d; } S;
    constant enum E table[] = { B, C, A };
    """
    body = """
    enum E e = (enum E)-1; o[0] = e; o[1] = e < 0; o[2] = e - 1 < 0; o[3] = A - 1 < 0; o[4] = (float)e > 1e9f;
    enum N n = M; o[5] = n; o[6] = n < 0; o[7] = n / 2; o[8] = V; o[9] = sizeof(V);
    o[10] = _Generic(e, int: 1, uint: 2) + 10 * _Generic(A, int: 1, uint: 2) + 100 * _Generic(n, int: 1, uint: 2);
    S s = { C, 3 }; switch (s.e) { case A: o[11] = 1; break; case C: o[11] = 2; break; default: o[11] = 3; }
    for (enum E i = A; i <= C; i++) o[12 + i] = table[i]; o[15] = sizeof(S);
    """
    longs(device, before, body)


def test_arithmetic_on_void_pointers_counts_bytes(device: DeviceInfo) -> None:
    body = """
    global void *p = o; p += 8; o[0] = *(global long *)p; p = p + 8; o[1] = *(global long *)p; p++; --p;
    p -= 8; o[2] = *(global long *)p; o[3] = p - (global void *)o; const void *q = &o[9]; q = 8 + q;
    o[4] = *(const long *)q;
    """
    longs(device, "", body)


def test_logical_operators_make_vector_constants() -> None:
    # The specification's -1 for true; clang's own folding gives 1.
    source = "constant int2 v = (int2)(3, 0) && (int2)(1, 1); constant int2 w = (int2)(0, 0) || (int2)(1, 0);"
    text = coopmat.compile(source + "kernel void k(global int2 *o) { o[0] = v; o[1] = w; }").llvm_ir
    assert text.count("<2 x i32> <i32 -1, i32 0>") == 2


def test_subscripts_of_vectors(device: DeviceInfo) -> None:
    before = "int4 make(int x) { return (int4)(x, x + 1, x + 2, x + 3); }"
    body = """
    int n = o[2];
    int8 v = (int8)(1, 2, 3, 4, 5, 6, 7, 8);
    v[n] += 10; v[0] = 20; v.hi[1] = 30;
    o[0] = v[n] + v[7] + v.s5; o[1] = v.s0; o[3] = make(5)[n] + make(7)[1] + v.odd[n];
    float3 f = (float3)(1.5f, 2.5f, 3.5f); for (int i = 0; i < 3; i++) f[i] *= 2; o[4] = f.x + f[1] + f.z;
    global int4 *p = (global int4 *)(o + 8); p[1][n] = 77; (*p)[0] = 5; o[5] = p[1].z + p->x;
    """
    longs(device, before, body)


def test_only_the_low_bits_of_a_mask_count_beside_barriers(device: DeviceInfo) -> None:
    before = "constant ushort K = (ushort)sizeof(uchar16);"
    body = """
    local ulong2 l[2]; l[0] = l[1] = (ulong2)(o[3]);
    l[0] = shuffle(convert_ulong16((ushort16)0), convert_ulong2((long2)(K))); barrier(CLK_LOCAL_MEM_FENCE);
    ulong2 v = l[get_local_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);
    o[0] = v.s0; o[1] = shuffle2((short2)(1, 2), (short2)(3, 4), (ushort4)(5, 6, 7, 0)).y;
    """
    longs(device, before, body)
