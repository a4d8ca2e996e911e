"""The ids and sizes of work-items: Vulkan's builtins have 32 bits, and it lacks some of OpenCL's."""

from __future__ import annotations

from collections.abc import Callable

from ...spirv.module import ENUM, OP, Instruction
from ...spirv.sections import Section
from .code import Code, rewrite
from .context import Context

_DECORATE, _LOAD, _VECTOR = OP["OpDecorate"], OP["OpLoad"], OP["OpTypeVector"]
_BUILT_IN = ENUM["Decoration.BuiltIn"]
_NAMES = {number: name.removeprefix("BuiltIn.") for name, number in ENUM.items() if name.startswith("BuiltIn.")}
_VECTORS = ("WorkgroupId", "LocalInvocationId", "GlobalInvocationId", "NumWorkgroups")
_MASKS = tuple(f"Subgroup{name}Mask" for name in ("Eq", "Ge", "Gt", "Le", "Lt"))
_SCALARS = ("LocalInvocationIndex", "SubgroupSize", "NumSubgroups", "SubgroupId", "SubgroupLocalInvocationId")
# A builtin of OpenCL -> the one of Vulkan with the same value: a pipeline fixes the size of subgroups, and all
# work-groups have the same size.
_SAME = {"SubgroupMaxSize": "SubgroupSize", "NumEnqueuedSubgroups": "NumSubgroups"}
# A host of Vulkan always dispatches three dimensions.
_DIMENSIONS = 3


def builtins(context: Context) -> None:
    """Replace the loads of OpenCL's builtin variables."""
    Builtins.of(context).run()


class Builtins:
    """The builtin variables of one module; other passes may read them, too, before `builtins` runs."""

    @classmethod
    def of(cls, context: Context) -> Builtins:
        """Return the context's builtins."""
        if context.builtins is None:
            context.builtins = cls(context)
        return context.builtins

    def __init__(self, context: Context) -> None:
        self.context, self.parts = context, context.parts
        annotations = self.parts.sections[Section.ANNOTATION]
        self.names = {
            item.operands[0]: _NAMES[item.operands[2]]
            for item in annotations
            if item.opcode == _DECORATE and item.operands[1] == _BUILT_IN
        }
        self.variables: dict[str, int] = {}
        self.uint = self.parts.globals.integer(32)
        self.uint3 = self.parts.globals.intern("OpTypeVector", self.uint, 3)
        self.computed: dict[str, Callable[[Code], int]] = {
            "WorkgroupSize": lambda code: context.work_group_vector,
            "EnqueuedWorkgroupSize": lambda code: context.work_group_vector,
            "GlobalSize": self.global_size,
            "GlobalLinearId": self.global_linear_id,
            "WorkDim": lambda code: code.u32(_DIMENSIONS),
        }

    def run(self) -> None:
        rewrite(self.parts, {_LOAD: self.load})
        old = set(self.names)
        self.parts.globals.assign(item for item in self.parts.globals.items if item.result not in old)
        self.parts.forget(old)
        for name, variable in self.variables.items():
            self.parts.decorate(variable, [(_BUILT_IN, ENUM[f"BuiltIn.{name}"])])

    def load(self, code: Code, item: Instruction) -> None:
        name = self.names.get(item.operands[0])
        if name is None:
            code.keep(item)
        elif name == "GlobalOffset":
            zero = self.parts.globals.intern("OpConstantNull", result_type=item.result_type)
            code.finish(item, "OpCopyObject", zero)
        else:
            self.convert(code, item, self.value(code, _SAME.get(name, name)))

    def value(self, code: Code, name: str) -> int:
        """Return the value of a builtin, of one, three or four components of 32 bits."""
        if name in self.computed:
            return self.computed[name](code)
        if name not in (*_VECTORS, *_SCALARS, *_MASKS):
            raise self.context.refused(f"the builtin variable {name}, which Vulkan lacks")
        type_id = self.uint3 if name in _VECTORS else self.uint
        if name in _MASKS:
            type_id = self.parts.globals.intern("OpTypeVector", self.uint, 4)
        if name not in self.variables:
            self.variables[name] = self.context.variable(type_id, "Input")
        return code.add("OpLoad", type_id, self.variables[name])

    def convert(self, code: Code, item: Instruction, value: int) -> None:
        """Define the result of `item` as a value of 32 bits, converted to its type."""
        kind = self.parts.definitions[item.result_type or 0]
        element = self.parts.definitions[kind.operands[0]] if kind.opcode == _VECTOR else kind
        code.finish(item, "OpUConvert" if element.operands[0] != 32 else "OpCopyObject", value)

    def global_size(self, code: Code) -> int:
        groups = self.value(code, "NumWorkgroups")
        return code.add("OpIMul", self.uint3, groups, self.context.work_group_vector)

    def global_linear_id(self, code: Code) -> int:
        ids, sizes = self.value(code, "GlobalInvocationId"), self.global_size(code)
        x, y, z = (code.add("OpCompositeExtract", self.uint, ids, n) for n in range(3))
        width, height = (code.add("OpCompositeExtract", self.uint, sizes, n) for n in range(2))
        row = code.add("OpIAdd", self.uint, code.add("OpIMul", self.uint, z, height), y)
        return code.add("OpIAdd", self.uint, code.add("OpIMul", self.uint, row, width), x)
