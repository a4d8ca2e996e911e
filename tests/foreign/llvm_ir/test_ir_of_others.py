"""IR as other compilers and translators write it: names with results in them, joint matrices, blocks in any order,
slices through wide integers."""

from __future__ import annotations

import numpy as np
import pytest
from differential import Launch, Value, execute
from valid_modules import assert_valid

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.foreign.llvm_ir.operations import read_name

ROUTES = ("native", "one", "lanes", "scratch")
FLOATS, BYTES = (f'target("spirv.CooperativeMatrixKHR", {t}, 3, 16, 16, 2)' for t in ("float", "i8"))
_OF_FLOATS, _OF_BYTES = (f"PU3AS145__spirv_CooperativeMatrixKHR__{t}_3_16_16_2" for t in ("float", "uchar"))
# As llvm-spirv -r names them.
LOAD = f"_Z87__spirv_CooperativeMatrixLoadKHR_R{_OF_FLOATS}"
STORE = "_Z33__spirv_CooperativeMatrixStoreKHR"
CONVERT = f"_Z82__spirv_ConvertFToU_R{_OF_BYTES}_sat_rtp{_OF_FLOATS}"


def ir(text: str, *options: str) -> coopmat.Module:
    return coopmat.compile(text, list(options), name="in.ll", language="ir")


def refused(text: str, *options: str) -> coopmat.diagnostics.Diagnostic:
    with pytest.raises(coopmat.CompileError) as caught:
        ir(text, *options).spirv  # noqa: B018
    (found,) = caught.value.diagnostics
    return found


@pytest.mark.parametrize(
    ("name", "word", "pointee", "mode"),
    [
        (f"{LOAD}PU3AS1fili", "CooperativeMatrixLoadKHR", (1, "float"), ""),
        (
            "_Z86__spirv_CooperativeMatrixLoadKHR_RPU3AS144__spirv_CooperativeMatrixKHR__short_3_8_16_0"
            "PU3AS138class.sycl::_V1::ext::oneapi::bfloat16ili",
            "CooperativeMatrixLoadKHR",
            None,
            "",
        ),
        (CONVERT, "ConvertFToU", None, "sat_rtp"),
        ("_Z30__spirv_ConvertSToF_Rfloat_rtni", "ConvertSToF", None, "rtn"),
    ],
)
def test_names_with_results(name: str, word: str, pointee: tuple[int, str] | None, mode: str) -> None:
    found = read_name(name)
    assert found is not None and (found.word, found.pointee, found.mode) == (word, pointee, mode)


TRANSLATED = f"""
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) {{
  %g = addrspacecast ptr addrspace(1) %p to ptr addrspace(4)
  %a = call spir_func {FLOATS} @{LOAD}PU3AS1fili(ptr addrspace(1) %p, i32 0, i64 16, i32 0)
  %b = call spir_func {FLOATS} @{LOAD}PU3AS4fili(ptr addrspace(4) %g, i32 1, i64 16, i32 0)
  %c = call spir_func {BYTES} @{CONVERT}({FLOATS} %b)
  call spir_func void @{STORE}PU3AS4f{_OF_FLOATS}ili(ptr addrspace(4) %g, {FLOATS} %b, i32 0, i64 16, i32 0)
  call spir_func void @{STORE}PU3AS1c{_OF_BYTES}ili(ptr addrspace(1) %q, {BYTES} %c, i32 0, i64 16, i32 0)
  ret void
}}
declare spir_func {FLOATS} @{LOAD}PU3AS1fili(ptr addrspace(1), i32, i64, i32)
declare spir_func {FLOATS} @{LOAD}PU3AS4fili(ptr addrspace(4), i32, i64, i32)
declare spir_func {BYTES} @{CONVERT}({FLOATS})
declare spir_func void @{STORE}PU3AS4f{_OF_FLOATS}ili(ptr addrspace(4), {FLOATS}, i32, i64, i32)
declare spir_func void @{STORE}PU3AS1c{_OF_BYTES}ili(ptr addrspace(1), {BYTES}, i32, i64, i32)
"""


@pytest.mark.parametrize("route", ROUTES)
def test_translated_names_and_generic_pointers(route: str) -> None:
    module = ir(TRANSLATED, "--matrices", route)
    assert_valid(module)
    if route == "native":
        assert "SaturatedConversion" in module.spirv_text and "FPRoundingMode RTP" in module.spirv_text


@pytest.mark.parametrize("route", ["one", "lanes"])
def test_translated_names_are_run(device: DeviceInfo, route: str) -> None:
    x = (np.arange(256, dtype=np.float32) - 20.5).reshape(16, 16)
    module = ir(TRANSLATED, "--matrices", route)
    size = module.kernels["k"].sub_group_size or 1
    launch = Launch("k", [x, np.zeros((16, 16), np.uint8)], (size,), (size,))
    found = execute(device, module.spirv, [launch])[0]
    stored, converted = found[0], found[1]
    assert np.array_equal(np.reshape(stored, (16, 16)), x.T)
    assert np.array_equal(np.reshape(converted, (16, 16)), np.clip(np.ceil(x.T), 0, 255))


MEMORY = f"""
define spir_kernel void @k(ptr addrspace(1) %p) {{
  %a = call {FLOATS} @_Z32__spirv_CooperativeMatrixLoadKHR(ptr addrspace(1) %p, ARGUMENTS)
  %b = call {FLOATS} @_Z34__spirv_CooperativeMatrixScalarNeg({FLOATS} %a, SECOND)
  call void @_Z33__spirv_CooperativeMatrixStoreKHR(ptr addrspace(1) %p, {FLOATS} %b, ARGUMENTS)
  ret void
}}
declare {FLOATS} @_Z32__spirv_CooperativeMatrixLoadKHR(ptr addrspace(1), TYPES)
declare {FLOATS} @_Z34__spirv_CooperativeMatrixScalarNeg({FLOATS}, OTHER)
declare void @_Z33__spirv_CooperativeMatrixStoreKHR(ptr addrspace(1), {FLOATS}, TYPES)
"""


def _memory(arguments: str, second: str = f"{FLOATS} %a") -> str:
    types = ", ".join(argument.split()[0] for argument in arguments.split(", "))
    text = MEMORY.replace("ARGUMENTS", arguments).replace("TYPES", types).replace("SECOND", second)
    return text.replace("OTHER", second.rpartition(" ")[0])


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "arguments",
    [
        "i32 0, i64 16, i32 2, i32 4",
        "i32 0, i64 16, i32 7, i32 64",
        "i64 16, i32 0, i32 3, i32 0",  # stride, layout, scope, memory operand
    ],
)
def test_loads_and_stores_of_five_operands(arguments: str, route: str) -> None:
    volatile = ir(_memory(arguments), "--matrices", route).spirv
    expected = "i32 0, i64 16, i32 1" if "i32 7" in arguments else "i32 0, i64 16, i32 0"
    assert volatile == ir(_memory(expected), "--matrices", route).spirv


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("i32 0, i64 16, i32 2", "but no alignment follows"),
        ("i32 0, i64 16, i32 1, i32 4", "nothing may follow a memory operand of 1"),
        ("i32 0, i64 16, i32 8", "the memory operand is 8"),
    ],
)
def test_memory_operands_that_are_not_supported(arguments: str, message: str) -> None:
    found = refused(_memory(arguments))
    assert message in found.message and found.span is not None and found.span.line == 3


@pytest.mark.parametrize("second", [f"{FLOATS} %a", f"{FLOATS} undef", "float -1.0"])
def test_negations_of_two_operands(second: str) -> None:
    assert_valid(ir(_memory("i32 0, i64 16", second), "--matrices", "one"))
    found = refused(_memory("i32 0, i64 16", "float 2.0"))
    assert "the second operand of a negation" in found.message and found.span is not None and found.span.line == 4


JOINT = """
define spir_kernel void @k(ptr addrspace(1) %p) {
  %x = load float, ptr addrspace(1) %p
  %a = call TYPE @_Z29__spirv_JointMatrixLoadINTEL(ptr addrspace(1) %p, i64 32, i32 0, i32 3, i32 0)
  ret void
}
declare TYPE @_Z29__spirv_JointMatrixLoadINTEL(ptr addrspace(1), i64, i32, i32, i32)
"""


@pytest.mark.parametrize("options", [(), ("--no-validate",), ("--matrices", "one")])
def test_joint_matrices_are_refused_by_name(options: tuple[str, ...]) -> None:
    joint = 'target("spirv.JointMatrixINTEL", i8, 8, 32, 0, 3, 0)'
    found = refused(JOINT.replace("TYPE", joint), *options)
    assert found.code == "ir-matrix-type" and found.span is not None and found.span.line == 4
    assert joint in found.message and 'target("spirv.CooperativeMatrixKHR", i8, 3, 8, 32, 0)' in found.message
    found = refused(JOINT.replace("TYPE", FLOATS), *options)
    assert found.code == "ir-operation" and found.span is not None and found.span.line == 4
    assert "__spirv_CooperativeMatrixLoadKHR takes its place" in found.message


BLOCKS = """
define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {
entry:
  %x = load <20 x float>, ptr addrspace(1) %p, align 4
  %first = icmp sgt i32 %n, 0
  br i1 %first, label %calculate, label %leave
store:
  %more = fadd <20 x float> %sum, %x
  store <20 x float> %more, ptr addrspace(1) %p, align 4
  br label %leave
leave:
  ret void
calculate:
  %sum = fmul <20 x float> %x, splat (float 2.0)
  %one = extractelement <20 x float> %sum, i64 1
  %second = fcmp ogt float %one, 0.0
  br i1 %second, label %store, label %leave
}
"""


def test_blocks_before_definitions(device: DeviceInfo) -> None:
    """Uses stand before definitions in the text, and blocks that nothing leads to are there, too."""
    x = np.arange(1, 21, dtype=np.float32)
    text = BLOCKS.replace("ret void\n", "ret void\nnowhere:\n  %y = fadd <20 x float> %sum, %x\n  br label %nowhere\n")
    text = text.replace("%sum, %x\n  br", "zeroinitializer, zeroinitializer\n  br")
    for source in (BLOCKS, text):
        for route in ("one", "native"):
            module = ir(source, "--matrices", route)
            found = execute(device, module.spirv, [Launch("k", [x, Value(np.array(1, np.int32))])])[0]
            assert found[0].tolist() == (3 * x).tolist()


SLICES = """
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %v = load <4 x i32>, ptr addrspace(1) %p, align 4
  %all = bitcast <4 x i32> %v to i128
  %high = lshr i128 %all, 32
  %three = trunc i128 %high to i96
  %t = bitcast i96 %three to <3 x i32>
  %h = bitcast i96 %three to <6 x i16>
  %shifted = lshr i96 %three, 48
  %half = trunc i96 %shifted to i16
  %above = lshr i128 %all, 96
  %zeros = trunc i128 %above to i64
  %again = zext i96 %three to i160
  %five = bitcast i160 %again to <5 x i32>
  %e = extractelement <6 x i16> %h, i64 5
  %a0 = extractelement <3 x i32> %t, i64 0
  %a1 = extractelement <3 x i32> %t, i64 2
  %a2 = zext i16 %half to i32
  %a3 = zext i16 %e to i32
  %a4 = trunc i64 %zeros to i32
  %upper = lshr i64 %zeros, 32
  %a5 = trunc i64 %upper to i32
  %a6 = extractelement <5 x i32> %five, i64 2
  %a7 = extractelement <5 x i32> %five, i64 4
  STORES
  ret void
}
define spir_kernel void @copied(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %all = load i256, ptr addrspace(1) %p, align 4
  %high = lshr i256 %all, 64
  %some = trunc i256 %high to i128
  store i128 %some, ptr addrspace(1) %q, align 4
  ret void
}
"""
_STORES = "\n  ".join(
    f"%p{n} = getelementptr i32, ptr addrspace(1) %q, i64 {n}\n  store i32 %a{n}, ptr addrspace(1) %p{n}, align 4"
    for n in range(8)
)


@pytest.mark.parametrize("route", ["one", "native"])
def test_slices_through_wide_integers(device: DeviceInfo, route: str) -> None:
    x = np.array([0x01020304, 0x11121314, 0x21222324, 0x31323334, 5, 6, 7, 8], np.uint32)
    launches = [Launch(name, [x, np.zeros(8, np.uint32)]) for name in ("k", "copied")]
    module = ir(SLICES.replace("STORES", _STORES), "--matrices", route)
    slices, copied = (found[1].tolist() for found in execute(device, module.spirv, launches))
    assert slices == [x[1], x[3], x[2] >> 16, x[3] >> 16, x[3], 0, x[3], 0]
    assert copied == [*x[2:6], 0, 0, 0, 0]


ONE_ELEMENT = """
define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {
  %v = load <1 x i32>, ptr addrspace(1) %p, align 4
  %i = insertelement <1 x i32> poison, i32 %n, i64 0
  %c = icmp sgt <1 x i32> %v, %i
  %z = zext <1 x i1> %c to <1 x i32>
  %f = sitofp <1 x i32> %v to <1 x float>
  %d = fcmp ogt <1 x float> %f, zeroinitializer
  %s = select <1 x i1> %d, <1 x i32> %z, <1 x i32> %v
  store <1 x i32> %s, ptr addrspace(1) %p, align 4
  ret void
}
"""


def test_comparisons_of_one_element(device: DeviceInfo) -> None:
    module = ir(ONE_ELEMENT)
    for x, n, result in ((5, 3, 1), (5, 7, 0), (-2, 0, -2)):
        launch = Launch("k", [np.array([x], np.int32), Value(np.array(n, np.int32))])
        assert execute(device, module.spirv, [launch])[0][0].tolist() == [result]


# LLVM prints arrays of bytes as strings, in which `;`, `!` and brackets are bytes like others.
BYTES_AS_STRING = "".join(
    f"\\{byte:02X}" if chr(byte) in '"\\' or not 32 <= byte < 127 else chr(byte) for byte in range(256)
)
TABLE = f"""
@"table;" = internal addrspace(2) constant [256 x i8] c"{BYTES_AS_STRING}" ; a comment with "quotes"
define spir_kernel void @k(ptr addrspace(1) %p) {{
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %from = getelementptr i8, ptr addrspace(2) @"table;", i64 %i
  %to = getelementptr i8, ptr addrspace(1) %p, i64 %i ; @"table;"
  %byte = load i8, ptr addrspace(2) %from, align 1
  store i8 %byte, ptr addrspace(1) %to, align 1
  ret void
}}
declare spir_func i64 @_Z13get_global_idj(i32)
"""


def test_every_byte_of_a_string_is_read(device: DeviceInfo) -> None:
    launch = Launch("k", [np.zeros(256, np.uint8)], (256,))
    found = execute(device, ir(TABLE, "--matrices", "one").spirv, [launch])[0]
    assert found[0].tolist() == list(range(256))


WIDE_VECTORS = """
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %v = load <2 x i128>, ptr addrspace(1) %p, align 16
  %a = bitcast <2 x i128> %v to <8 x i32>
  %x = shufflevector <8 x i32> %a, <8 x i32> poison, <8 x i32> <i32 1, i32 0, i32 3, i32 2, i32 5, i32 4, i32 7, i32 6>
  %d = bitcast <8 x i32> %x to <1 x i256>
  %f = freeze <1 x i256> %d
  %e = bitcast <1 x i256> %f to <16 x i16>
  store <16 x i16> %e, ptr addrspace(1) %q, align 16
  ret void
}
"""


@pytest.mark.parametrize("route", ["one", "native"])
def test_vectors_of_wide_integers_are_moved_and_cast(device: DeviceInfo, route: str) -> None:
    x = np.arange(8, dtype=np.uint32) * 0x01010101
    launch = Launch("k", [x, np.zeros(8, np.uint32)])
    found = execute(device, ir(WIDE_VECTORS, "--matrices", route).spirv, [launch])[0]
    assert found[1].tolist() == x.reshape(4, 2)[:, ::-1].ravel().tolist()


@pytest.mark.parametrize(
    "instruction",
    [
        "%r = add <2 x i128> zeroinitializer, zeroinitializer",
        "%r = add i128 %w, 1",
        "%r = lshr i128 %w, %w",
        "%r = call i128 @llvm.bswap.i128(i128 %w)",
        "%r = mul i72 3, 4",
        "%s = lshr i128 %w, 3\n  %r = trunc i128 %s to i32",
    ],
)
@pytest.mark.parametrize("route", ["one", "native"])
def test_other_wide_integers_have_a_place(instruction: str, route: str) -> None:
    text = f"""\
declare i128 @llvm.bswap.i128(i128)
define spir_kernel void @k(ptr addrspace(1) %p) {{
  %v = load <4 x i32>, ptr addrspace(1) %p, align 4
  %w = bitcast <4 x i32> %v to i128
  {instruction}
  ret void
}}
"""
    found = refused(text, "--matrices", route)
    assert found.code == "ir-not-supported" and "integers of at most 64 bits" in found.message
    assert found.span is not None and found.span.line == 5 + instruction.count("\n")


@pytest.mark.parametrize(
    ("head", "word", "message"),
    [
        ("define void @f(i32 %i, foo %x)", "foo", "LLVM refuses this: expected type"),
        ("define void @f(i32 %p, i32 %p)", "i32 %p)", "LLVM refuses this: redefinition of argument '%p'"),
        ("define void @f(ptr %p, i300 %x)", "i300", "'f' has i300: SPIR-V has integers of 8, 16, 32 and 64 bits"),
    ],
)
def test_errors_in_the_head_of_a_function(head: str, word: str, message: str) -> None:
    """The place is that of the parameter, on the first line, too."""
    found = refused(f"{head} {{\n  ret void\n}}\n")
    assert found.message == message and found.span is not None
    assert (found.span.line, found.span.column) == (1, head.index(word) + 1)
