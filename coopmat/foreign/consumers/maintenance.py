"""Errors for instructions of SPV_EXT_cooperative_matrix_maintenance1, if the consumer has no equivalent.

For OpenCL C these operations are staged through local memory, so that such instructions only occur in foreign modules.
"""

from __future__ import annotations

from ...native_profiles import NativeProfile
from ...spirv.matrix_calls import MAINTENANCE
from ...spirv.module import Instruction, numbers
from ...spirv.refusal import unsupported
from ..spirv.types import MATRIX
from .parts import Parts

_INSTRUCTIONS = frozenset(numbers("OpCooperativeMatrix*EXT", "ConvertUse Reduce PerElementOp"))
_CONVERSIONS = frozenset(
    numbers(
        "Op*",
        "FConvert SConvert UConvert ConvertFToS ConvertFToU ConvertSToF ConvertUToF Bitcast",
    )
)


def refuse(parts: Parts, profile: NativeProfile) -> None:
    """Raise Refused for an instruction of the extension, or a conversion that changes the use, unless supported."""
    if profile.maintenance:
        return
    for body in parts.functions:
        for item in body:
            if item.opcode in _INSTRUCTIONS or (item.opcode in _CONVERSIONS and _changes_use(parts, item)):
                raise unsupported(item, f"of {MAINTENANCE}, which the consumer lacks")


def _changes_use(parts: Parts, item: Instruction) -> bool:
    """Return whether the result is a matrix whose use differs from the operand's."""
    types = (parts.definitions[item.result_type or 0], parts.definitions[parts.types.of(item.operands[0])])
    uses = [parts.definitions[kind.operands[4]].operands for kind in types if kind.opcode == MATRIX]
    return len(uses) == 2 and uses[0] != uses[1]
