"""The images and samplers of a kernel, and how its instructions use each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ...foreign.consumers import Parts
from ...spirv.module import ENUM, Instruction, numbers

IMAGE, SAMPLER = numbers("OpType*", "Image Sampler")
CONSTANT_SAMPLER, SAMPLED_IMAGE, SAMPLE, READ, WRITE, ORDER, DATA_TYPE = numbers(
    "Op*", "ConstantSampler SampledImage ImageSampleExplicitLod ImageRead ImageWrite ImageQueryOrder ImageQueryFormat"
)
DIM_BUFFER, DIM_3D = ENUM["Dim.Buffer"], ENUM["Dim.3D"]
ACCESSES = ("read_only", "write_only", "read_write")
ELEMENTS = frozenset(("float", "int", "uint"))
BY = "by "
PUSHED = frozenset(("order", "data_type", "mask"))
_SIGN_EXTEND, _ZERO_EXTEND = numbers("ImageOperands.*", "SignExtend ZeroExtend")
# opcode -> index of the mask of image operands
_MASK_AT = {SAMPLE: 2, READ: 2, WRITE: 3}
_QUERIES = {ORDER: "order", DATA_TYPE: "data_type"}


def find_uses(parts: Parts, body: Iterable[Instruction]) -> dict[int, set[str]]:
    """Return image or sampler -> its uses.

    A use is the type of the elements that an instruction reads or writes, "float", "int" or "uint"; "read" and
    "written" without a sampler; "order" and "data_type", if the kernel asks for them; "linear", if a sampler of the
    source has this filter, and BY with the id of a sampler that is an argument; or "mask", for a sampler of an image
    that Vulkan's samplers read with normalized coordinates only.
    """
    found: dict[int, set[str]] = defaultdict(set)
    pairs: dict[int, tuple[int, ...]] = {}
    for item in body:
        if item.opcode == SAMPLED_IMAGE:
            image, sampler = pairs[item.result or 0] = item.operands
            if needs_normalized(parts, image):
                found[sampler].add("mask")
        elif item.opcode == SAMPLE:
            image, sampler = pairs[item.operands[0]]
            for handle in (image, sampler):
                found[handle].add(_elements(item))
            literal = parts.definitions[sampler]
            if literal.opcode != CONSTANT_SAMPLER:
                found[image].add(f"{BY}{sampler}")
            elif literal.operands[2]:
                found[image].add("linear")
        elif item.opcode in _MASK_AT:
            found[item.operands[0]] |= {_elements(item), "read" if item.opcode == READ else "written"}
        elif item.opcode in _QUERIES:
            found[item.operands[0]].add(_QUERIES[item.opcode])
    return found


def needs_normalized(parts: Parts, image: int) -> bool:
    """Return whether a sampler with unnormalized coordinates cannot read an image: it is an array, or has 3 dimensions.

    Vulkan specification, VkSamplerCreateInfo, `unnormalizedCoordinates`.
    """
    _, dimension, _, arrayed, *_ = parts.definitions[parts.types.of(image)].operands
    return dimension == DIM_3D or bool(arrayed)


def _elements(item: Instruction) -> str:
    at = _MASK_AT[item.opcode]
    mask = item.operands[at] if at < len(item.operands) else 0
    return "int" if mask & _SIGN_EXTEND else "uint" if mask & _ZERO_EXTEND else "float"
