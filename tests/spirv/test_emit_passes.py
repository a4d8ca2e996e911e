"""What the pass pipelines must do for emulated matrices, and must not."""

from __future__ import annotations

import re

import pytest
import spirv_samples as samples

from coopmat.spirv import tools
from coopmat.spirv.emit import EmitOptions, EmitResult, emit
from coopmat.spirv.llvm_text import illegal_types

# A library as the lowering writes it: private arrays behind pointers, alwaysinline, loops to be unrolled.
LIBRARY = """
define internal spir_func void @fill(ptr %m, float %x) alwaysinline {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %p = getelementptr inbounds [40 x float], ptr %m, i64 0, i64 %i
  store float %x, ptr %p
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 40
  br i1 %more, label %loop, label %end, !llvm.loop !0
end:
  ret void
}
define internal spir_func void @copy(ptr %to, ptr %from) alwaysinline {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 160, i1 false)
  ret void
}
define internal spir_func float @sum(ptr %m) alwaysinline {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %s = phi float [0.0, %entry], [%t, %loop]
  %p = getelementptr inbounds [40 x float], ptr %m, i64 0, i64 %i
  %x = load float, ptr %p
  %t = fadd float %s, %x
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 40
  br i1 %more, label %loop, label %end, !llvm.loop !0
end:
  ret float %t
}
define internal spir_func void @unused() {
  ret void
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define spir_kernel void @k(ptr addrspace(1) %out, float %x) {
  %a = alloca [40 x float]
  %b = alloca [40 x float]
  call spir_func void @fill(ptr %a, float %x)
  call spir_func void @copy(ptr %b, ptr %a)
  %s = call spir_func float @sum(ptr %b)
  store float %s, ptr addrspace(1) %out
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.full"}
"""

# Closed form of a sum of squares: LLVM would multiply in i33.
SQUARES = """
define spir_kernel void @k(ptr addrspace(1) %out, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%next, %loop]
  %s = phi i32 [0, %entry], [%t, %loop]
  %square = mul i32 %i, %i
  %t = add i32 %s, %square
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  store i32 %t, ptr addrspace(1) %out
  ret void
}
"""

# A dense switch of constants: LLVM would make a table in global memory, or pack it into the bits of an i24.
SWITCH = """
define spir_kernel void @k(ptr addrspace(1) %out, i32 %n) {
  switch i32 %n, label %other [i32 0, label %a i32 1, label %b i32 2, label %c i32 3, label %d i32 4, label %e]
a: br label %end
b: br label %end
c: br label %end
d: br label %end
e: br label %end
other: br label %end
end:
  %r = phi i8 [7, %a], [3, %b], [99, %c], [1, %d], [45, %e], [0, %other]
  store i8 %r, ptr addrspace(1) %out
  ret void
}
"""

# A component of a vector that was just stored: LLVM would shift an i512.
FORWARDED = """
define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in, i1 %c) {
entry:
  %x = load <16 x float>, ptr addrspace(1) %in
  store <16 x float> %x, ptr addrspace(1) %out
  br i1 %c, label %then, label %end
then:
  %p = getelementptr float, ptr addrspace(1) %out, i64 5
  %y = load <4 x float>, ptr addrspace(1) %p
  %q = getelementptr float, ptr addrspace(1) %out, i64 32
  store <4 x float> %y, ptr addrspace(1) %q
  br label %end
end:
  ret void
}
"""

# The bytes of a vector: SROA would make it a <64 x i8>.
UNION = """
define spir_kernel void @k(ptr addrspace(1) %p, i8 %n) {
  %u = alloca [64 x i8], align 64
  %x = load <16 x float>, ptr addrspace(1) %p
  store <16 x float> %x, ptr %u
  %b = getelementptr i8, ptr %u, i64 7
  store i8 %n, ptr %b
  %y = load <16 x float>, ptr %u
  store <16 x float> %y, ptr addrspace(1) %p
  ret void
}
"""
# Variables in local memory that are chosen from: the backend would type them by what is read through the choice.
CHOSEN = """
%S = type { [4 x i32], float }
@a = internal addrspace(3) global [64 x i32] undef
@b = internal addrspace(3) global [64 x i32] undef
@c = internal addrspace(3) global %S undef
@d = internal addrspace(3) global <4 x i32> undef
@e = internal addrspace(3) global [4 x [8 x i32]] undef
define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(3) %p, i64 %n, { i32 } %unused) {
entry:
  %v = alloca i32
  %less = icmp slt i64 %n, 0
  %w = alloca i32
  %q = select i1 %less, ptr addrspace(3) @c, ptr addrspace(3) @d
  store i32 1, ptr addrspace(3) %q
  %same = icmp eq ptr addrspace(3) %p, @e
  store i1 %same, ptr addrspace(1) %out
  %off = select i1 %less, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @e, i64 8), ptr addrspace(3) %p
  store i32 2, ptr addrspace(3) %off
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %from = phi ptr addrspace(3) [@a, %entry], [%to, %loop]
  %to = phi ptr addrspace(3) [@b, %entry], [%from, %loop]
  %x = getelementptr i32, ptr addrspace(3) %from, i64 %i
  %y = load i32, ptr addrspace(3) %x
  store i32 %y, ptr addrspace(3) %to
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
"""
CASES = {
    "library": LIBRARY,
    "squares": SQUARES,
    "switch": SWITCH,
    "forwarded": FORWARDED,
    "union": UNION,
    "chosen": CHOSEN,
    "small": samples.SMALL,
}


def _both(text: str, passes: str) -> EmitResult:
    options = EmitOptions(passes=passes, want=frozenset({"spirv", "llvm_ir"}))  # type: ignore[arg-type]
    return emit(text, options)


@pytest.mark.parametrize("passes", ["none", "sroa", "unroll", "O1", "O2", "O3"])
@pytest.mark.parametrize("name", CASES)
def test_every_level_gives_valid_modules_of_legal_types(name: str, passes: str) -> None:
    result = _both(CASES[name], passes)
    assert result.spirv is not None and result.llvm_ir is not None
    assert tools.validate(result.spirv, "spv1.4") is None
    assert illegal_types(result.llvm_ir) == []
    assert "private unnamed_addr" not in result.llvm_ir  # a constant table


def test_o1_inlines_unrolls_and_promotes() -> None:
    result = _both(LIBRARY, "O1")
    assert result.llvm_ir is not None and result.passes == "O1"
    assert re.findall(r"^define .*@(\w+)\(", result.llvm_ir, re.MULTILINE) == ["k"]
    for gone in ("alloca", "br label", "phi", "memcpy"):
        assert gone not in result.llvm_ir
    assert result.llvm_ir.count("fadd float") >= 39


def test_nothing_is_vectorised() -> None:
    text = _both(samples.SMALL.replace("@add_one", "@k"), "O3").llvm_ir
    assert text is not None and "<4 x" not in text
    assert "vector.body" not in (_both(SQUARES, "O3").llvm_ir or "")


def test_sroa_leaves_control_flow_of_matrices_alone() -> None:
    text = f"""{samples.DECLARATIONS}
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q, i1 %c) {{
entry:
  %v = alloca {samples.C}
  %x = call spir_func {samples.C} @_Z26__spirv_CompositeConstruct_mf16x16C(float 1.0)
  %y = call spir_func {samples.C} @_Z26__spirv_CompositeConstruct_mf16x16C(float 2.0)
  store {samples.C} %x, ptr %v
  br i1 %c, label %then, label %end
then:
  store {samples.C} %y, ptr %v
  br label %end
end:
  %r = load {samples.C}, ptr %v
  call spir_func void @_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1fu8mf16x16Cil(
      ptr addrspace(1) %p, {samples.C} %r, i32 0, i64 16)
  ret void
}}
"""
    options = EmitOptions(extensions=samples.EXTENSIONS, passes="sroa", want=frozenset({"llvm_ir"}))
    ir = emit(text, options).llvm_ir
    assert ir is not None
    assert "alloca" not in ir and "select" not in ir and f"phi {samples.C}" in ir


def test_short_loops_over_matrices_are_unrolled() -> None:
    """So that arrays of them become values; longer loops stay."""
    matrix = 'target("spirv.CooperativeMatrixKHR", float, 3, 8, 8, 2)'
    load, store = (
        f"_Z{n}__spirv_CooperativeMatrix{name}"
        for n, name in ((32, "LoadKHRPU3AS1filu6mf8x8C"), (33, "StoreKHRPU3AS1fu6mf8x8Cil"))
    )
    declared = f"""declare spir_func {matrix} @{load}(ptr addrspace(1), i32, i64)
declare spir_func void @{store}(ptr addrspace(1), {matrix}, i32, i64)
"""
    body = f"""entry:
  %list = alloca [4 x {matrix}]
  %n = alloca i32
  store i32 0, ptr %n
  br label %test
test:
  %i = load i32, ptr %n
  %more = icmp slt i32 %i, COUNT
  br i1 %more, label %load, label %end
load:
  %m = call spir_func {matrix} @{load}(ptr addrspace(1) %p, i32 0, i64 8)
  %there = getelementptr [4 x {matrix}], ptr %list, i32 0, i32 %i
  store {matrix} %m, ptr %there
  %next = add nsw i32 %i, 1
  store i32 %next, ptr %n
  br label %test
end:
  %last = load {matrix}, ptr %list
  call spir_func void @{store}(ptr addrspace(1) %p, {matrix} %last, i32 0, i64 8)
  ret void
"""
    text = f"define spir_kernel void @k(ptr addrspace(1) %p) {{\n{body}}}\n{declared}"
    options = EmitOptions(extensions=samples.EXTENSIONS, passes="unroll", want=frozenset({"llvm_ir"}))
    for count, loads in ((4, 4), (40, 1)):
        done = emit(text.replace("COUNT", str(count)), options)
        assert done.passes == "unroll" and done.llvm_ir is not None
        assert (len(re.findall(r"= call .*LoadKHR", done.llvm_ir)), "alloca" in done.llvm_ir) == (loads, count == 40)


def test_less_is_run_where_the_passes_make_illegal_types() -> None:
    assert _both(UNION, "sroa").passes == "none"


@pytest.mark.parametrize("passes", ["none", "O1", "O3"])
def test_local_variables_keep_their_types_where_a_pointer_is_chosen(passes: str) -> None:
    spirv = _both(CHOSEN, passes).spirv
    assert spirv is not None
    types = re.findall(r"%([abcde]) = OpVariable %_ptr_Workgroup_(\S+) Workgroup", tools.disassemble(spirv))
    array, rows = "_arr_uint_uint_64", "_arr__arr_uint_uint_8_uint_4"
    assert dict(types) == {"a": array, "b": array, "c": "S", "d": "v4uint", "e": rows}


_STORE = "_Z33__spirv_CooperativeMatrixStoreKHRPU3AS1ju6mj4x4Ail"
VARIABLES = {
    "array": "addrspace(3) global [16 x i32] undef",
    "rows": "addrspace(3) global [4 x [4 x i32]] undef",
    "vector": "addrspace(3) global <4 x i32> undef",
    "vectors": "addrspace(3) global [4 x <4 x i32>] undef",
    "floats": "addrspace(3) global [16 x float] undef",
    "structure": "addrspace(3) global { [3 x i32], i32 } undef",
    "constant": "addrspace(2) constant [16 x i32] zeroinitializer",
    "constant structure": "addrspace(2) constant { [3 x i32], i32 } zeroinitializer",
    "program scope": "addrspace(1) global { i32, [3 x i32] } zeroinitializer",
}
# Attributes of the pointer, and the variable's name.
OPERANDS = [("", "@v"), ("noundef align 4 ", "@v"), ("captures(address, read_provenance) ", '@"tile<4, 4>"')]


@pytest.mark.parametrize("attributes, name", OPERANDS)
@pytest.mark.parametrize("passes", ["none", "sroa", "unroll"])
@pytest.mark.parametrize("kind", VARIABLES)
def test_the_stride_of_a_matrix_in_a_variable_counts_what_the_name_says(
    kind: str, passes: str, attributes: str, name: str
) -> None:
    """Find the pointer's type in the binary: uint, as in the function's name, whatever the variable's type is."""
    pointer = f"ptr {VARIABLES[kind].split()[0]}"
    matrix = samples.matrix("i32", 4, 4, 0)
    load = f"_Z32__spirv_CooperativeMatrixLoadKHRPU3AS{pointer[-2]}jilu6mj4x4A"
    text = f"""
{name} = internal {VARIABLES[kind]}
declare spir_func {matrix} @{load}({pointer}, i32, i64)
declare spir_func void @{_STORE}(ptr addrspace(1), {matrix}, i32, i64)
define spir_kernel void @k(ptr addrspace(1) %o) {{
  %m = call spir_func {matrix} @{load}({pointer} {attributes}{name}, i32 0, i64 4)
  call spir_func void @{_STORE}(ptr addrspace(1) %o, {matrix} %m, i32 0, i64 4)
  ret void
}}
"""
    spirv = emit(text, EmitOptions(extensions=samples.EXTENSIONS, passes=passes)).spirv  # type: ignore[arg-type]
    assert spirv is not None and tools.validate(spirv, tools.target_env_for("1.4", spirv)) is None
    lines = tools.disassemble(spirv)
    operand = re.search(r"OpCooperativeMatrixLoadKHR \S+ (%\S+)", lines)
    assert operand is not None
    assert re.search(rf"{operand[1]} = \w+ %_ptr_\w+?_uint ", lines)


def test_a_variable_in_a_constant_expression_is_left_alone() -> None:
    """The backend makes an instruction of such an expression, and converts its result."""
    matrix, load = samples.matrix("i32", 4, 4, 0), "_Z32__spirv_CooperativeMatrixLoadKHRPU3AS4jilu6mj4x4A"
    cast = "addrspacecast (ptr addrspace(1) @v to ptr addrspace(4))"
    second = "getelementptr (i8, ptr addrspace(1) @v, i64 4)"
    text = f"""
@v = internal addrspace(1) global [16 x i32] zeroinitializer
declare spir_func {matrix} @{load}(ptr addrspace(4), i32, i64)
declare spir_func void @{_STORE}(ptr addrspace(1), {matrix}, i32, i64)
define spir_kernel void @k(ptr addrspace(1) %o) {{
  %m = call spir_func {matrix} @{load}(ptr addrspace(4) {cast}, i32 0, i64 4)
  call spir_func void @{_STORE}(ptr addrspace(1) {second}, {matrix} %m, i32 0, i64 4)
  ret void
}}
"""
    spirv = emit(text, EmitOptions(extensions=samples.EXTENSIONS)).spirv
    assert spirv is not None and tools.validate(spirv, tools.target_env_for("1.4", spirv)) is None
    assert "= OpBitcast %_ptr_Generic_uint" in tools.disassemble(spirv)


def test_prefetches_and_block_reads_of_a_variable_of_another_type() -> None:
    """spirv-val refuses such a prefetch, and Intel's compiler crashes at such a block read."""
    text = """
@v = internal addrspace(1) global { i32, [63 x i32] } zeroinitializer
declare spir_func i32 @_Z26intel_sub_group_block_readPU3AS1Kj(ptr addrspace(1))
declare spir_func void @_Z27intel_sub_group_block_writePU3AS1jj(ptr addrspace(1), i32)
declare spir_func void @_Z8prefetchPU3AS1Kjm(ptr addrspace(1), i64)
define spir_kernel void @k() {
  %x = call spir_func i32 @_Z26intel_sub_group_block_readPU3AS1Kj(ptr addrspace(1) @v)
  call spir_func void @_Z27intel_sub_group_block_writePU3AS1jj(ptr addrspace(1) @v, i32 %x)
  call spir_func void @_Z8prefetchPU3AS1Kjm(ptr addrspace(1) @v, i64 1)
  ret void
}
"""
    spirv = emit(text, EmitOptions(extensions=("SPV_INTEL_subgroups",))).spirv
    assert spirv is not None and tools.validate(spirv, tools.target_env_for("1.4", spirv)) is None
    lines = tools.disassemble(spirv)
    pointers = re.findall(
        r"Op(?:SubgroupBlockReadINTEL %uint|SubgroupBlockWriteINTEL|ExtInst %void .* prefetch) (%\d+)", lines
    )
    assert len(pointers) == 3
    assert all(re.search(rf"{pointer} = \w+ %_ptr_CrossWorkgroup_uint ", lines) for pointer in pointers)


def test_illegal_types_are_told_from_names() -> None:
    assert illegal_types('%i33 = add i32 %i24, @i7 ; i9\n!3 = i99\ni5:\n  <16 x i8> "i77" i1 i8 i16 i64') == []
    assert illegal_types('store i33 0\n  load <5 x i3>, target("spirv.X", i9)') == ["<5 x ", "i3", "i33", "i9"]


def test_alignments_that_the_backend_has_no_bits_for() -> None:
    text = """
    define spir_kernel void @k(ptr addrspace(1) %p, i64 %i) {
      %a = alloca [64 x double], align 256
      %q = getelementptr [64 x double], ptr %a, i64 0, i64 %i
      store <16 x double> zeroinitializer, ptr %a, align 512
      %x = load volatile double, ptr %q, align 8
      store double %x, ptr addrspace(1) %p, align 256
      ret void
    }
    """
    assert tools.disassemble(emit(text).spirv).count("Aligned 128") == 2
