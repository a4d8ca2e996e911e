"""The checks of modules that spirv-val does not make.

They find uses of cooperative matrices that spirv-val accepts and devices refuse. They also count the members of types,
so that a small module cannot make this package or spirv-val run endlessly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .. import budgets
from ..diagnostics import InternalError
from . import pointees
from .module import OP, Instruction, Module, id_positions, instruction, numbers
from .refusal import Refused, label

_MATRIX, _BITCAST = OP["OpTypeCooperativeMatrixKHR"], OP["OpBitcast"]
# opcode -> index of the stride operand; the memory operands follow
STRIDE_AT = {OP["OpCooperativeMatrixLoadKHR"]: 2, OP["OpCooperativeMatrixStoreKHR"]: 3}


def lint(module: Module) -> None:
    """Raise InternalError for uses of matrices and of null integers that spirv-val accepts and devices refuse."""
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
    """Return the fault of an OpSelect between matrices, or None."""
    return (
        "cannot choose between cooperative matrices" if definitions[item.result_type or 0].opcode == _MATRIX else None
    )


def _check_scale(item: Instruction, definitions: dict[int, Instruction]) -> str | None:
    """Return the fault of OpMatrixTimesScalar, which is never valid in OpenCL."""
    return "needs the capability Matrix, which OpenCL does not have"


def _check_stride(item: Instruction, definitions: dict[int, Instruction]) -> str | None:
    """Return the fault of a matrix load or store whose stride is no 64-bit integer, or None."""
    at = STRIDE_AT[item.opcode]
    if at >= len(item.operands):
        return None
    kind = definitions[definitions[item.operands[at]].result_type or 0]
    return None if kind == instruction("OpTypeInt", kind.result or 0, 64, 0) else "the stride is not a 64-bit integer"


def _check_chain(item: Instruction, definitions: dict[int, Instruction]) -> str | None:
    """Return the fault of an access chain that indexes into a matrix or reinterprets its memory, or None."""
    kind = pointees.pointed_to(definitions, item.operands[0])
    for index in item.operands[2:]:
        if kind.opcode == _MATRIX:
            return "indexes into a cooperative matrix"
        if kind.opcode == OP["OpTypeStruct"]:
            member = definitions[index]
            kind = definitions[kind.operands[member.operands[0] if member.operands else 0]]
        else:
            kind = definitions[kind.operands[0]]
    return _check_pointer(item, definitions)


def _check_pointer(item: Instruction, definitions: dict[int, Instruction]) -> str | None:
    """Return the fault of an access to a matrix's memory through another type, or None: a matrix is opaque."""
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
# Instructions of matrices, and access chains: their constant integer operands must be OpConstant, not OpConstantNull.
_READERS = frozenset(
    numbers(
        "Op*",
        "TypeCooperativeMatrixKHR CooperativeMatrixLoadKHR CooperativeMatrixStoreKHR "
        "CooperativeMatrixMulAddKHR AccessChain InBoundsAccessChain PtrAccessChain InBoundsPtrAccessChain",
    )
)


def write_out_zeros(items: list[Instruction]) -> bool:
    """Replace every null integer of a module by an OpConstant of the same id, and return whether there was one.

    An index into a structure must be an OpConstant. Consumers also require one for a use, a layout or a scope.
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
# opcode of a type -> its operands that are types of parts of its values; a pointer's pointee is not a part
_PARTS: Mapping[int, slice] = {
    _ARRAY: slice(0, 1),
    OP["OpTypeRuntimeArray"]: slice(0, 1),
    OP["OpTypeVector"]: slice(0, 1),
    OP["OpTypeMatrix"]: slice(0, 1),
    _STRUCT: slice(None),
}
# The largest accepted bound of ids. A larger bound is considered an error in the header, as by every consumer.
MOST_IDS = 1 << 22


def check_types(module: Module) -> None:
    """Raise Refused for a type that contains itself, and budgets.Exceeded for a type of too many members.

    spirv-val walks through all members of a type recursively, and each nested type as often as it occurs.
    """
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
    """Return id -> count for each type: `size(type, counts of its parts)`, or 1 for a type outside `definitions`.

    Each type is counted once. Raise Refused for types that contain themselves.
    """
    counts: dict[int, int] = {}
    for root in roots:
        work, open_ = [root], set()
        while work:
            type_id = work[-1]
            item = definitions.get(type_id)
            parts = item.operands[_PARTS[item.opcode]] if item is not None and item.opcode in _PARTS else ()
            waiting = [part for part in parts if part not in counts]
            if type_id in counts or item is None or not waiting:
                if type_id not in counts:
                    counts[type_id] = 1 if item is None else size(item, [counts[part] for part in parts])
                open_.discard(work.pop())
            elif type_id in open_:
                raise Refused("spirv-invalid", f"the type {label(item)} contains itself")
            else:
                open_.add(type_id)
                work += dict.fromkeys(waiting)
    return counts
