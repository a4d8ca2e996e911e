"""Integer zeros of modules with cooperative matrices as OpConstant 0.

LLVM's backend writes OpConstantNull, which means the same. A GPU compiler that ships dies of one that a matrix's type
(use, scope, shape) or an instruction on matrices (layout, stride, index) names.
"""

from __future__ import annotations

from coopmat.spirv.module import OP, Instruction, Module, id_positions

_MATRIX, _NULL, _INT = OP["OpTypeCooperativeMatrixKHR"], OP["OpConstantNull"], OP["OpTypeInt"]
# What reads integers of its own, and the chains that reach components.
_READERS = frozenset(
    OP[name]
    for name in (
        "OpTypeCooperativeMatrixKHR",
        "OpCooperativeMatrixLoadKHR",
        "OpCooperativeMatrixStoreKHR",
        "OpCooperativeMatrixMulAddKHR",
        "OpAccessChain",
        "OpInBoundsAccessChain",
    )
)


def write_out(module: Module) -> bool:
    """Makes OpConstant of every null integer in a module with matrices; ids stay. Tells whether there was one."""
    items = module.instructions
    if not any(item.opcode == _MATRIX for item in items):
        return False
    bits = {item.result: item.operands[0] for item in items if item.opcode == _INT}
    changed = False
    for index, item in enumerate(items):
        if item.opcode == _NULL and item.result_type in bits:
            zero = (0,) * (2 if bits[item.result_type] > 32 else 1)
            items[index] = Instruction(OP["OpConstant"], zero, item.result_type, item.result)
            changed = True
    return changed


def null_operand(item: Instruction, definitions: dict[int, Instruction]) -> str | None:
    """Why `item`, of a module with matrices, has an operand that is a null integer; None where it has none."""
    if item.opcode not in _READERS:
        return None
    for at in id_positions(item, definitions):
        operand = definitions.get(item.operands[at])
        if operand is not None and operand.opcode == _NULL and definitions[operand.result_type or 0].opcode == _INT:
            return "has an OpConstantNull for an integer, where consumers take an OpConstant only"
    return None
