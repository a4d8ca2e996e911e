"""The facts about kernels that the launch description adds once a module is converted: local memory and alignments."""

from __future__ import annotations

import math
from dataclasses import replace

from ...matrices.memory_rules import VULKAN_ALIGNMENT
from ...spirv.checks import STRIDE_AT
from ...spirv.module import ENUM, OP, Instruction, numbers
from .context import Context
from .launch import Argument
from .pointers import ARRAY, CHAINS, DERIVING

_WORKGROUP, _PUSH = ENUM["StorageClass.Workgroup"], ENUM["StorageClass.PushConstant"]
_STORE = OP["OpCooperativeMatrixStoreKHR"]
# The instructions through which an argument is an address or a stride.
_THROUGH = DERIVING.union(numbers("Op*", "UConvert SConvert"))


def describe(context: Context) -> None:
    """Complete `context.launches`."""
    kernels = (body for body in context.parts.functions if body[0].result in context.entries)
    for body in kernels:
        name = context.entries[body[0].result or 0]
        launch = context.launches[name]
        least, multiples = _alignments(context, body)
        arguments = tuple(_aligned(row, least, multiples) for row in launch.arguments)
        sizes = [_local_bytes(context, variable, launch.work_group_size) for variable in _variables(context, body)]
        local, for_item = (sum(size[n] for size in sizes) for n in (0, 1))
        context.launches[name] = replace(launch, arguments=arguments, local_bytes=local, local_item_bytes=for_item)


def _variables(context: Context, body: list[Instruction]) -> set[int]:
    """Return the variables in work-group memory that a function uses."""
    used = {word for item in body for word in item.operands}
    items = (item for item in context.parts.globals.items if item.opcode == OP["OpVariable"])
    return {item.result or 0 for item in items if item.operands[0] == _WORKGROUP and item.result in used}


def _local_bytes(context: Context, variable: int, work_group_size: tuple[int, int, int] | None) -> tuple[int, int]:
    """Return the size of a variable, and its size for each work-item of a work-group; 0 for an argument's array."""
    definitions = context.parts.definitions
    kind = definitions[context.parts.types.pointee(variable)]
    if kind.opcode != ARRAY:
        return context.layout.size(kind.result or 0), 0
    element, length = kind.operands
    size = context.layout.size(element)
    if definitions[length].opcode == OP["OpConstant"]:
        return size * context.parts.types.constants.value(length), 0
    if definitions[length].opcode != OP["OpSpecConstantOp"]:
        return 0, 0
    return (size * math.prod(work_group_size), 0) if work_group_size is not None else (0, size)


def _aligned(row: Argument, least: dict[int, int], multiples: dict[int, int]) -> Argument:
    offset = row.offset if row.offset is not None else -1
    if row.alignment is not None:
        return replace(row, alignment=max(row.alignment, least.get(offset, 1)))
    return replace(row, multiple=multiples.get(offset)) if row.kind == "value" else row


def _alignments(context: Context, body: list[Instruction]) -> tuple[dict[int, int], dict[int, int]]:
    """Return offset of an argument -> alignment that the matrices at its address need, and -> multiple of strides.

    The second is the number of which an argument that is a stride must be a multiple.
    """
    parts, found, strides = context.parts, dict[int, int](), dict[int, int]()
    offsets = {index: row.offset for index, row in enumerate(_members(context, body))}
    for item in body:
        if item.opcode in STRIDE_AT:
            value = item.operands[1] if item.opcode == _STORE else item.result or 0
            component, _, rows, columns, _ = parts.definitions[parts.types.of(value)].operands
            layout = parts.types.constants.value(item.operands[2 if item.opcode == _STORE else 1])
            length = parts.types.constants.value(rows if layout else columns)
            size = min(VULKAN_ALIGNMENT, length * context.layout.size(component))
            member = _member(context, item.operands[0])
            offset = offsets.get(member) if member is not None else None
            if offset is not None:
                found[offset] = max(found.get(offset, 1), size)
            member = _member(context, item.operands[STRIDE_AT[item.opcode]])
            offset = offsets.get(member) if member is not None else None
            if offset is not None:
                multiple = size // math.gcd(size, context.layout.size(parts.types.pointee(item.operands[0])))
                strides[offset] = math.lcm(strides.get(offset, 1), multiple)
    return found, {offset: multiple for offset, multiple in strides.items() if multiple > 1}


def _members(context: Context, body: list[Instruction]) -> list[Argument]:
    """Return the arguments in the push-constant block, in the order of its members."""
    rows = context.launches[context.entries[body[0].result or 0]].arguments
    return [row for row in rows if row.offset is not None]


def _member(context: Context, value: int) -> int | None:
    """Return the number of the push constant that a stride is, or from which an address is computed; else None."""
    definitions = context.parts.definitions
    item = definitions[value]
    while item.opcode in _THROUGH:
        item = definitions[item.operands[0]]
    if item.opcode != OP["OpLoad"]:
        return None
    chain = definitions[item.operands[0]]
    is_push = chain.opcode in CHAINS and context.parts.types.storage_class(chain.operands[0]) == _PUSH
    return context.parts.types.constants.value(chain.operands[1]) if is_push else None
