"""Matrices in Vulkan modules: undefined ones, signs, functions of components, the order of sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from valid_modules import assert_valid
from vulkan_modules import TARGET

import coopmat
from coopmat import CompileError
from coopmat.spirv.module import ENUM, OP, Module

HEAD = """
#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#define MATRIX(T, USE) T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 8, 8, \\
    CLK_COOPERATIVE_MATRIX_##USE)))
typedef MATRIX(float, ACCUMULATOR) Sums;
typedef MATRIX(half, A) Halves;
typedef MATRIX(char, A) Chars;
typedef MATRIX(uchar, A) Bytes;
#define LOAD(P) coop_mat_load(P, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8)
#define STORE(P, M) coop_mat_store(P, M, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, 8)
"""


def compiled(source: str, *options: str) -> coopmat.Module:
    module = coopmat.compile(HEAD + source, [*TARGET, *options])
    assert_valid(module)
    return module


def counted(module: coopmat.Module) -> Counter[str]:
    return Counter(item.name for item in Module.parse(module.spirv).instructions)


def test_a_matrix_that_is_undefined_on_an_unreachable_path() -> None:
    """LLVM makes a phi with poison of it, which its backend cannot write. Without SROA, pointers remain."""
    compiled("""
        kernel void first(uint n, const global float *in, global float *out) {
            Sums m = LOAD(in);
            switch (1) { case 0: if (0) switch (1) { case 0: { } } else if (n) m = m + m; }
            STORE(out, m);
        }
        void increase(uint *q) { *q += 1; }
        kernel void second(global uint *out, uint n) { uint x = n; increase(&x); out[0] = x; }
    """)


def test_components_that_are_read_with_and_without_sign() -> None:
    source = """
        typedef MATRIX(float, A) Floats;
        #define CONVERT(TYPE) { TYPE m = LOAD(p); Floats f = coop_mat_convert(m); STORE(q, f); }
        kernel void a(global char *p, global float *q) CONVERT(Chars)
        kernel void b(global uchar *p, global float *q) CONVERT(Bytes)
    """
    module = Module.parse(compiled(source).spirv)
    definitions = module.definitions()
    kinds = {}
    for item in module.instructions:
        if item.opcode in (OP["OpConvertSToF"], OP["OpConvertUToF"]):
            matrix = definitions[definitions[item.operands[0]].result_type or 0]
            kinds[item.name] = definitions[matrix.operands[0]].operands[1]
    assert kinds == {"OpConvertSToF": 1, "OpConvertUToF": 0}


@pytest.mark.parametrize(
    "element, count, bits",
    [
        ("float", 64, 32),
        ("float4", 16, 32),
        ("float16", 4, 32),
        ("struct { float first; float others[63]; }", 1, 32),
        ("short", 128, 16),
        ("char", 256, 8),
    ],
)
def test_the_stride_counts_what_the_pointer_points_to(element: str, count: int, bits: int) -> None:
    """Local memory that is accessed as several types becomes an array of integers of the smallest type."""
    source = f"""
        typedef {element} Element;
        kernel void k(const global Element *in, global float *out) {{
            local Element tile[{count}];
            for (int i = get_local_id(0); i < {count}; i += get_local_size(0)) tile[i] = in[i];
            barrier(CLK_LOCAL_MEM_FENCE);
            STORE(out, (Sums)LOAD((local float *)tile));
        }}
    """
    module = Module.parse(compiled(source).spirv)
    definitions = module.definitions()
    load = next(item for item in module.instructions if item.name == "OpCooperativeMatrixLoadKHR")
    pointer = definitions[definitions[load.operands[0]].result_type or 0]
    assert definitions[pointer.operands[1]].operands[0] == bits
    stride = definitions[load.operands[2]]
    assert stride.name == "OpConstant" and stride.operands[0] == 8 * 32 // bits


@pytest.mark.parametrize("element, bits", [("char", 8), ("uint", 32), ("float4", 64)])
def test_a_local_argument_of_another_type_keeps_its_length(element: str, bits: int) -> None:
    """The length is that of the argument, times the number of integers in an element: never 0."""
    source = f"""
        kernel void k(local {element} *p, const global ulong *in, global ulong *out) {{
            local ulong *tile = (local ulong *)(p + 64);
            tile[get_local_id(0)] = in[get_local_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            out[get_local_id(0)] = tile[get_local_id(0) ^ 1];
        }}
    """
    module = Module.parse(compiled(source).spirv)
    definitions = module.definitions()
    factor = next(item for item in module.instructions if item.name == "OpSpecConstantOp").operands[2]
    assert definitions[factor].operands[0] * bits // 8 == {"char": 1, "uint": 4, "float4": 16}[element]


def test_nvidias_extension_keeps_the_functions_of_components() -> None:
    source = """
        float twice(uint row, uint column, float x) { return 2 * x + row; }
        float larger(float x, float y) { return x > y ? x : y; }
        kernel void a(global float *p) {
            Sums m = LOAD(p);
            m = coop_mat_map(m, twice);
            Sums largest = coop_mat_reduce(m, CLK_COOPERATIVE_MATRIX_REDUCE_ROW, larger);
            STORE(p, largest);
        }
    """
    names = counted(compiled(source, "--native-profile", "vulkan-nv2"))
    assert names["OpCooperativeMatrixPerElementOpEXT"] == 1 and names["OpCooperativeMatrixReduceEXT"] == 1
    assert names["OpFunction"] == 3
    names = counted(compiled(source, "--native-profile", "vulkan-mesa"))
    assert names["OpCooperativeMatrixPerElementOpEXT"] == 1 and names["OpCooperativeMatrixReduceEXT"] == 0
    assert counted(compiled(source))["OpFunction"] == 1


@pytest.mark.parametrize("profile", ["vulkan", "vulkan-nv2", "khr"])
@pytest.mark.parametrize(
    ("source", "target", "hows"),
    [
        ("float", "uchar", ("", "_sat", "_rte", "_rtz", "_rtp", "_rtn", "_sat_rte")),
        ("int", "short", ("_sat",)),
        ("float", "half", ("_rte", "_rtz")),
        ("float", "bfloat16", ("_rtz",)),
        ("half", "bfloat16", ("_rtn",)),
        ("double", "float", ("_rte",)),
    ],
)
def test_conversions_with_roundings_and_saturation(source: str, target: str, hows: Sequence[str], profile: str) -> None:
    """Vulkan forbids the decorations, so functions round components; accumulators may become A, too."""
    declarations = f"typedef MATRIX({source}, ACCUMULATOR) Source;"
    for use in ("ACCUMULATOR", "A") if profile == "vulkan-nv2" else ("ACCUMULATOR",):
        kernels = (
            f"kernel void k{how}(global {source} *in, global {target} *out)"
            f"{{ Source m = LOAD(in); Target n = coop_mat_convert{how}(m); STORE(out, n); }}"
            for how in hows
        )
        text = "\n".join([declarations, f"typedef MATRIX({target}, {use}) Target;", *kernels])
        module = Module.parse(compiled(text, "--native-profile", profile).spirv)
        rounding, saturated = ENUM["Decoration.FPRoundingMode"], ENUM["Decoration.SaturatedConversion"]
        marks = {item.operands[1] for item in module.instructions if item.name == "OpDecorate"}
        assert not marks & {rounding, saturated}


def test_conversions_to_4_bits_are_refused() -> None:
    source = """
        #pragma OPENCL EXTENSION cl_coopmat_int4 : enable
        typedef MATRIX(unsigned4_t, ACCUMULATOR) Nibbles;
        kernel void k(global float *p, global unsigned4_t *q)
        {
            Sums m = LOAD(p);
            Nibbles n = coop_mat_convert_sat(m);
            STORE(q, n);
        }
    """
    with pytest.raises(CompileError, match="no extension of SPIR-V has matrices of 'unsigned4_t'"):
        compiled(source)


def test_only_sums_of_sums_have_an_order() -> None:
    """NoContraction on all sums would forbid fused multiply-adds, too, which OpenCL allows."""
    source = (
        "kernel void a(global float *p) { float x = p[0], y = p[1], z = p[2]; p[3] = x + y + z; p[4] = x * y + z; }"
    )

    def marked(*options: str) -> list[str]:
        module = Module.parse(compiled(source, *options).spirv)
        definitions = module.definitions()
        marks = [item for item in module.instructions if item.name == "OpDecorate"]
        exact = ENUM["Decoration.NoContraction"]
        return [definitions[item.operands[0]].name for item in marks if item.operands[1] == exact]

    assert marked() == ["OpFAdd", "OpFAdd"]
    assert marked("-cl-fast-relaxed-math") == []
    assert sorted(marked("-ffp-contract=off")) == ["OpFAdd", "OpFAdd", "OpFAdd", "OpFMul"]


@pytest.mark.parametrize("name", ["module.ll", "module.spv"])
def test_other_languages_are_refused(name: str, tmp_path: Path) -> None:
    is_ir = name.endswith("ll")
    source = tmp_path / name
    source.write_bytes(b"define void @f() { ret void }" if is_ir else Module(0x00010000, 1).to_bytes())
    with pytest.raises(CompileError, match=r"vulkan1\.3 of .* is not supported"):
        _ = coopmat.compile(source, TARGET).spirv


def test_a_multiply_add_adds_to_a_copy_of_a_value_with_other_uses() -> None:
    """Drivers may add to C itself; here, the next iteration uses it again."""
    module = compiled("""
        typedef MATRIX(half, B) Right;
        kernel void k(const global half *p, global float *out, uint n) {
            Halves a = LOAD(p);
            Right b = LOAD(p);
            Sums given = LOAD(out), sum = given;
            for (uint i = 0; i < n; ++i) sum = sum + coop_mat_mulAdd(a, b, given);
            STORE(out, sum);
        }
    """)
    items = Module.parse(module.spirv).instructions
    at = next(n for n, item in enumerate(items) if item.opcode == OP["OpCooperativeMatrixMulAddKHR"])
    store, load, product = items[at - 2 : at + 1]
    assert (store.name, load.name) == ("OpStore", "OpLoad") and store.operands[0] == load.operands[0]
    assert product.operands[2] == load.result


def test_matrices_in_structs_become_variables() -> None:
    """Mesa's drivers divide only matrices outside structs, and end the process at those inside."""
    module = Module.parse(
        compiled("""
        typedef struct { int tag; Sums sums[2]; } Inner;
        typedef struct { Inner pairs[3]; Sums last; } Outer;
        kernel void f(global float *p, int n)
        {
            Outer o;
            for (int i = 0; i < 3; ++i) {
                o.pairs[i].tag = i * n;
                for (int j = 0; j < 2; ++j) o.pairs[i].sums[j] = LOAD(p + i * 2 + j);
            }
            o.last = o.pairs[n].sums[n & 1];
            o.pairs[n].sums[1][n] += o.pairs[n & 1].tag;
            STORE(p, o.last);
            STORE(p + 64, o.pairs[n].sums[1]);
        }
        """).spirv
    )
    defined = module.definitions()
    sums = next(item.result for item in module.instructions if item.opcode == OP["OpTypeCooperativeMatrixKHR"])

    def spelled(kind: int) -> str:
        item = defined[kind]
        if item.opcode != OP["OpTypeArray"]:
            return "Sums" if kind == sums else item.name.removeprefix("OpType")
        return f"{spelled(item.operands[0])}[{defined[item.operands[1]].operands[0]}]"

    variables = [item for item in module.instructions if item.opcode == OP["OpVariable"]]
    private = [item for item in variables if item.operands[0] == ENUM["StorageClass.Function"]]
    types = {spelled(defined[item.result_type or 0].operands[1]) for item in private}
    assert {"Sums[2][3]", "Int[3]"} <= types
    assert not any("Struct" in name for name in types)
