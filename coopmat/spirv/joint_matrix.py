"""The numbers of SPV_INTEL_joint_matrix, which spirv-val lacks (`vendor_instructions.tsv`)."""

from __future__ import annotations

from .module import OP, Instruction, numbers

EXTENSION = "SPV_INTEL_joint_matrix"
# Capabilities for: multiply-adds of bfloat16 in 16-bit integers, coordinates of components, the packed layout.
BFLOAT16_COMPONENTS, INVOCATION, PACKED = numbers(
    "Capability.*INTEL",
    "CooperativeMatrixBFloat16ComponentType CooperativeMatrixInvocationInstructions PackedCooperativeMatrix",
)
CAPABILITIES = frozenset({BFLOAT16_COMPONENTS, INVOCATION, PACKED})
COORDINATES = OP["OpCooperativeMatrixGetElementCoordINTEL"]
# Bits of a multiply-add's matrix operands: the 16-bit integers of A and B, of C, of the result hold bfloat16.
_A_AND_B, _C, _RESULT = numbers("CooperativeMatrixOperands.Matrix*BFloat16ComponentsINTEL", "AAndB C Result")
BFLOAT16_OPERANDS = _A_AND_B | _C | _RESULT


def operands(multiply_add: Instruction) -> int:
    """Return the mask of matrix operands of a multiply-add; 0 if it has none."""
    return multiply_add.operands[3] if len(multiply_add.operands) > 3 else 0


def with_operands(multiply_add: Instruction, mask: int) -> Instruction:
    """Return the multiply-add with another mask of matrix operands; a mask of 0 is left out."""
    words = (*multiply_add.operands[:3], *([mask] if mask else []))
    return Instruction(multiply_add.opcode, words, multiply_add.result_type, multiply_add.result)


def bfloat16_operands(a: bool, b: bool, c: bool, result: bool) -> int:
    """Return the mask that states which of the matrices of 16-bit integers hold bfloat16."""
    return _A_AND_B * (a and b) | _C * c | _RESULT * result


def of_bfloat16(multiply_add: Instruction) -> tuple[bool, bool, bool, bool]:
    """Return for A, B, C and the result of a multiply-add whether its mask declares that they hold bfloat16."""
    mask = operands(multiply_add)
    return bool(mask & _A_AND_B), bool(mask & _A_AND_B), bool(mask & _C), bool(mask & _RESULT)
