"""The kernels' interfaces inside the module, as instructions of NonSemantic.ClspvReflection, version 7.

Drivers ignore them. clvk, an OpenCL implementation on Vulkan, reads them in order to launch the kernels of a module.
"""

from __future__ import annotations

from ...spirv.module import OP, Instruction, encode_string
from ...spirv.sections import Section
from .context import Context
from .launch import Argument, KernelLaunch

_SET = "NonSemantic.ClspvReflection.7"
_KERNEL, _ARGUMENT_INFO, _VALUE, _LOCAL, _LOCAL_SIZE, _REQUIRED_SIZE, _ADDRESS = 1, 2, 7, 11, 12, 24, 26
# The address qualifiers of clGetKernelArgInfo, and the access qualifier of parameters that are no images.
_QUALIFIERS = {"global": 0x119B, "local": 0x119C, "constant": 0x119D, "private": 0x119E}
_NO_ACCESS = 0x11A3
# Sizes of the types that are wider in the push-constant block than in OpenCL C: a host passes the narrow value.
_NARROW = {"char": 1, "uchar": 1, "bool": 1, "short": 2, "ushort": 2, "half": 2}


def reflection(context: Context) -> list[Instruction]:
    """Return the instructions, which end the module, since they refer to functions. Images are not described."""
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

    def info(self, argument: Argument) -> int:
        """Add the name and the type of an argument, and return the id."""
        spaces = [word for word in argument.type.split() if word in _QUALIFIERS and argument.kind != "value"]
        space = _QUALIFIERS[spaces[0] if spaces else "private"]
        texts = self.string(argument.name), self.string(argument.type)
        return self.add(_ARGUMENT_INFO, *texts, *map(self.number, (space, _NO_ACCESS, 0)))

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
