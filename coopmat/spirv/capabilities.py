"""The capabilities that the types of a module require.

The backend adds those of the types that it makes; passes over SPIR-V make further types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .module import ENUM, OP, Instruction, Module, id_positions, instruction, numbers

_CAPABILITY, _FLOAT, _POINTER = OP["OpCapability"], OP["OpTypeFloat"], OP["OpTypePointer"]
_TYPES = frozenset(number for name, number in OP.items() if name.startswith("OpType")) - {_POINTER}
_VECTOR16, _FLOAT16_BUFFER, _FLOAT16 = numbers("Capability.*", "Vector16 Float16Buffer Float16")
# (opcode, first operand) of a type -> the capability that it requires
_OF_TYPES = {
    (_FLOAT, 16): _FLOAT16,
    (_FLOAT, 64): ENUM["Capability.Float64"],
    **{(OP["OpTypeInt"], bits): ENUM[f"Capability.Int{bits}"] for bits in (8, 16, 64)},
    (_POINTER, ENUM["StorageClass.Generic"]): ENUM["Capability.GenericPointer"],
}
# All capabilities that `of_types` may return.
CONDITIONAL = frozenset({_VECTOR16, *_OF_TYPES.values()})


def of_types(items: Iterable[Instruction]) -> set[int]:
    """Return the capabilities that the types among these instructions require."""
    needed = set()
    for item in items:
        if item.opcode == OP["OpTypeVector"]:
            needed.add(_VECTOR16 if item.operands[1] in (8, 16) else None)
        elif item.operands and (item.opcode != _FLOAT or len(item.operands) == 1):
            needed.add(_OF_TYPES.get((item.opcode, item.operands[0])))
    return {number for number in needed if number is not None}


def complete(module: Module) -> None:
    """Add the capabilities that the module's types require and that it lacks.

    If only pointers refer to the type half, Float16Buffer suffices and replaces Float16: a device without cl_khr_fp16
    refuses Float16.
    """
    code = module.instructions
    needed, dropped = of_types(code), set()
    if _FLOAT16 in needed and not _has_values(module, _half(code)):
        needed, dropped = needed - {_FLOAT16} | {_FLOAT16_BUFFER}, {_FLOAT16}
    kept = [item for item in code if item.opcode != _CAPABILITY or item.operands[0] not in dropped]
    present = {item.operands[0] for item in kept if item.opcode == _CAPABILITY}
    count = sum(item.opcode == _CAPABILITY for item in kept)
    kept[count:count] = [instruction("OpCapability", number) for number in sorted(needed - present)]
    module.instructions = kept


def _half(code: Iterable[Instruction]) -> int:
    """Return the id of the type half."""
    return next(item.result or 0 for item in code if item.opcode == _FLOAT and item.operands == (16,))


def _has_values(module: Module, half: int) -> bool:
    """Return whether any value has the type `half`, or any type other than a pointer refers to it."""
    definitions: Mapping[int, Instruction] = module.definitions()
    return any(
        item.result_type == half
        or (item.opcode in _TYPES and half in (item.operands[at] for at in id_positions(item, definitions)))
        for item in module.instructions
    )
