"""Images and samplers as descriptors.

A read_only image is a sampled image, any other a storage image, without a format. The type of its elements follows from
the instructions that read or write it. The samplers of the source are descriptors of a second set, for all kernels.

Vulkan's samplers take floating-point coordinates. Those with unnormalized coordinates read images of one and two
dimensions only. So coordinates that are integers, or unnormalized for other images, are converted:

    texel i of unnormalized coordinates: i + 0.5, for a sampler with normalized coordinates divided by the size.

A nearest sampler reads exactly the texels of OpenCL by this: the coordinate is in the middle of the texel.
"""

from __future__ import annotations

import itertools

from ...spirv.module import ENUM, OP, Instruction, numbers
from .code import Code, prepend, rewrite
from .context import Context, Handle
from .image_uses import (
    CONSTANT_SAMPLER,
    DATA_TYPE,
    DIM_3D,
    DIM_BUFFER,
    IMAGE,
    ORDER,
    READ,
    SAMPLE,
    SAMPLED_IMAGE,
    WRITE,
    needs_normalized,
)
from .launch import ADDRESSING, FILTERS, Sampler

_VECTOR, _INT, _FLOAT = numbers("OpType*", "Vector Int Float")
_SET, _BINDING, _NON_READABLE, _NON_WRITABLE = numbers("Decoration.*", "DescriptorSet Binding NonReadable NonWritable")
_LOD, _NON_PRIVATE = numbers("ImageOperands.*", "Lod NonPrivateTexel")
_UNIFORM_CONSTANT = ENUM["StorageClass.UniformConstant"]
_READ_WRITE = 2  # the access qualifier
_DIMENSIONS = {ENUM["Dim.1D"]: 1, ENUM["Dim.2D"]: 2, DIM_3D: 3, DIM_BUFFER: 1}
# The numbers of OpenCL minus those of SPIR-V.
_FIRST = {ORDER: 0x10B0, DATA_TYPE: 0x10D0}
# The bits of OpenCL C's constants for samplers.
_IS_NORMALIZED, _IS_NEAREST = 1, 0x10
# The set with the samplers of the source.
_SAMPLERS_SET = 1
_FLOOR = 8  # of GLSL.std.450
_HALF = 0x3F000000  # the bits of 0.5


def images(context: Context) -> None:
    """Declare the variables of images and samplers, and convert the instructions that use them."""
    converter = _Images(context)
    for body in context.parts.functions:
        converter.load(body)
    rewrite(
        context.parts,
        {
            SAMPLED_IMAGE: converter.combine,
            SAMPLE: converter.sample,
            READ: converter.read,
            WRITE: converter.write,
            OP["OpImageQuerySize"]: converter.size,
            OP["OpImageQuerySizeLod"]: converter.size,
            ORDER: converter.pushed,
            DATA_TYPE: converter.pushed,
        },
    )


class _Images:
    """The conversion of one module.

    pairs: sampled image -> (image, sampler).
    samplers: (normalized, addressing, filter, border) of a sampler of the source -> variable.
    shared: images that a kernel both reads and writes.
    """

    def __init__(self, context: Context) -> None:
        self.context, self.parts, self.globals = context, context.parts, context.parts.globals
        self.pairs: dict[int, tuple[int, int]] = {}
        self.samplers: dict[tuple[bool, str, str, str | None], int] = {}
        self.shared: set[int] = set()
        self.uint, self.float = self.globals.integer(32), self.globals.intern("OpTypeFloat", 32)

    # --- variables

    def load(self, body: list[Instruction]) -> None:
        """Declare the variables of a kernel's arguments, and load them at its beginning."""
        code = Code(self.parts)
        used = {word for item in body for word in item.operands}
        for parameter, handle in self.context.handles.items():
            if parameter in used:
                kind = self.parts.definitions[self.parts.types.of(parameter)]
                type_id = self.image_type(kind, handle) if kind.opcode == IMAGE else kind.result or 0
                variable = self.variable(type_id, 0, handle.binding)
                if kind.opcode == IMAGE and kind.operands[7]:
                    self.restrict(variable, handle)
                    self.shared |= {parameter} if kind.operands[7] == _READ_WRITE else set()
                code.add("OpLoad", type_id, variable, result=parameter)
        prepend(self.parts, body, [], code.items)

    def variable(self, type_id: int, set_: int, binding: int) -> int:
        variable = self.context.variable(type_id, "UniformConstant")
        self.parts.decorate(variable, [(_SET, set_), (_BINDING, binding)])
        return variable

    def image_type(self, kind: Instruction, handle: Handle) -> int:
        """Return Vulkan's type of an image: with the type of the elements, without an access qualifier."""
        signed = self.globals.intern("OpTypeInt", 32, 1) if "int" in handle.uses else 0
        component = signed or (self.uint if "uint" in handle.uses else self.float)
        _, dimension, _, arrayed, *_, access = kind.operands
        return self.globals.intern("OpTypeImage", component, dimension, 0, arrayed, 0, 2 if access else 1, 0)

    def restrict(self, variable: int, handle: Handle) -> None:
        """Decorate a storage image that is not read or not written: only other ones need features of the device."""
        pairs = (("read", _NON_READABLE), ("written", _NON_WRITABLE))
        self.parts.decorate(variable, [(decoration,) for use, decoration in pairs if use not in handle.uses])

    def sampler(self, code: Code, literal: Instruction, image: int) -> int:
        """Load the sampler of the source `literal`, as the descriptor for an image has it."""
        addressing, is_normalized, filter_ = literal.operands
        mode = ADDRESSING[addressing]
        border = ("int" if self.has_integers(image) else "float") if mode == "clamp" else None
        key = bool(is_normalized) or needs_normalized(self.parts, image), mode, FILTERS[filter_], border
        type_id = self.globals.intern("OpTypeSampler")
        if key not in self.samplers:
            binding = len(self.samplers)
            self.samplers[key] = self.variable(type_id, _SAMPLERS_SET, binding)
            self.context.samplers.append(Sampler(_SAMPLERS_SET, binding, *key))
        return code.add("OpLoad", type_id, self.samplers[key])

    # --- reading and writing

    def combine(self, code: Code, item: Instruction) -> None:
        """Remember an image with its sampler; `sample` combines them again, in the block of the read."""
        image, sampler = item.operands
        self.pairs[item.result or 0] = image, sampler

    def sample(self, code: Code, item: Instruction) -> None:
        image, sampler = self.pairs[item.operands[0]]
        where = self.coordinates(code, image, sampler, item.operands[1])
        literal = self.parts.definitions[sampler]
        if literal.opcode == CONSTANT_SAMPLER:
            self.check(code, item, literal, image)
            sampler = self.sampler(code, literal, image)
        both = self.globals.intern("OpTypeSampledImage", code.type_of(image))
        combined = code.add("OpSampledImage", both, image, sampler)
        zero = self.globals.intern("OpConstant", 0, result_type=self.float)
        self.finish(code, item, image, "OpImageSampleExplicitLod", combined, where, _LOD, zero)

    def check(self, code: Code, item: Instruction, literal: Instruction, image: int) -> None:
        """Raise Refused for a sampler of the source whose reads OpenCL leaves undefined."""
        addressing, is_normalized, is_linear = literal.operands
        is_float = self.parts.definitions[self.scalar(code.type_of(item.operands[1]))].opcode == _FLOAT
        if not is_float and (is_normalized or is_linear):
            raise self.context.refused("integer coordinates with a sampler that is normalized or linear")
        if not is_normalized and ADDRESSING[addressing].endswith("repeat"):
            raise self.context.refused("a sampler that repeats an image by unnormalized coordinates")
        if is_linear and self.has_integers(image):
            raise self.context.refused("integers of an image through a linear sampler")

    def has_integers(self, image: int) -> bool:
        component = self.parts.definitions[self.parts.types.of(image)].operands[0]
        return self.parts.definitions[component].opcode == _INT

    def read(self, code: Code, item: Instruction) -> None:
        """Read a texel without a sampler."""
        image, where = item.operands[:2]
        where = self.trimmed(code, where, self.count(image))
        kind = self.parts.definitions[code.type_of(image)]
        if kind.operands[5] == 2:
            self.finish(code, item, image, "OpImageRead", image, where, *self.access(image))
        else:
            level = () if kind.operands[1] == DIM_BUFFER else (_LOD, code.u32(0))
            self.finish(code, item, image, "OpImageFetch", image, where, *level)

    def write(self, code: Code, item: Instruction) -> None:
        image, where, texel = item.operands[:3]
        component = self.parts.definitions[code.type_of(image)].operands[0]
        given = self.scalar(code.type_of(texel))
        if given != component:
            name = "OpFConvert" if self.parts.definitions[given].opcode == _FLOAT else "OpBitcast"
            texel = code.add(name, self.globals.intern("OpTypeVector", component, 4), texel)
        code.add("OpImageWrite", None, image, self.trimmed(code, where, self.count(image)), texel, *self.access(image))

    def access(self, image: int) -> tuple[int, ...]:
        """Return the image operands of an access, which barriers order if the image is read and written."""
        return (_NON_PRIVATE,) if image in self.shared else ()

    def finish(self, code: Code, item: Instruction, image: int, name: str, *operands: int) -> None:
        """Append a read of an image, and convert its texel to the type of `item`."""
        component = self.parts.definitions[code.type_of(image)].operands[0]
        texel = self.globals.intern("OpTypeVector", component, 4)
        if item.result_type == texel:
            code.finish(item, name, *operands)
            return
        value = code.add(name, texel, *operands)
        kind = self.parts.definitions[item.result_type or 0]
        if kind.opcode != _VECTOR:
            code.finish(item, "OpCompositeExtract", value, 0)
        else:
            is_float = self.parts.definitions[kind.operands[0]].opcode == _FLOAT
            code.finish(item, "OpFConvert" if is_float else "OpBitcast", value)

    # --- queries

    def size(self, code: Code, item: Instruction) -> None:
        kind = self.parts.definitions[item.result_type or 0]
        count = kind.operands[1] if kind.opcode == _VECTOR else 1
        sizes = self.sizes(code, item.operands[0], count)
        is_wide = self.parts.definitions[self.scalar(item.result_type or 0)].operands[0] != 32
        code.finish(item, "OpUConvert" if is_wide else "OpCopyObject", sizes)

    def sizes(self, code: Code, image: int, count: int) -> int:
        """Return the `count` sizes of an image."""
        kind, type_id = self.parts.definitions[code.type_of(image)], self.vector(self.uint, count)
        if kind.operands[5] == 2 or kind.operands[1] == DIM_BUFFER:
            return code.add("OpImageQuerySize", type_id, image)
        return code.add("OpImageQuerySizeLod", type_id, image, code.u32(0))

    def pushed(self, code: Code, item: Instruction) -> None:
        """Take the channel order or data type that the host pushes."""
        values = self.context.handles[item.operands[0]].values
        value = values["order" if item.opcode == ORDER else "data_type"]
        code.finish(item, "OpISub", value, code.u32(_FIRST[item.opcode]))

    # --- coordinates

    def count(self, image: int) -> int:
        """Return the number of coordinates of a texel, including the layer."""
        _, dimension, _, arrayed, *_ = self.parts.definitions[self.parts.types.of(image)].operands
        return _DIMENSIONS[dimension] + arrayed

    def coordinates(self, code: Code, image: int, sampler: int, where: int) -> int:
        """Return the coordinates of a read as the descriptor of the sampler takes them."""
        is_float = self.parts.definitions[self.scalar(code.type_of(where))].opcode == _FLOAT
        count, arrayed = self.count(image), self.parts.definitions[code.type_of(image)].operands[3]
        where = self.trimmed(code, where, count)
        if not is_float:
            where = code.add("OpConvertSToF", self.vector(self.float, count), where)
        layer = code.add("OpCompositeExtract", self.float, where, count - 1) if arrayed else 0
        point = self.trimmed(code, where, count - arrayed)
        literal = self.parts.definitions[sampler]
        if literal.opcode == CONSTANT_SAMPLER:
            _, is_normalized, is_linear = literal.operands
            if not is_normalized:
                point = self.middle(code, point, is_float) if not is_linear else point
                point = self.divided(code, image, point) if needs_normalized(self.parts, image) else point
        else:
            point = self.for_argument(code, image, self.context.handles[sampler], point, is_float)
        if not arrayed:
            return point
        return code.add("OpCompositeConstruct", self.vector(self.float, count), point, layer)

    def for_argument(self, code: Code, image: int, handle: Handle, point: int, is_float: bool) -> int:
        """Return a point as the sampler of an argument takes it.

        If the host pushes the sampler's settings, the descriptor has normalized coordinates, and the settings say
        whether the source's are.
        """
        if "mask" not in handle.values:
            return point if is_float else self.middle(code, point, is_float)
        if not is_float:
            return self.divided(code, image, self.middle(code, point, is_float))
        type_id, mask = code.type_of(point), handle.values["mask"]
        texel = code.add("OpSelect", type_id, self.bit(code, mask, _IS_NEAREST), self.middle(code, point, True), point)
        is_normalized = self.bit(code, mask, _IS_NORMALIZED)
        return code.add("OpSelect", type_id, is_normalized, point, self.divided(code, image, texel))

    def bit(self, code: Code, mask: int, bit: int) -> int:
        bool_ = self.globals.intern("OpTypeBool")
        return code.add("OpINotEqual", bool_, code.add("OpBitwiseAnd", self.uint, mask, code.u32(bit)), code.u32(0))

    def middle(self, code: Code, point: int, is_float: bool) -> int:
        """Return the middle of the texel at an unnormalized point."""
        type_id = code.type_of(point)
        if is_float:
            point = code.add("OpExtInst", type_id, self.context.glsl, _FLOOR, point)
        half = self.globals.intern("OpConstant", _HALF, result_type=self.float)
        kind = self.parts.definitions[type_id]
        if kind.opcode == _VECTOR:
            half = self.globals.intern(
                "OpConstantComposite", *itertools.repeat(half, kind.operands[1]), result_type=type_id
            )
        return code.add("OpFAdd", type_id, point, half)

    def divided(self, code: Code, image: int, point: int) -> int:
        """Return normalized coordinates for unnormalized ones."""
        count, type_id = self.count(image), code.type_of(point)
        kind = self.parts.definitions[type_id]
        own = kind.operands[1] if kind.opcode == _VECTOR else 1
        sizes = self.trimmed(code, self.sizes(code, image, count), own)
        return code.add("OpFDiv", type_id, point, code.add("OpConvertUToF", type_id, sizes))

    def trimmed(self, code: Code, value: int, count: int) -> int:
        """Return the first `count` components of a vector, or a scalar."""
        kind = self.parts.definitions[code.type_of(value)]
        if kind.opcode != _VECTOR or kind.operands[1] == count:
            return value
        if count == 1:
            return code.add("OpCompositeExtract", kind.operands[0], value, 0)
        return code.add("OpVectorShuffle", self.vector(kind.operands[0], count), value, value, *range(count))

    def vector(self, scalar: int, count: int) -> int:
        return scalar if count == 1 else self.globals.intern("OpTypeVector", scalar, count)

    def scalar(self, type_id: int) -> int:
        kind = self.parts.definitions[type_id]
        return kind.operands[0] if kind.opcode == _VECTOR else type_id
