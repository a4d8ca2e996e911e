"""What the pointers of atomics and of waits for events point to.

LLVM's passes drop a `getelementptr` of nothing but zeros, and the backend (LLVM 22.1) casts a pointer for one use only:
a pointer to a whole array, record or object of another type may arrive where one to the value accessed is meant.
"""

from __future__ import annotations

from collections.abc import Mapping

from .module import OP, Instruction

_WAIT, _STORE = OP["OpGroupWaitEvents"], OP["OpAtomicStore"]
_FLAGS = (OP["OpAtomicFlagTestAndSet"], OP["OpAtomicFlagClear"])
_OTHERS = ("Load", "Exchange", "CompareExchange", "IAdd", "ISub", "SMin", "UMin", "SMax", "UMax", "And", "Or", "Xor")
_FLOATS = ("FAddEXT", "FMinEXT", "FMaxEXT")
#: By opcode: where the pointer stands among the operands.
POINTER_AT = {_WAIT: 2, **dict.fromkeys((_STORE, *_FLAGS, *(OP[f"OpAtomic{name}"] for name in _OTHERS + _FLOATS)), 0)}


def pointee(item: Instruction, definitions: Mapping[int, Instruction]) -> int:
    """The id of the type that the pointer of one of these instructions must point to."""
    if item.opcode == _WAIT:
        return next(i.result or 0 for i in definitions.values() if i.opcode == OP["OpTypeEvent"])
    if item.opcode == _STORE:
        return definitions[item.operands[3]].result_type or 0
    if item.opcode in _FLAGS:
        # A flag is a 32-bit integer, as the scope is.
        return definitions[item.operands[1]].result_type or 0
    return item.result_type or 0


def pointed_to(definitions: dict[int, Instruction], pointer: int) -> Instruction:
    """The type that the value `pointer` points to; the type itself where it is no pointer."""
    kind = definitions[definitions[pointer].result_type or 0]
    return definitions[kind.operands[1]] if kind.opcode == OP["OpTypePointer"] else kind


def first_leaf(definitions: dict[int, Instruction], kind: Instruction) -> Instruction:
    """What lies at the start of an aggregate type."""
    while kind.opcode in (OP["OpTypeArray"], OP["OpTypeStruct"]) and kind.operands:
        kind = definitions[kind.operands[0]]
    return kind
