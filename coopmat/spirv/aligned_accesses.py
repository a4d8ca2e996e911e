"""Alignment operands for cooperative-matrix loads and stores, for devices that report their requirements."""

from __future__ import annotations

from ..matrices.memory_rules import MemoryRules
from ..matrices.variants import Layout
from .checks import STRIDE_AT
from .module import ENUM, OP, Instruction, Module

_ALIGNED = ENUM["MemoryAccess.Aligned"]


def with_alignment(spirv: bytes, rules: MemoryRules) -> bytes:
    """Add Aligned to every matrix load and store that lacks it, and return the module.

    The alignment is that of the rules, or the component's size if larger: the language guarantees that the pointers are
    multiples of it.
    """
    module = Module.parse(spirv)
    definitions = module.definitions()
    for item in module.instructions:
        at = STRIDE_AT.get(item.opcode)
        if at is None or len(item.operands) <= at:
            continue
        mask, *others = item.operands[at + 1 :] or (0,)
        if not mask & _ALIGNED:
            least = _least(item, rules, definitions)
            # The operand must be a power of two. It precedes the operands of the other bits.
            item.operands = (*item.operands[: at + 1], mask | _ALIGNED, least & -least, *others)
    return module.to_bytes()


def _least(item: Instruction, rules: MemoryRules, definitions: dict[int, Instruction]) -> int:
    """Return the bytes of which the address of a load or store is a multiple."""
    matrix = item.result_type or definitions[item.operands[1]].result_type or 0
    component, _, rows, columns, _ = definitions[matrix].operands
    layout = definitions[item.operands[STRIDE_AT[item.opcode] - 1]]
    is_column_major = layout.opcode == OP["OpConstant"] and layout.operands[0] == Layout.COLUMN_MAJOR
    size = definitions[component].operands[0] // 8
    count = definitions[rows if is_column_major else columns].operands[0]
    return max(rules.for_line(count * size).pointer_alignment, size)
