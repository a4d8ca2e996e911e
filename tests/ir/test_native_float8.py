"""Floating-point types of 8 bits natively: SPV_EXT_float8, which LLVM has no words for."""

from __future__ import annotations

import numpy as np
import pytest
from differential import Launch, execute
from test_native_matrices import lines, valid

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.diagnostics import CompileError
from coopmat.matrices.numpy_reference import decode_bits, encode_bits
from coopmat.matrices.variants import COMPONENT_TYPES

SOURCE = """
    #define MATRIX(T, NAME, USE) typedef T NAME \\
        __attribute__((coop_mat(memory_scope_sub_group, 16, 16, CLK_COOPERATIVE_MATRIX_##USE)));
    MATRIX(floate4m3_t, A, A) MATRIX(floate5m2_t, B, B) MATRIX(float, C, ACCUMULATOR) MATRIX(int, I, ACCUMULATOR)
    MATRIX(floate4m3_t, E, ACCUMULATOR) MATRIX(floate5m2_t, G, ACCUMULATOR) MATRIX(double, D, ACCUMULATOR)
    MATRIX(bfloat16, H, ACCUMULATOR)
    kernel __attribute__((reqd_work_group_size(32, 1, 1))) void k(
        global floate4m3_t *a, global floate5m2_t *b, global float *c, global uchar *bits) {
"""
MULTIPLY_ADD = """
    A x = coop_mat_load(a, 0, 16ul); B y = coop_mat_load(b, 1, 16ul); C z = coop_mat_load(c, 0, 16ul);
    coop_mat_store(c, coop_mat_mulAdd(x, y, z), 0, 16ul);
"""
ELEMENTS = """
    E e = coop_mat_init(as_floate4m3_t(bits[0])), before = coop_mat_load(a, 0, 16ul);
    for (uint i = 0; i < coop_mat_length(e); ++i) { bits[i] = as_uchar(e[i]); e[i] = before[i]; }
    coop_mat_store(a, e, 0, 16ul);
"""
OPERATORS = "E e = coop_mat_load(a, 0, 16ul); e = (-e + e * 2.0f) / e; coop_mat_store(a, e, 0, 16ul);"
STAGED = """
    E e = coop_mat_load_checked(a, 0, 16ul, 0, 0, bits[0], 9); E t = coop_mat_transpose(e);
    coop_mat_store_checked(a, t, 1, 16ul, 1, 2, 15, 14);
"""
CONVERSIONS = """
    C z = coop_mat_load(c, 0, 16ul); E e = coop_mat_convert_sat_rtz(z); G g = (G)e; H h = (H)g; e = (E)h;
    D d = (D)e; g = (G)d; I n = coop_mat_convert_sat_rte(g); e = coop_mat_convert_sat(n); coop_mat_store(a, e, 0, 16ul);
"""


def compiled(body: str, *options: str) -> coopmat.Module:
    return coopmat.compile(SOURCE + body + "}", list(options))


@pytest.mark.parametrize("body", [MULTIPLY_ADD, ELEMENTS, OPERATORS, STAGED, CONVERSIONS])
def test_modules_are_valid_and_lower(body: str) -> None:
    native = compiled(body, "--matrices", "native")
    text = valid(native)
    assert lines(text, "OpCapability Float8EXT") and lines(text, "OpCapability Float8CooperativeMatrixEXT")
    assert lines(text, 'OpExtension "SPV_EXT_float8"') and lines(text, "OpTypeFloat 8 Float8E4M3EXT")
    lowered = valid(coopmat.compile(native.spirv, ["--matrices", "one"], language="spv"))
    assert "Float8" not in lowered and "OpTypeCooperativeMatrixKHR" not in lowered


def test_the_multiply_add_is_one_instruction() -> None:
    text = valid(compiled(MULTIPLY_ADD, "--matrices", "native"))
    assert len(lines(text, "OpCooperativeMatrixMulAddKHR")) == 1 and not lines(text, "OpFConvert")
    assert not any(line.endswith("Float8E4M3EXT 8") for line in lines(text, "OpTypeInt"))


def test_conversions() -> None:
    text = valid(compiled(CONVERSIONS, "--matrices", "native"))
    assert len(lines(text, "SaturatedToLargestFloat8NormalConversionEXT")) == 2 and lines(text, "FPRoundingMode RTZ")
    # Once for each but those by way of float: between the two types, to integers and from them.
    assert len(lines(text, "= OpFConvert")) == 1 + 2 + 1 + 1 + 1 + 1 + 1 + 1
    assert len(lines(text, "SaturatedConversion")) == 1


def test_a_consumer_without_them() -> None:
    with pytest.raises(CompileError) as refused:
        _ = compiled(MULTIPLY_ADD, "--matrices", "native", "--native-profile", "igc").spirv
    assert [error.code for error in refused.value.diagnostics] == ["native-matrix"]
    assert "floate4m3_t" in refused.value.diagnostics[0].message


@pytest.mark.parametrize("route", ["native", "one"])
@pytest.mark.parametrize("body", [MULTIPLY_ADD, ELEMENTS, OPERATORS, STAGED, CONVERSIONS])
def test_llvm_ir_of_them_is_read(body: str, route: str) -> None:
    """The text that we write is read back, and gives the same matrix operations."""
    text = compiled(body, "--matrices", "native").llvm_ir
    module = coopmat.compile(text, ["--matrices", route], language="ir")
    assembly = valid(module)
    if route == "native":
        own = valid(compiled(body, "--matrices", "native"))
        for word in ("OpCooperativeMatrix", "= OpFConvert", "Float8NormalConversionEXT"):
            assert len(lines(assembly, word)) == len(lines(own, word)), word


E4M3 = (
    'target("spirv.CooperativeMatrixKHR", target("spirv.Type", target("spirv.Literal", 8),'
    ' target("spirv.Literal", 4214), 22, 1, 1), 3, 16, 32, 0)'
)
LOAD, STORE = ("_Z32__spirv_CooperativeMatrixLoadKHRPU3AS1hil", "_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1hil")
ZEROS = f"""
declare spir_func {E4M3} @{LOAD}(ptr addrspace(1), i32, i64)
declare spir_func void @{STORE}(ptr addrspace(1), {E4M3}, i32, i64)
define spir_kernel void @k(ptr addrspace(1) %p, i1 %c) {{
entry:
  br i1 %c, label %a, label %b
a:
  %l = call spir_func {E4M3} @{LOAD}(ptr addrspace(1) %p, i32 0, i64 32)
  br label %b
b:
  %m = phi {E4M3} [ zeroinitializer, %entry ], [ %l, %a ]
  call spir_func void @{STORE}(ptr addrspace(1) %p, {E4M3} %m, i32 0, i64 32)
  ret void
}}
"""


@pytest.mark.parametrize("route", ["native", "one"])
def test_zeros_in_llvm_ir(route: str) -> None:
    assert valid(coopmat.compile(ZEROS, ["--matrices", route], language="ir"))


@pytest.mark.parametrize("route", ["one", "lanes", "scratch"])
@pytest.mark.parametrize("body", [MULTIPLY_ADD, ELEMENTS, OPERATORS, STAGED, CONVERSIONS])
def test_routes(body: str, route: str) -> None:
    assert valid(compiled(body, "--matrices", route))
    if route == "one":
        assert " floate" not in compiled(body, "--matrices", route, "--code", "c").opencl_c


@pytest.mark.parametrize("how", ["", "_sat", "_rtz", "_rtp", "_rtn", "_sat_rtz", "_sat_rtp"])
@pytest.mark.parametrize("name", ["e4m3", "e5m2"])
def test_native_conversions_mean_what_they_say(device: DeviceInfo, name: str, how: str) -> None:
    """As the lowering of SPIR-V reads them: decorations for rounding and saturation, and every way between types."""
    component = COMPONENT_TYPES[name]
    matrix = "__attribute__((coop_mat(memory_scope_sub_group, 16, 16, CLK_COOPERATIVE_MATRIX_ACCUMULATOR)));"
    source = f"""
        typedef {component.opencl_c} T; typedef T E {matrix} typedef double D {matrix} typedef int I {matrix}
        kernel void k(global double *d, global T *e, global int *n, global T *g) {{
            D x = coop_mat_load(d, 0, 16ul); E y = coop_mat_convert{how}(x); coop_mat_store(e, y, 0, 16ul);
            I i = coop_mat_load(n, 0, 16ul); E z = coop_mat_convert{how}(i); coop_mat_store(g, z, 0, 16ul);
        }}"""
    native = coopmat.compile(source, ["--matrices", "native"])
    lowered = coopmat.compile(native.spirv, ["--matrices", "one"], language="spv")
    rng = np.random.default_rng(1)
    numbers = rng.standard_normal(256) * np.exp2(rng.integers(-20, 20, 256))
    numbers[:4] = np.inf, -np.inf, np.nan, 464.0
    integers = rng.integers(-(2**31), 2**31, 256).astype(np.int32) >> rng.integers(0, 31, 256).astype(np.int32)
    outs = [np.zeros(256, np.uint8) for _ in range(2)]
    launch = Launch("k", [numbers, outs[0], integers, outs[1]], (1,))
    results = execute(device, lowered.spirv, [launch])[0]
    rounding, saturate = how[-3:] if "_rt" in how else "", "_sat" in how
    for got, x in ((results[1], numbers), (results[3], integers)):
        expected = encode_bits(component, x, rounding, saturate)
        nan = np.isnan(decode_bits(component, got)) & np.isnan(decode_bits(component, expected))
        assert ((got == expected) | nan).all()
