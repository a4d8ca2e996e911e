"""The description of kernels inside a module, which clvk reads."""

from __future__ import annotations

import coopmat
from coopmat.options import CompileOptions
from coopmat.spirv.module import OP, Instruction, Module, decode_string

SOURCE = """
kernel void fill(global float *out, constant int *in, local float *tile, char c, uint4 v) {
    tile[0] = c + v.y;
    out[0] = in[0] + (int)tile[0];
}
kernel __attribute__((reqd_work_group_size(8, 2, 1))) void second(ulong n, global int *x) { x[n] = 1; }
"""


def described(source: str = SOURCE) -> tuple[list[tuple[int, list[int | str | None]]], Module]:
    """Return the number of each instruction of the description, and its operands: numbers, strings, others as None."""
    module = Module.parse(coopmat.compile(source, CompileOptions(target_env="vulkan1.3")).spirv)
    definitions = module.definitions()

    def value(word: int) -> int | str | None:
        item = definitions[word]
        if item.name == "OpString":
            return decode_string(item.operands)[0]
        return item.operands[0] if item.name == "OpConstant" else None

    imports = {i.result: decode_string(i.operands)[0] for i in module.instructions if i.name == "OpExtInstImport"}

    def is_ours(item: Instruction) -> bool:
        return item.opcode == OP["OpExtInst"] and imports[item.operands[0]].startswith("NonSemantic.Clspv")

    found = [item for item in module.instructions if is_ours(item)]
    return [(item.operands[1], [value(word) for word in item.operands[2:]]) for item in found], module


def test_arguments_of_all_kinds() -> None:
    rows, _ = described()
    kernels = [n for n, (number, _) in enumerate(rows) if number == 1]
    first = rows[kernels[0] : kernels[1]]
    assert rows[0] == (12, [0, 1, 2])
    assert first[0] == (1, [None, "fill", 5, 0, ""])
    arguments = [row for row in first if row[0] in (26, 11, 7)]
    assert [(number, words[1:-1]) for number, words in arguments] == [
        (26, [0, 0, 8]),  # an address: ordinal, offset, bytes
        (26, [1, 8, 8]),
        (11, [2, 3, 4]),  # local memory: ordinal, specialisation constant, bytes of an element
        (7, [3, 16, 1]),  # a char, which the host passes as one byte
        (7, [4, 32, 16]),
    ]
    names = [words[0] for number, words in first if number == 2]
    assert names == ["out", "in", "tile", "c", "v"]
    spaces = [words[2] for number, words in first if number == 2]
    assert spaces == [0x119B, 0x119D, 0x119C, 0x119E, 0x119E]


def test_the_required_size_of_work_groups() -> None:
    rows, _ = described()
    assert (24, [None, 8, 2, 1]) in rows
    assert sum(number == 24 for number, _ in rows) == 1


def test_the_description_ends_the_module() -> None:
    rows, module = described()
    assert all(item.opcode == OP["OpExtInst"] for item in module.instructions[-len(rows) :])


IMAGES = """
constant sampler_t edge = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
kernel void look(read_only image3d_t a, write_only image2d_t b, sampler_t s, read_only image1d_buffer_t c, int n) {
    float4 where = (float4)(n, 1, 2, 0);
    float4 value = read_imagef(a, edge, where) + read_imagef(a, s, where) + read_imagef(c, n);
    write_imagef(b, (int2)(get_image_channel_order(b), get_image_channel_data_type(a)), value);
}
"""


def test_images_and_samplers() -> None:
    rows, _ = described(IMAGES)
    assert (23, [1, 0, 0x23]) in rows  # the sampler of the source: set, binding, settings
    handles = [(number, words[1:]) for number, words in rows if number in (8, 9, 10, 34, 35, 30, 31, 41)]
    assert handles == [
        (8, [0, 0, 0, None]),  # a sampled image: ordinal, set, binding
        (31, [0, 4, 4]),  # its channel data type: ordinal, offset, bytes
        (9, [1, 0, 1, None]),
        (30, [1, 8, 4]),
        (10, [2, 0, 2, None]),
        (41, [2, 12, 4]),  # the sampler's settings
        (35, [3, 0, 3, None]),
    ]
    information = [words for number, words in rows if number == 2]
    assert [words[2:4] for words in information[:4]] == [
        [0x119B, 0x11A0],
        [0x119B, 0x11A1],
        [0x119E, 0x11A3],
        [0x119B, 0x11A0],
    ]
