"""Each pass on a short kernel: the module is valid for Vulkan 1.3, and has the instructions that the pass writes."""

from __future__ import annotations

import pytest
from vulkan_modules import names, refusal, vulkan


def kernel(body: str, parameters: str = "global int *o, global const int *a, global float *f") -> str:
    return f"kernel void k({parameters}) {{ size_t i = get_global_id(0); {body} }}"


def test_pointer_arithmetic_in_private_memory_is_an_index() -> None:
    module = vulkan(kernel("int t[8]; for (int n = 0; n < 8; n++) t[n] = a[n]; int *p = t + 2; o[i] = p[i & 3];"))
    assert "OpPtrAccessChain" in names(module)  # of the buffers
    assert "OpBitcast" not in names(module)


@pytest.mark.parametrize(
    "body",
    [
        "union { float f; uint u; } v; v.f = f[i]; o[i] = v.u;",
        "float t[4]; for (int n = 0; n < 4; n++) t[n] = f[n]; uchar *p = (uchar *)t; o[i] = p[i & 15];",
        "int s[4] = {1, 2, 3, 4}, t[4] = {5, 6, 7, 8}; int *p = a[i] ? s : t; o[i] = p[i & 3];",
        "int s[4] = {1, 2, 3, 4}; int *p = s; while (*p < a[i]) p++; o[i] = *p;",
        "const int s[3] = {7, 8, 9}; o[i] = s[i % 3];",
        "local int s[8]; local uchar *p = (local uchar *)s; s[i & 7] = a[i]; o[i] = p[i & 31];",
        "long t[2]; t[0] = a[i]; t[1] = o[i]; int *p = (int *)t; o[i] = p[i & 3];",
    ],
)
def test_memory_accessed_as_several_types(body: str) -> None:
    vulkan(kernel(body))


@pytest.mark.parametrize("type_", ["char", "short", "int", "long", "float"])
@pytest.mark.parametrize("count", [8, 16])
def test_wide_vectors_are_split(type_: str, count: int) -> None:
    vector = f"{type_}{count}"
    body = f"{vector} x = v[i] * v[i + 1]; x.s3 = x[i & 7]; x.lo = x.hi; v[i] = select(x, v[i], v[i] > x); "
    body += f"vstore{count}(vload{count}(i, s), i + 1, s);"
    module = vulkan(kernel(body, f"global {vector} *v, global {type_} *s"))
    assert "OpCompositeConstruct" in names(module)


def test_structs_are_copied_whole() -> None:
    module = vulkan(
        "typedef struct { char a; int b[3]; float4 v; } S;"
        + kernel("S q = x[i]; q.b[i % 3] += y.a; o[i] = q;", "global S *o, global const S *x, S y")
    )
    launch = module.launch
    assert launch is not None
    value = launch.kernels["k"].arguments[2]
    assert (value.kind, value.bytes, value.offset) == ("value", 32, 16)


@pytest.mark.parametrize("type_", ["uchar", "short", "half", "int", "float", "long", "double"])
@pytest.mark.parametrize("count", [2, 3, 4, 8, 16])
def test_vectors_by_value(type_: str, count: int) -> None:
    launch = vulkan(kernel("v[i] = x;", f"global {type_}{count} *v, {type_}{count} x")).launch
    assert launch is not None
    size = {"uchar": 1, "short": 2, "half": 2, "int": 4, "float": 4}.get(type_, 8) * (4 if count == 3 else count)
    assert launch.kernels["k"].arguments[1].bytes == size


@pytest.mark.parametrize("member", ["float m[3];", "short m[3];", "char2 m[3];", "uchar m[7];", "int3 m; float n[3];"])
def test_structs_are_copied_in_larger_pieces_than_their_scalars(member: str) -> None:
    """LLVM makes accesses to integers that are wider than the struct's alignment."""
    vulkan(f"typedef struct {{ {member} }} S;" + kernel("S q = x[i]; q.m[2] = 1; x[i + 1] = q;", "global S *x"))


@pytest.mark.parametrize(
    "expression",
    [
        *("add_sat(a[i], o[i])", "mad_sat((char)a[i], (char)1, (char)2)", "hadd(a[i], o[i])", "clz((long)a[i])"),
        *("ctz((uchar)a[i])", "popcount((ulong)a[i])", "mul_hi(a[i], o[i])", "rotate((short)a[i], (short)3)"),
        *("bitselect(a[i], o[i], 5)", "upsample((char)a[i], (uchar)3)", "isnormal(f[i])", "isunordered(f[i], f[1])"),
        *("(int)pow(f[i], f[1])", "(int)erf(f[i])", "(int)sin(f[i])", "(int)fmod(f[i], f[1])", "(int)round(f[i])"),
        *("convert_int_rtp(f[i])", "convert_char_sat_rte(f[i])", "(int)vload_half(i, (global half *)f)"),
        *("as_int(frexp(f[i], o + i))", "shuffle(((global int4 *)a)[i], (uint4)(3, 2, 1, 0)).x"),
    ],
)
def test_builtin_functions(expression: str) -> None:
    vulkan(kernel(f"o[i] = {expression};"))


@pytest.mark.parametrize(
    "expression",
    [
        *("work_group_reduce_add(a[i])", "work_group_scan_exclusive_min(a[i])", "work_group_broadcast(a[i], 3)"),
        *("work_group_all(a[i])", "(int)work_group_scan_inclusive_max(f[i])", "sub_group_reduce_add(a[i])"),
        *("sub_group_broadcast(a[i], 1)", "sub_group_shuffle_xor(a[i], 1)", "sub_group_any(a[i])"),
        *("atomic_add(o, a[i])", "(int)atom_add((global long *)o, (long)a[i])", "atomic_xchg(f, 2.0f) > 1"),
        "atomic_fetch_or_explicit((global atomic_int *)o, 4, memory_order_relaxed, memory_scope_device)",
    ],
)
def test_groups_and_atomics(expression: str) -> None:
    vulkan(kernel(f"o[i + 1] = {expression};"))


def test_copies_by_a_work_group() -> None:
    body = "event_t e = async_work_group_copy(t, a, (size_t)64, 0); wait_group_events(1, &e); o[i] = t[i & 63];"
    vulkan(kernel(body, "global int *o, global const int *a, local int *t"))


def test_barriers_have_the_memory_models_semantics() -> None:
    body = "t[i & 7] = a[i]; barrier(CLK_LOCAL_MEM_FENCE); o[i] = t[0];"
    module = vulkan(kernel(body, "global int *o, global int *a, local int *t"))
    text = module.spirv_text
    assert "OpControlBarrier %uint_2 %uint_2 %uint_24840" in text  # AcquireRelease, workgroup, available, visible
    assert "NonPrivatePointer" in text


def test_null_pointers() -> None:
    vulkan(kernel("global int *p = a[i] ? o : (global int *)0; if (p) p[i] = 1;"))


@pytest.mark.parametrize(
    "body",
    [
        "constant long *p = (constant long *)&row + 2; o[0] = p - (constant long *)&row;",
        "constant short *p = (constant short *)&row; o[0] = p >= p;",
        "local short4 v; v.x = 1; local short (*q)[3] = (local short (*)[3])&v; o[0] = &q[i] - (local short (*)[3])&v;",
        "if (a[0]) for (int j = 0; j < i; j++) o[j] = ((private int *)0)[j];",
        "ushort v = 3; *(a[0] ? (ushort *)0 - 0 : (ushort *)&v) = 5; o[0] = v;",
        "long v = 3, *p; p = (a[0] ? &v + 4 : p) + -4; o[0] = *p;",
    ],
)
def test_addresses_of_variables_and_pointers_that_are_not_set(body: str) -> None:
    vulkan("constant float8 row = (float8)(1);" + kernel(body))


def test_pointers_beside_a_word_that_is_changed_by_bytes() -> None:
    body = "int w = a[i]; ((char *)&w)[3] = 7; local int *p = t + 1; o[i] = w + p[i];"
    vulkan(kernel(body, "global int *o, global int *a, local int *t"))


def test_generic_pointers_are_inferred() -> None:
    source = "int sum(int *p) { return p[0] + p[1]; }"
    vulkan(source + kernel("int t[2] = {a[i], 2}; local int s[2]; s[i & 1] = 1; o[i] = sum(t) + sum(s) + sum(o);"))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("global int g = 3;" + kernel("o[i] = g;"), "a program-scope variable in global memory"),
        (kernel("int t[2]; int *p = a[i] ? t : (int *)o; o[i] = *p;"), "may point to different address spaces"),
        (kernel("int t[4], *p[2]; p[i & 1] = t; o[i] = *p[a[i] & 1];"), "stored in memory"),
    ],
)
def test_refusals_state_the_reason(source: str, reason: str) -> None:
    message = refusal(source)
    assert "not supported with --target-env vulkan1.3: " in message
    assert reason in message


def test_matrices_state_their_signs_and_products() -> None:
    source = """
    #pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
    #define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
    #define M(T, USE) T __attribute__((coop_mat(SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_##USE)))
    kernel void k(global const char *a, global const char *b, global int *c)
    {
        M(char, A) x = coop_mat_load(a, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
        M(char, B) y = coop_mat_load(b, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
        M(int, ACCUMULATOR) z = coop_mat_init(0);
        coop_mat_store(c, coop_mat_mulAdd(x, y, z), CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    }
    """
    launch = vulkan(source).launch
    assert launch is not None
    (product,) = launch.requires.matrix_products
    assert (product.m, product.n, product.k, product.a, product.c) == (8, 8, 8, "sint8", "sint32")
    assert {shape.type for shape in launch.requires.matrix_types} == {"sint8", "sint32"}
    assert [row.alignment for row in launch.kernels["k"].arguments] == [8, 8, 16]
    assert "VK_KHR_cooperative_matrix" in launch.requires.extensions


def test_the_profile_with_maintenance_instructions_uses_nvidias_extension() -> None:
    source = """
    #pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
    #define SUBGROUP CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP
    typedef float C __attribute__((coop_mat(SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));
    typedef float A __attribute__((coop_mat(SUBGROUP, 8, 8, CLK_COOPERATIVE_MATRIX_A)));
    kernel void k(global float *c)
    {
        C x = coop_mat_load(c, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
        A y = coop_mat_convert(x);
        coop_mat_store(c, y, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8);
    }
    """
    module = vulkan(source, "--native-profile", "vulkan-nv2")
    launch = module.launch
    assert launch is not None
    if "OpCooperativeMatrixConvertUse" in module.spirv_text or "CooperativeMatrixConversions" in module.spirv_text:
        assert "VK_NV_cooperative_matrix2" in launch.requires.extensions


def test_modules_for_opencl_stay() -> None:
    import coopmat

    source = kernel("o[i] = a[i];")
    module = coopmat.compile(source, ["--matrices", "one"])
    assert b"GLSL.std.450" not in module.spirv
    assert module.launch is None
