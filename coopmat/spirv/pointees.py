"""The pointee types that atomics, event waits, and OpenCL.std's vector loads and stores require of pointers.

LLVM's passes drop a `getelementptr` whose indices are all zero. The backend (LLVM 22.1) casts a pointer for one use
only, or not at all. An operand may therefore point to a whole array, a structure or an object of another type instead
of the value accessed.
"""

from __future__ import annotations

from collections.abc import Mapping

from .module import ENUM, OP, Instruction, Module, decode_string, numbers

_WAIT, _STORE = OP["OpGroupWaitEvents"], OP["OpAtomicStore"]
_FLAGS = (OP["OpAtomicFlagTestAndSet"], OP["OpAtomicFlagClear"])
_OTHERS = ("Load", "Exchange", "CompareExchange", "IAdd", "ISub", "SMin", "UMin", "SMax", "UMax", "And", "Or", "Xor")
_FLOATS = ("FAddEXT", "FMinEXT", "FMaxEXT")
# opcode -> index of the pointer operand
POINTER_AT = {_WAIT: 2, **dict.fromkeys((_STORE, *_FLAGS, *(OP[f"OpAtomic{name}"] for name in _OTHERS + _FLOATS)), 0)}


def pointee(item: Instruction, definitions: Mapping[int, Instruction]) -> int:
    """Return the id of the type that the pointer operand of an atomic or an event wait must point to.

    `item` is an instruction whose opcode is in POINTER_AT.
    """
    if item.opcode == _WAIT:
        return next(i.result or 0 for i in definitions.values() if i.opcode == OP["OpTypeEvent"])
    if item.opcode == _STORE:
        return definitions[item.operands[3]].result_type or 0
    if item.opcode in _FLAGS:
        # A flag is a 32-bit integer; the scope operand has that type.
        return definitions[item.operands[1]].result_type or 0
    return item.result_type or 0


def pointed_to(definitions: dict[int, Instruction], pointer: int) -> Instruction:
    """Return the type that the value `pointer` points to; if the value is no pointer, its type."""
    kind = definitions[definitions[pointer].result_type or 0]
    return definitions[kind.operands[1]] if kind.opcode == OP["OpTypePointer"] else kind


def first_leaf(definitions: dict[int, Instruction], kind: Instruction) -> Instruction:
    """Return the innermost first member of an aggregate type."""
    while kind.opcode in (OP["OpTypeArray"], OP["OpTypeStruct"]) and kind.operands:
        kind = definitions[kind.operands[0]]
    return kind


# --- vector loads and stores -----------------------------------------------------------------------


EXT_INST = OP["OpExtInst"]
_VSTOREN = ENUM["OpenCL.std.vstoren"]
# number of the instruction in OpenCL.std -> index of the pointer operand
_VECTORS = {ENUM["OpenCL.std.vloadn"]: 3, _VSTOREN: 4}
_HALVES = {
    **dict.fromkeys(numbers("OpenCL.std.*", "vload_half vload_halfn vloada_halfn"), 3),
    **dict.fromkeys(numbers("OpenCL.std.*", "vstore_half vstore_halfn vstorea_halfn"), 4),
    **dict.fromkeys(numbers("OpenCL.std.*_r", "vstore_half vstore_halfn vstorea_halfn"), 4),
}


def instruction_set(module: Module) -> int | None:
    """Return the id of the imported instruction set OpenCL.std, or None."""
    for item in module.instructions:
        if item.opcode == OP["OpExtInstImport"] and decode_string(item.operands)[0] == "OpenCL.std":
            return item.result
        if item.opcode == OP["OpMemoryModel"]:
            return None
    return None


def vector_pointer(item: Instruction) -> int | None:
    """Return the index of the pointer operand of a vector load or store of OpenCL.std.

    Return None for the other instructions of OpenCL.std.
    """
    return _VECTORS.get(item.operands[1], _HALVES.get(item.operands[1]))


def vector_pointee(item: Instruction, definitions: Mapping[int, Instruction]) -> Instruction | None:
    """Return the type that the pointer of a vector load or store must point to.

    Return None if that type is half and the module does not declare half.
    """
    if item.operands[1] in _HALVES:
        return next((i for i in definitions.values() if i.opcode == OP["OpTypeFloat"] and i.operands == (16,)), None)
    vector = definitions[item.operands[2]].result_type if item.operands[1] == _VSTOREN else item.result_type
    return definitions[definitions[vector or 0].operands[0]]
