"""Numbers of SPV_INTEL_joint_matrix, which neither the grammar nor spirv-val has."""

from __future__ import annotations

from .module import OP, Instruction

EXTENSION = "SPV_INTEL_joint_matrix"
# Capabilities: the operands below, coordinates of components, the packed layout.
BFLOAT16_COMPONENTS, INVOCATION, PACKED = 6437, 6435, 6434
CAPABILITIES = frozenset({BFLOAT16_COMPONENTS, INVOCATION, PACKED})
COORDINATES = OP["OpCooperativeMatrixGetElementCoordINTEL"]
# Operands of multiply-adds: integers of 16 bits are bfloat16 in A and B, in C, in the result.
_A_AND_B, _C, _RESULT = 0x40, 0x80, 0x100
BFLOAT16_OPERANDS = _A_AND_B | _C | _RESULT


def operands(multiply_add: Instruction) -> int:
    """The mask of a multiply-add, 0 where there is none."""
    return multiply_add.operands[3] if len(multiply_add.operands) > 3 else 0


def with_operands(multiply_add: Instruction, mask: int) -> Instruction:
    words = (*multiply_add.operands[:3], *([mask] if mask else []))
    return Instruction(multiply_add.opcode, words, multiply_add.result_type, multiply_add.result)


def bfloat16_operands(a: bool, b: bool, c: bool, result: bool) -> int:
    """The operands that tell which matrices of integers hold bfloat16."""
    return _A_AND_B * (a and b) | _C * c | _RESULT * result


def of_bfloat16(multiply_add: Instruction) -> tuple[bool, bool, bool, bool]:
    """Return for A, B, C and the result whether the multiply-add's operands say that it holds bfloat16."""
    mask = operands(multiply_add)
    return bool(mask & _A_AND_B), bool(mask & _A_AND_B), bool(mask & _C), bool(mask & _RESULT)
