"""The interface of kernels: arguments in a push-constant block, local memory, and the work-group size.

A pointer to global or constant memory is a 64-bit address in the block. A pointer to local memory is an array whose
length is a specialisation constant. The work-group size is given by the specialisation constants 0 to 2. An image or
sampler is a descriptor of the set 0, whose variable the pass `images` adds.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

from ...spirv.module import OP, Instruction, numbers
from .code import Code, prepend
from .context import Context, Handle, Parameter
from .image_uses import ACCESSES, BY, DIM_BUFFER, ELEMENTS, IMAGE, PUSHED, SAMPLER, find_uses
from .launch import (
    SAMPLED_BUFFER,
    SAMPLED_IMAGE,
    SAMPLER as SAMPLER_DESCRIPTOR,
    STORAGE_BUFFER,
    STORAGE_IMAGE,
    Argument,
    KernelLaunch,
)

_PARAMETER, _VARIABLE, _SPEC_CONSTANT = numbers("Op*", "FunctionParameter Variable SpecConstant")
_POINTER, _INT, _FLOAT, _STRUCT, _VECTOR = numbers("OpType*", "Pointer Int Float Struct Vector")
_WORKGROUP, _FUNCTION, _CROSS_WORKGROUP, _CONSTANT, _PUSH = numbers(
    "StorageClass.*", "Workgroup Function CrossWorkgroup UniformConstant PushConstant"
)
_SPEC_ID, _BLOCK = numbers("Decoration.*", "SpecId Block")
# The first three specialisation constants are the work-group size.
_FIRST_SPEC_ID = 3
# Scalars of fewer bits are widened, because few devices have such members in push constants.
_LEAST_BITS = 32
_WORD = 4


def interface(context: Context) -> None:
    """Give every kernel its interface, and describe it in `context.launches`."""
    _add_work_group_size(context)
    spec_ids = itertools.count(_FIRST_SPEC_ID)
    for body in context.parts.functions:
        name = context.entries.get(body[0].result or 0)
        if name is not None:
            _Kernel(context, body, name, spec_ids).run()


def _add_work_group_size(context: Context) -> None:
    globals_ = context.parts.globals
    uint = globals_.integer(32)
    required = {kernel.reqd_work_group_size for kernel in context.kernels.values()}
    sizes = required.pop() if len(required) == 1 else None
    ids = []
    for n, size in enumerate(sizes or (1, 1, 1)):
        ids.append(_spec_constant(context, n, size))
    context.work_group_size = (ids[0], ids[1], ids[2])
    vector = globals_.intern("OpTypeVector", uint, 3)
    item = Instruction(OP["OpSpecConstantComposite"], tuple(ids), vector, context.parts.module.new_id())
    context.work_group_vector = globals_.add(item)


def _spec_constant(context: Context, spec_id: int, default: int) -> int:
    globals_ = context.parts.globals
    item = Instruction(_SPEC_CONSTANT, (default,), globals_.integer(32), context.parts.module.new_id())
    context.parts.decorate(globals_.add(item), [(_SPEC_ID, spec_id)])
    return item.result or 0


@dataclass(slots=True)
class _Kernel:
    """The conversion of one kernel's parameters.

    members: (type, offset) of the members of the push-constant block.
    loads: for each member the parameter that it replaces.
    pushed: (position, name, id) of each number about an image or sampler that the host pushes: the argument's position,
      the key of `Handle.values`, and the id of the value.
    """

    context: Context
    body: list[Instruction]
    name: str
    spec_ids: itertools.count[int]
    arguments: list[Argument] = field(default_factory=list)
    members: list[tuple[int, int]] = field(default_factory=list)
    loads: list[Instruction] = field(default_factory=list)
    variables: list[Instruction] = field(default_factory=list)
    pushed: list[tuple[int, str, int]] = field(default_factory=list)
    bindings: itertools.count[int] = field(default_factory=itertools.count)
    end: int = 0

    def run(self) -> None:
        context, parts = self.context, self.context.parts
        parameters = [item for item in self.body if item.opcode == _PARAMETER]
        code, uses = Code(parts), find_uses(parts, self.body)
        pairs = list(zip(parameters, context.parameters[self.name], strict=True))
        names = {f"{BY}{item.result}": parameter.name for item, parameter in pairs}
        for item, parameter in pairs:
            if parts.definitions[item.result_type or 0].opcode in (IMAGE, SAMPLER):
                self.descriptor(item, parameter, uses.get(item.result or 0, set()), names)
            else:
                self.parameter(code, item, parameter)
        self.add_pushed()
        self.load_members(code)
        void = parts.globals.intern("OpTypeVoid")
        signature = parts.globals.intern("OpTypeFunction", void)
        self.body[0] = Instruction(self.body[0].opcode, (0, signature), void, self.body[0].result)
        self.body[:] = [item for item in self.body if item.opcode != _PARAMETER]
        prepend(parts, self.body, self.variables, code.items)
        kernel = context.kernels[self.name]
        # A size of 1 means that the code has no operations of subgroups (`--matrices one`).
        size = None if kernel.sub_group_size == 1 else kernel.sub_group_size
        arguments = tuple(self.arguments)
        # Vulkan pushes whole words.
        end = -(-self.end // _WORD) * _WORD
        context.launches[self.name] = KernelLaunch(kernel.reqd_work_group_size, size, end, 0, arguments)

    def parameter(self, code: Code, item: Instruction, parameter: Parameter) -> None:
        kind = self.context.parts.definitions[item.result_type or 0]
        space = kind.operands[0] if kind.opcode == _POINTER else None
        if space == _WORKGROUP:
            self.local(code, item, kind.operands[1], parameter)
        elif space == _FUNCTION:
            self.by_value(item, kind.operands[1], parameter)
        elif space in (_CROSS_WORKGROUP, _CONSTANT):
            alignment = self.context.layout.alignment(kind.operands[1])
            self.member(item, item.result_type or 0, parameter, kind="address", alignment=alignment)
        elif kind.opcode in (_INT, _FLOAT) and kind.operands[0] < _LEAST_BITS:
            self.member(item, self.context.parts.globals.integer(_LEAST_BITS), parameter)
        else:
            self.member(item, item.result_type or 0, parameter)

    def local(self, code: Code, item: Instruction, element: int, parameter: Parameter) -> None:
        """Make a parameter that points to local memory an array whose length is a specialisation constant."""
        context, globals_ = self.context, self.context.parts.globals
        spec_id = next(self.spec_ids)
        length = _spec_constant(context, spec_id, 1)
        array = globals_.intern("OpTypeArray", element, length)
        variable = context.variable(array, "Workgroup")
        code.finish(item, "OpInBoundsAccessChain", variable, code.u32(0))
        size = context.layout.size(element)
        row = Argument(parameter.name, "local", parameter.type_name, spec_id=spec_id, element_bytes=size)
        self.arguments.append(row)

    def by_value(self, item: Instruction, type_id: int, parameter: Parameter) -> None:
        """Make a parameter that is a struct a variable, into which the member of the block is copied."""
        self.variables.append(Instruction(_VARIABLE, (_FUNCTION,), item.result_type, item.result))
        self.member(item, type_id, parameter)

    def member(
        self,
        item: Instruction,
        type_id: int,
        parameter: Parameter,
        kind: str = "value",
        alignment: int | None = None,
    ) -> None:
        offset, size = self.place(item, type_id), self.context.layout.size(type_id)
        self.arguments.append(Argument(parameter.name, kind, parameter.type_name, offset, size, alignment))

    def place(self, item: Instruction, type_id: int) -> int:
        """Add a member whose value replaces `item` to the push-constant block, and return its offset."""
        step = self.context.layout.alignment(type_id)
        offset = -(-self.end // step) * step
        self.end = offset + self.context.layout.size(type_id)
        self.members.append((type_id, offset))
        self.loads.append(item)
        return offset

    def descriptor(self, item: Instruction, parameter: Parameter, uses: set[str], names: dict[str, str]) -> None:
        """Give an image or sampler the next binding; `names` has use -> name of the sampler."""
        context, kind = self.context, self.context.parts.definitions[item.result_type or 0]
        elements = next(iter(uses & ELEMENTS)) if len(uses & ELEMENTS) == 1 else None
        values = {name: context.parts.module.new_id() for name in sorted(uses & PUSHED)}
        self.pushed += [(len(self.arguments), name, id_) for name, id_ in values.items()]
        binding = next(self.bindings)
        context.handles[item.result or 0] = Handle(binding, frozenset(uses), values)
        row = Argument(parameter.name, "sampler", parameter.type_name, set=0, binding=binding)
        if kind.opcode == SAMPLER:
            self.arguments.append(replace(row, descriptor=SAMPLER_DESCRIPTOR, elements=elements))
            return
        if uses & ELEMENTS and elements is None:
            raise context.refused(
                f"the image '{parameter.name}', whose elements are read or written as different types"
            )
        access = ACCESSES[kind.operands[7]]
        kinds = (SAMPLED_BUFFER, STORAGE_BUFFER) if kind.operands[1] == DIM_BUFFER else (SAMPLED_IMAGE, STORAGE_IMAGE)
        descriptor = kinds[access != "read_only"]
        row = replace(row, kind="image", descriptor=descriptor, access=access, elements=elements)
        samplers = tuple(name for use, name in names.items() if use in uses)
        self.arguments.append(replace(row, samplers=samplers or None, linear="linear" in uses or None))

    def add_pushed(self) -> None:
        """Add the numbers about images and samplers to the end of the push-constant block."""
        uint = self.context.parts.globals.integer(32)
        for position, name, id_ in self.pushed:
            offset = self.place(Instruction(_PARAMETER, (), uint, id_), uint)
            places: dict[str, Any] = {f"{name}_offset": offset}
            self.arguments[position] = replace(self.arguments[position], **places)

    def load_members(self, code: Code) -> None:
        """Add the push-constant block and load its members."""
        if not self.members:
            return
        context, parts = self.context, self.context.parts
        types = tuple(context.layout.explicit(type_id) for type_id, _ in self.members)
        block = parts.globals.add(Instruction(_STRUCT, types, None, parts.module.new_id()))
        parts.decorate(block, [(_BLOCK,)])
        context.layout.decorate_members(block, [offset for _, offset in self.members])
        variable = context.variable(block, "PushConstant")
        for n, (item, type_id) in enumerate(zip(self.loads, types, strict=True)):
            pointer = parts.globals.pointer(type_id, _PUSH)
            chain = code.add("OpInBoundsAccessChain", pointer, variable, code.u32(n))
            self.load(code, item, type_id, chain)

    def load(self, code: Code, item: Instruction, type_id: int, chain: int) -> None:
        """Load the member that `chain` points to as the value of the parameter `item`."""
        globals_, definitions = self.context.parts.globals, self.context.parts.definitions
        if item.result_type == type_id or definitions[item.result_type or 0].opcode == _VECTOR:
            # The type with layout of a vector of 8 or 16 is an array; `memory_model` converts what is loaded.
            code.finish(item, "OpLoad", chain)
            return
        value = code.add("OpLoad", type_id, chain)
        kind = definitions[item.result_type or 0]
        if kind.opcode == _POINTER and kind.operands[0] == _FUNCTION:
            plain = kind.operands[1]
            value = code.add("OpCopyLogical", plain, value) if plain != type_id else value
            code.add("OpStore", None, item.result or 0, value)
        elif kind.opcode == _INT:
            code.finish(item, "OpUConvert", value)
        else:
            bits = code.add("OpUConvert", globals_.integer(kind.operands[0]), value)
            code.finish(item, "OpBitcast", bits)
