"""The checks of modules that spirv-val does not make: uses of cooperative matrices that it accepts and devices do not,
and work that a small module could make endless, which is counted before this package or spirv-val does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .. import budgets
from ..diagnostics import InternalError
from . import pointees
from .module import OP, Instruction, Module, id_positions, instruction
from .refusal import Refused, label

_MATRIX, _BITCAST = OP["OpTypeCooperativeMatrixKHR"], OP["OpBitcast"]
#: By opcode: where the stride stands among the operands.
STRIDE_AT = {OP["OpCooperativeMatrixLoadKHR"]: 2, OP["OpCooperativeMatrixStoreKHR"]: 3}


def lint(module: Module) -> None:
    """Raise InternalError for uses of cooperative matrices, and null integers, that spirv-val accepts and devices do
    not."""
    items = module.instructions
    checks = _CHECKS if any(item.opcode == _MATRIX for item in items) else {}
    if not checks and not any(item.opcode == _NULL for item in items):
        return
    definitions = module.definitions()
    for item in items:
        check = checks.get(item.opcode)
        reason = (check(item, definitions) if check else None) or null_operand(item, definitions)
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


# --- zeros -----------------------------------------------------------------------------------------


_NULL, _INT = OP["OpConstantNull"], OP["OpTypeInt"]
# What reads integers of its own, and the chains that reach members and components.
_READERS = frozenset(
    OP[name]
    for name in (
        "OpTypeCooperativeMatrixKHR",
        "OpCooperativeMatrixLoadKHR",
        "OpCooperativeMatrixStoreKHR",
        "OpCooperativeMatrixMulAddKHR",
        "OpAccessChain",
        "OpInBoundsAccessChain",
        "OpPtrAccessChain",
        "OpInBoundsPtrAccessChain",
    )
)


def write_out_zeros(items: list[Instruction]) -> bool:
    """Replace every null integer of a module by an OpConstant of the same id. Return whether there was one.

    An index of a structure must be an OpConstant. Consumers take no other for a use, a layout or a scope, either.
    """
    bits: dict[int | None, int] = {}
    changed = False
    for index, item in enumerate(items):
        if item.opcode == OP["OpFunction"]:
            break
        if item.opcode == _INT:
            bits[item.result] = item.operands[0]
        elif item.opcode == _NULL and item.result_type in bits:
            zero = (0,) * (2 if bits[item.result_type] > 32 else 1)
            items[index] = Instruction(OP["OpConstant"], zero, item.result_type, item.result)
            changed = True
    return changed


def null_operand(item: Instruction, definitions: dict[int, Instruction]) -> str | None:
    """Return the fault of an instruction whose operand is a null integer; None if it has no such operand."""
    if item.opcode not in _READERS:
        return None
    for at in id_positions(item, definitions):
        operand = definitions.get(item.operands[at])
        if operand is not None and operand.opcode == _NULL and definitions[operand.result_type or 0].opcode == _INT:
            return "has an OpConstantNull for an integer, where consumers take an OpConstant only"
    return None


# --- types -----------------------------------------------------------------------------------------


_ARRAY, _STRUCT = OP["OpTypeArray"], OP["OpTypeStruct"]
# Of a type, the operands that are types of parts of its values; what a pointer points to is none of them.
_PARTS: Mapping[int, slice] = {
    _ARRAY: slice(0, 1),
    OP["OpTypeRuntimeArray"]: slice(0, 1),
    OP["OpTypeVector"]: slice(0, 1),
    OP["OpTypeMatrix"]: slice(0, 1),
    _STRUCT: slice(None),
}
# Ids that a module may use: those of more are taken for a mistake in the header, as by every consumer.
MOST_IDS = 1 << 22


def check_types(module: Module) -> None:
    """Raises Refused for a type that contains itself, Exceeded for one of too many members. spirv-val walks through all
    members of a type, of each member of each type."""
    if module.bound > MOST_IDS:
        raise Refused("spirv-not-supported", f"the module's bound of {module.bound} is more than {MOST_IDS} ids")
    definitions = {i.result: i for i in module.instructions if i.result is not None and i.opcode in _PARTS}
    most, sizes = (
        budgets.limit("type-members"),
        count_parts(definitions, definitions, lambda item, sizes: 1 + sum(sizes)),
    )
    for item in definitions.values():
        if sizes[item.result or 0] > most:
            raise budgets.Exceeded("type-members", f"the type %{item.result}")


def count_parts(
    roots: Mapping[int, Instruction],
    definitions: Mapping[int, Instruction],
    size: Callable[[Instruction, Sequence[int]], int],
) -> dict[int, int]:
    """Return for each type the result of `size` for its parts, and 1 for a type without parts. Each type is counted
    once. Raise Refused for types that contain themselves."""
    counts: dict[int, int] = {}
    for root in roots:
        work, open_ = [root], set()
        while work:
            kind = work[-1]
            item = definitions.get(kind)
            parts = item.operands[_PARTS[item.opcode]] if item is not None and item.opcode in _PARTS else ()
            waiting = [part for part in parts if part not in counts]
            if kind in counts or item is None or not waiting:
                if kind not in counts:
                    counts[kind] = 1 if item is None else size(item, [counts[part] for part in parts])
                open_.discard(work.pop())
            elif kind in open_:
                raise Refused("spirv-invalid", f"the type {label(item)} contains itself")
            else:
                open_.add(kind)
                work += dict.fromkeys(waiting)
    return counts
