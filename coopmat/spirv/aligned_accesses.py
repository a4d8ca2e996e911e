"""Loads and stores of matrices that say how pointers are aligned, for devices that tell what they want of them."""

from __future__ import annotations

from .module import OP, Instruction, Module

_ALIGNED = 2
# Where the stride stands; the memory operands are behind it.
_STRIDE_AT = {OP["OpCooperativeMatrixLoadKHR"]: 2, OP["OpCooperativeMatrixStoreKHR"]: 3}


def with_alignment(spirv: bytes, pointer_alignment: int) -> bytes:
    """The module with Aligned on every matrix access that has none: `pointer_alignment` bytes, or the size of a
    component where that is more, whose multiples the pointers are by the language's rules."""
    module = Module.parse(spirv)
    definitions = module.definitions()
    for item in module.instructions:
        at = _STRIDE_AT.get(item.opcode)
        if at is None or len(item.operands) <= at:
            continue
        mask, *others = item.operands[at + 1 :] or (0,)
        if not mask & _ALIGNED:
            least = max(pointer_alignment, _component_size(item, definitions))
            # A number of two's power is all that the operand takes. It stands before those of the other bits.
            item.operands = (*item.operands[: at + 1], mask | _ALIGNED, least & -least, *others)
    return module.to_bytes()


def _component_size(item: Instruction, definitions: dict[int, Instruction]) -> int:
    """Return the size of the matrix's components in bytes."""
    matrix = item.result_type or definitions[item.operands[1]].result_type or 0
    return definitions[definitions[matrix].operands[0]].operands[0] // 8
