"""The kernels' interfaces inside the module, as instructions of NonSemantic.ClspvReflection, version 7.

Drivers ignore them. clvk, an OpenCL implementation on Vulkan, reads them in order to launch the kernels of a module.
"""

from __future__ import annotations

from ...spirv.module import OP, Instruction, encode_string
from ...spirv.sections import Section
from .context import Context
from .launch import DESCRIPTORS, Argument, KernelLaunch, sampler_mask

_SET = "NonSemantic.ClspvReflection.7"
_KERNEL, _ARGUMENT_INFO, _VALUE, _LOCAL, _LOCAL_SIZE, _SAMPLER, _REQUIRED_SIZE, _ADDRESS = 1, 2, 7, 11, 12, 23, 24, 26
# Kind of a descriptor -> the instruction for an argument.
_DESCRIPTORS: dict[str | None, int] = dict(zip(DESCRIPTORS, (8, 9, 35, 34, 10), strict=True))
_ORDER, _DATA_TYPE, _MASK = 30, 31, 41
# The address qualifiers and the access qualifiers of clGetKernelArgInfo; None for parameters that are no images.
_QUALIFIERS = {"global": 0x119B, "local": 0x119C, "constant": 0x119D, "private": 0x119E}
_ACCESSES = {"read_only": 0x11A0, "write_only": 0x11A1, "read_write": 0x11A2, None: 0x11A3}
# Sizes of the types that are wider in the push-constant block than in OpenCL C: a host passes the narrow value.
_NARROW = {"char": 1, "uchar": 1, "bool": 1, "short": 2, "ushort": 2, "half": 2}


def reflection(context: Context) -> list[Instruction]:
    """Return the instructions, which end the module, since they refer to functions."""
    result = _Reflection(context)
    result.run()
    return result.code


class _Reflection:
    def __init__(self, context: Context) -> None:
        self.context, self.parts = context, context.parts
        self.globals = context.parts.globals
        self.code: list[Instruction] = []
        self.set = self._declared(Section.IMPORT, "OpExtInstImport", _SET)

    def run(self) -> None:
        sizes = (self.number(spec_id) for spec_id in range(3))
        self.add(_LOCAL_SIZE, *sizes)
        for row in self.context.samplers:
            mask = sampler_mask(row.normalized, row.addressing, row.filter)
            self.add(_SAMPLER, *map(self.number, (row.set, row.binding, mask)))
        for function, name in self.context.entries.items():
            self.kernel(function, name, self.context.launches[name])

    def kernel(self, function: int, name: str, launch: KernelLaunch) -> None:
        words = self.string(name), self.number(len(launch.arguments)), self.number(0), self.string("")
        kernel = self.add(_KERNEL, function, *words)
        if launch.work_group_size is not None:
            self.add(_REQUIRED_SIZE, kernel, *map(self.number, launch.work_group_size))
        for ordinal, argument in enumerate(launch.arguments):
            place = kernel, self.number(ordinal)
            bytes_ = min(argument.bytes or 0, _NARROW.get(argument.type, argument.bytes or 0))
            if argument.kind == "local":
                length = self.number(argument.spec_id or 0), self.number(argument.element_bytes or 0)
                self.add(_LOCAL, *place, *length, self.info(argument))
            elif argument.kind in ("address", "value"):
                number = _ADDRESS if argument.kind == "address" else _VALUE
                self.add(number, *place, self.number(argument.offset or 0), self.number(bytes_), self.info(argument))
            else:
                self.descriptor(place, argument)

    def descriptor(self, place: tuple[int, int], argument: Argument) -> None:
        """Describe an image or sampler, and the numbers about it that a host pushes."""
        where = self.number(argument.set or 0), self.number(argument.binding or 0)
        self.add(_DESCRIPTORS[argument.descriptor], *place, *where, self.info(argument))
        offsets = (argument.order_offset, argument.data_type_offset, argument.mask_offset)
        for number, offset in zip((_ORDER, _DATA_TYPE, _MASK), offsets, strict=True):
            if offset is not None:
                self.add(number, *place, self.number(offset), self.number(4))

    def info(self, argument: Argument) -> int:
        """Add the name and the type of an argument, and return the id."""
        spaces = [word for word in argument.type.split() if word in _QUALIFIERS and argument.kind != "value"]
        space = _QUALIFIERS["global" if argument.kind == "image" else spaces[0] if spaces else "private"]
        texts = self.string(argument.name), self.string(argument.type)
        return self.add(_ARGUMENT_INFO, *texts, *map(self.number, (space, _ACCESSES[argument.access], 0)))

    def add(self, number: int, *operands: int) -> int:
        result = self.parts.module.new_id()
        self.code.append(
            Instruction(OP["OpExtInst"], (self.set, number, *operands), self.globals.intern("OpTypeVoid"), result)
        )
        return result

    def number(self, value: int) -> int:
        return self.globals.number(value)

    def string(self, text: str) -> int:
        return self._declared(Section.SOURCE, "OpString", text)

    def _declared(self, section: Section, name: str, text: str) -> int:
        """Return the id of a string or an imported set, and declare it if it is new."""
        words = tuple(encode_string(text))
        items = self.parts.sections[section]
        found = next((item.result for item in items if item.opcode == OP[name] and item.operands == words), None)
        if found is not None:
            return found
        item = Instruction(OP[name], words, None, self.parts.module.new_id())
        # Strings precede the instructions of their section that refer to them.
        items.insert(0, item)
        self.parts.define([item])
        return item.result or 0
