"""Uses of cooperative matrices that spirv-val accepts and devices do not."""

from __future__ import annotations

from ..diagnostics import InternalError
from . import pointees, zeros
from .module import OP, Instruction, Module, instruction

_MATRIX, _BITCAST = OP["OpTypeCooperativeMatrixKHR"], OP["OpBitcast"]
#: By opcode: where the stride stands among the operands.
STRIDE_AT = {OP["OpCooperativeMatrixLoadKHR"]: 2, OP["OpCooperativeMatrixStoreKHR"]: 3}


def lint(module: Module) -> None:
    """Raises InternalError for uses of cooperative matrices that spirv-val accepts and devices do not."""
    if not any(item.opcode == _MATRIX for item in module.instructions):
        return
    definitions = module.definitions()
    for item in module.instructions:
        check = _CHECKS.get(item.opcode)
        reason = (check(item, definitions) if check else None) or zeros.null_operand(item, definitions)
        if reason:
            raise InternalError(f"{item.name}: {reason}")


def _check_select(item: Instruction, definitions: dict[int, Instruction]) -> str | None:
    return (
        "cannot choose between cooperative matrices" if definitions[item.result_type or 0].opcode == _MATRIX else None
    )


def _check_scale(item: Instruction, definitions: dict[int, Instruction]) -> str | None:
    return "needs the capability Matrix, which OpenCL does not have"


def _check_stride(item: Instruction, definitions: dict[int, Instruction]) -> str | None:
    at = STRIDE_AT[item.opcode]
    if at >= len(item.operands):
        return None
    kind = definitions[definitions[item.operands[at]].result_type or 0]
    return None if kind == instruction("OpTypeInt", kind.result or 0, 64, 0) else "the stride is not a 64-bit integer"


def _check_chain(item: Instruction, definitions: dict[int, Instruction]) -> str | None:
    kind = pointees.pointed_to(definitions, item.operands[0])
    for index in item.operands[2:]:
        if kind.opcode == _MATRIX:
            return "reaches into a cooperative matrix"
        if kind.opcode == OP["OpTypeStruct"]:
            member = definitions[index]
            kind = definitions[kind.operands[member.operands[0] if member.operands else 0]]
        else:
            kind = definitions[kind.operands[0]]
    return _check_pointer(item, definitions)


def _check_pointer(item: Instruction, definitions: dict[int, Instruction]) -> str | None:
    """A matrix is opaque: its memory has no meaning as anything else."""
    base = definitions[item.operands[0]]
    if base.opcode != _BITCAST:
        return None
    before = pointees.first_leaf(definitions, pointees.pointed_to(definitions, base.operands[0]))
    after = pointees.first_leaf(definitions, pointees.pointed_to(definitions, item.operands[0]))
    if before.opcode == _MATRIX and after != before:
        return "accesses a cooperative matrix's memory as another type"
    return None


_CHECKS = {
    OP["OpSelect"]: _check_select,
    OP["OpMatrixTimesScalar"]: _check_scale,
    **dict.fromkeys(STRIDE_AT, _check_stride),
    OP["OpPtrAccessChain"]: _check_chain,
    OP["OpInBoundsPtrAccessChain"]: _check_chain,
    OP["OpLoad"]: _check_pointer,
    OP["OpStore"]: _check_pointer,
}
