from __future__ import annotations

import contextlib
import struct

import pytest
import spirv_samples as samples
from hypothesis import given, strategies as st

from coopmat.matrices.variants import SMALL_FLOATS
from coopmat.spirv import tools
from coopmat.spirv.emit import EmitOptions, emit
from coopmat.spirv.module import (
    ENUM,
    MAGIC,
    OP,
    OPCODES,
    Instruction,
    MalformedModule,
    Module,
    decode_string,
    encode_string,
    id_positions,
    instruction,
    with_unique_names,
)

_WORD = st.integers(0, 2**32 - 1)


@st.composite
def _modules(draw: st.DrawFn) -> bytes:
    order = draw(st.sampled_from("<>"))
    words = [MAGIC, *draw(st.lists(_WORD, min_size=4, max_size=4))]
    for number in draw(st.lists(st.sampled_from(sorted(OPCODES)), max_size=8)):
        body = draw(st.lists(_WORD, min_size=2, max_size=9))
        words += [(len(body) + 1) << 16 | number, *body]
    return struct.pack(f"{order}{len(words)}I", *words)


@given(_modules())
def test_unique_names_change_nothing_else(data: bytes) -> None:
    if data[:4] != struct.pack("<I", MAGIC):
        assert with_unique_names(data) == data
        return
    before, after = Module.parse(data), Module.parse(with_unique_names(data))
    assert (after.version, after.bound, len(after.instructions)) == (
        before.version,
        before.bound,
        len(before.instructions),
    )
    for old, new in zip(before.instructions, after.instructions, strict=True):
        same = new.operands[:1] == old.operands[:1] if old.opcode == OP["OpName"] else new == old
        assert same


def test_equal_names_become_unique() -> None:
    names = [instruction("OpName", number, *encode_string("entry")) for number in (3, 4, 0xFFFFFF)]
    rest = [instruction("OpTypeFloat", 3, 32), instruction("OpTypeFloat", 4, 64)]
    module = Module(0x00010400, 0x1000000, [instruction("OpCapability", 6), *names, *rest])
    after = Module.parse(with_unique_names(module.to_bytes()))
    assert [item.operands[0] for item in after.instructions[1:4]] == [3, 4, 0xFFFFFF]
    assert len({decode_string(item.operands[1:])[0] for item in after.instructions[1:4]}) == 3
    assert after.instructions[4:] == rest
    for cut in range(0, len(module.to_bytes()), 2):
        with_unique_names(module.to_bytes()[:cut])  # the validator is to say what is wrong with it


@given(_modules())
def test_round_trip_is_exact(data: bytes) -> None:
    assert Module.parse(data).to_bytes() == data


@given(st.binary(max_size=200))
def test_any_bytes_parse_or_are_malformed(data: bytes) -> None:
    try:
        module = Module.parse(data)
    except MalformedModule:
        return
    assert module.to_bytes() == data


@given(_modules(), st.integers(0, 200))
def test_a_cut_module_is_never_taken_for_a_whole_one(data: bytes, cut: int) -> None:
    part = data[:cut]
    with contextlib.suppress(MalformedModule):
        assert Module.parse(part).to_bytes() == part


@given(_modules())
def test_operands_of_any_instruction_are_read_or_malformed(data: bytes) -> None:
    module = Module.parse(data)
    definitions = module.definitions()
    for item in module.instructions:
        try:
            positions = id_positions(item, definitions)
        except MalformedModule:
            continue
        assert positions == sorted(set(positions)) and all(0 <= p < len(item.operands) for p in positions)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_strings_round_trip(text: str) -> None:
    words = encode_string(text)
    assert decode_string([*words, 7, 8]) == (text, len(words))


def test_a_real_module_round_trips() -> None:
    spirv = emit(samples.GEMM, EmitOptions(extensions=samples.EXTENSIONS)).spirv
    assert spirv is not None
    module = Module.parse(spirv)
    assert module.to_bytes() == spirv
    assert all(0 < i < module.bound for i in module.definitions())


# Operand words after the result type and id, as an assembler writes them; ids are 100 and up.
_OPERANDS = {
    "%r = OpLoad %t %100 Aligned 16": [100],
    "%r = OpLoad %t %100 Volatile|Aligned|MakePointerVisible 16 %101": [100, 101],
    "OpStore %100 %101": [100, 101],
    "OpCopyMemorySized %100 %101 %102 Aligned 16 Volatile": [100, 101, 102],
    "%r = OpImageSampleExplicitLod %t %100 %101 Lod|ConstOffset %102 %103": [100, 101, 102, 103],
    "%r = OpCompositeExtract %t %100 1 2 3": [100],
    "%r = OpExtInst %t %100 sqrt %101": [100, 101],
    "%r = OpVectorShuffle %t %100 %101 0 1 2": [100, 101],
    "%r = OpPhi %t %100 %101 %102 %103": [100, 101, 102, 103],
    "OpSwitch %100 %101 5 %102 6 %103": [100, 101, 102, 103],
    "OpLoopMerge %100 %101 Unroll|DependencyLength 4": [100, 101],
    "OpBranchConditional %100 %101 %102 3 4": [100, 101, 102],
    "OpExecutionMode %100 LocalSize 8 8 1": [100],
    "OpExecutionModeId %100 LocalSizeId %101 %102 %103": [100, 101, 102, 103],
    'OpDecorate %100 LinkageAttributes "abcdefgh" Import': [100],
    "OpDecorateId %100 UniformId %101": [100, 101],
    "OpMemberDecorate %100 2 Offset 16": [100],
    'OpEntryPoint Kernel %100 "name" %101 %102': [100, 101, 102],
    "%r = OpCooperativeMatrixLoadKHR %t %100 %101 %102 Aligned 4": [100, 101, 102],
    "%r = OpCooperativeMatrixMulAddKHR %t %100 %101 %102 SaturatingAccumulationKHR": [100, 101, 102],
    "%r = OpAtomicIAdd %t %100 %101 %102 %103": [100, 101, 102, 103],
    "%r = OpGroupFAdd %t %100 Reduce %101": [100, 101],
    "%r = OpSpecConstantOp %t IAdd %100 %101": [100, 101],
    "%r = OpSpecConstantOp %t CompositeExtract %100 3": [100],
    "%r = OpConstant %float 1.5": [],
    "%r = OpVariable %t Function %100": [100],
}


@pytest.mark.parametrize("text", _OPERANDS)
def test_ids_are_where_the_assembler_puts_them(text: str) -> None:
    header = '%100 = OpExtInstImport "OpenCL.std"\n%float = OpTypeFloat 32\n'
    if "%100 5" in text or "OpSwitch" in text:
        header = "%int = OpTypeInt 32 0\n%100 = OpUndef %int\n"
    # spirv-as keeps numeric ids when asked to; it does not validate.
    options = ("--preserve-numeric-ids", "--target-env", "spv1.4", "-o", "-", "-")
    result = tools.need_tools().run("spirv-as", *options, data=(header + text).encode())
    assert result.returncode == 0, result.stderr
    module = Module.parse(result.stdout)
    item = module.instructions[-1]
    assert [item.operands[p] for p in id_positions(item, module.definitions())] == _OPERANDS[text]


def test_literals_of_a_64_bit_switch_take_two_words() -> None:
    wide = {1: instruction("OpTypeInt", 1, 64, 0), 2: instruction("OpUndef", 1, 2)}
    item = instruction("OpSwitch", 2, 10, 7, 0, 11, 8, 1, 12)
    assert id_positions(item, wide) == [0, 1, 4, 7]


@pytest.mark.parametrize(
    "item",
    [
        Instruction(OP["OpLoad"], (), 1, 2),
        Instruction(OP["OpLoad"], (3, 2), 1, 2),
        Instruction(OP["OpStore"], (3, 4, 0, 0)),
        Instruction(OP["OpName"], (3, 0x61616161)),
        Instruction(OP["OpSpecConstantOp"], (65535,), 1, 2),
    ],
)
def test_operands_that_do_not_fit_are_malformed(item: Instruction) -> None:
    with pytest.raises(MalformedModule):
        id_positions(item, {})


def test_the_table_has_the_cooperative_matrix_instructions() -> None:
    names = ["OpTypeCooperativeMatrixKHR", "OpCooperativeMatrixLoadKHR", "OpCooperativeMatrixStoreKHR"]
    names += ["OpCooperativeMatrixMulAddKHR", "OpCooperativeMatrixLengthKHR"]
    assert [OP[name] for name in names] == [4456, 4457, 4458, 4459, 4460]
    assert len(OPCODES) > 800


def test_the_last_operand_of_vector_loads_is_a_literal() -> None:
    opencl = Instruction(OP["OpExtInstImport"], tuple(encode_string("OpenCL.std")), None, 1)
    other = Instruction(OP["OpExtInstImport"], tuple(encode_string("NonSemantic.Other")), None, 2)
    definitions = {1: opencl, 2: other}
    vloadn, fma = 171, 26
    assert id_positions(Instruction(OP["OpExtInst"], (1, vloadn, 7, 8, 16), 3, 4), definitions) == [0, 2, 3]
    assert id_positions(Instruction(OP["OpExtInst"], (1, fma, 7, 8, 9), 3, 4), definitions) == [0, 2, 3, 4]
    assert id_positions(Instruction(OP["OpExtInst"], (2, vloadn, 7, 8, 9), 3, 4), definitions) == [0, 2, 3, 4]


def test_the_encodings_of_component_types_have_the_numbers_of_the_grammar() -> None:
    encodings = [row.encoding for row in SMALL_FLOATS if row.encoding is not None]
    assert {e.name: e.number for e in encodings} == {e.name: ENUM[f"FPEncoding.{e.name}"] for e in encodings}


def test_the_table_of_enumerants_has_the_numbers_of_the_specification() -> None:
    numbers = {"Decoration.LinkageAttributes": 41, "Capability.CooperativeMatrixKHR": 6022, "OpenCL.std.printf": 184}
    assert {name: ENUM[name] for name in numbers} == numbers
