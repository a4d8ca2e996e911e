"""Alignment operands for cooperative-matrix loads and stores, for devices that report their requirements."""

from __future__ import annotations

from .module import ENUM, OP, Instruction, Module

_ALIGNED = ENUM["MemoryAccess.Aligned"]
# opcode -> index of the stride operand; the memory operands follow
_STRIDE_AT = {OP["OpCooperativeMatrixLoadKHR"]: 2, OP["OpCooperativeMatrixStoreKHR"]: 3}


def with_alignment(spirv: bytes, pointer_alignment: int) -> bytes:
    """Add Aligned to every matrix load and store that lacks it, and return the module.

    The alignment is `pointer_alignment` bytes, or the component's size if larger: the language guarantees that the
    pointers are multiples of it.
    """
    module = Module.parse(spirv)
    definitions = module.definitions()
    for item in module.instructions:
        at = _STRIDE_AT.get(item.opcode)
        if at is None or len(item.operands) <= at:
            continue
        mask, *others = item.operands[at + 1 :] or (0,)
        if not mask & _ALIGNED:
            least = max(pointer_alignment, _component_size(item, definitions))
            # The operand must be a power of two. It precedes the operands of the other bits.
            item.operands = (*item.operands[: at + 1], mask | _ALIGNED, least & -least, *others)
    return module.to_bytes()


def _component_size(item: Instruction, definitions: dict[int, Instruction]) -> int:
    """Return the size of the matrix's components in bytes."""
    matrix = item.result_type or definitions[item.operands[1]].result_type or 0
    return definitions[definitions[matrix].operands[0]].operands[0] // 8
