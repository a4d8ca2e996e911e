"""What the pointers of OpenCL.std's vector loads and stores point to.

LLVM's passes drop a `getelementptr` of nothing but zeros, so that the pointer to a whole array in local or constant
memory arrives where one to its first element is meant; the backend (LLVM 22.1) does not cast it back.
"""

from __future__ import annotations

from collections.abc import Mapping

from .module import OP, Instruction, Module, decode_string

EXT_INST = OP["OpExtInst"]
# By the instruction's number in OpenCL.std: where the pointer stands among the operands, for vloadn and vstoren ...
_VLOADN, _VSTOREN = 171, 172
_VECTORS = {_VLOADN: 3, _VSTOREN: 4}
# ... vload_half, vload_halfn and vloada_halfn; vstore_half, vstore_halfn and vstorea_halfn, each with and without _r.
_HALVES = {**dict.fromkeys((173, 174, 179), 3), **dict.fromkeys((175, 176, 177, 178, 180, 181), 4)}


def instruction_set(module: Module) -> int | None:
    """The id of OpenCL.std."""
    for item in module.instructions:
        if item.opcode == OP["OpExtInstImport"] and decode_string(item.operands)[0] == "OpenCL.std":
            return item.result
        if item.opcode == OP["OpMemoryModel"]:
            return None
    return None


def pointer(item: Instruction) -> int | None:
    """Of an OpExtInst of OpenCL.std: where its pointer stands; None where it is no vector load or store."""
    return _VECTORS.get(item.operands[1], _HALVES.get(item.operands[1]))


def pointee(item: Instruction, definitions: Mapping[int, Instruction]) -> Instruction | None:
    """The type that the pointer of a vector load or store must point to; None: half, which the module lacks."""
    if item.operands[1] in _HALVES:
        return next((i for i in definitions.values() if i.opcode == OP["OpTypeFloat"] and i.operands == (16,)), None)
    vector = definitions[item.operands[2]].result_type if item.operands[1] == _VSTOREN else item.result_type
    return definitions[definitions[vector or 0].operands[0]]
