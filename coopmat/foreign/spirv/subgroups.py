"""The lowering of subgroup instructions to library functions, if the route's subgroups are not the device's.

Each function of CHANGES lowers an instruction and returns True, or returns False if the instruction is for another
scope.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...matrices.lowering import LibraryFunction, substitute_builtin
from ...matrices.subgroup_table import BY_INSTRUCTION
from ...matrices.variants import COMPONENT_TYPES, SCOPE_SUBGROUP, SCOPE_WORKGROUP, ComponentType
from ...spirv.module import ENUM, OP, Instruction, numbers
from ...spirv.refusal import unsupported
from .function import Change, FunctionLowering

_BOOL, _INT, _FLOAT, _VECTOR = numbers("OpType*", "Bool Int Float Vector")
_S32 = COMPONENT_TYPES["s32"]

BUILT_INS: Mapping[int, str] = {
    ENUM[variable]: name for variable, name in BY_INSTRUCTION.items() if variable.startswith("BuiltIn.")
}
# The execution modes, capabilities and extensions that are about the device's subgroups.
EXECUTION_MODES = frozenset(numbers("ExecutionMode.*", "SubgroupSize SubgroupsPerWorkgroup SubgroupsPerWorkgroupId"))
CAPABILITIES = frozenset(
    numbers(
        "Capability.*",
        "SubgroupDispatch SubgroupBallotKHR SubgroupVoteKHR SubgroupShuffleINTEL SubgroupBufferBlockIOINTEL "
        "SubgroupImageBlockIOINTEL GroupNonUniform GroupNonUniformVote GroupNonUniformArithmetic GroupNonUniformBallot "
        "GroupNonUniformShuffle GroupNonUniformShuffleRelative GroupNonUniformClustered GroupNonUniformQuad "
        "GroupNonUniformRotateKHR",
    )
)
EXTENSIONS = frozenset(
    {"SPV_INTEL_subgroups", "SPV_KHR_shader_ballot", "SPV_KHR_subgroup_vote", "SPV_KHR_subgroup_rotate"}
)


# --- instructions ----------------------------------------------------------------------------------


def _of_subgroup(f: FunctionLowering, item: Instruction) -> bool:
    return f.types.constants.value(item.operands[0]) == SCOPE_SUBGROUP


def collective(f: FunctionLowering, item: Instruction) -> bool:
    """Lower a group instruction to a call of a builtin with the operands behind the scope and the group operation."""
    name = item.name.removeprefix("Op")
    is_scoped = name.startswith("Group")
    if is_scoped and not _of_subgroup(f, item):
        return False
    operands = list(item.operands[is_scoped:])
    builtin = BY_INSTRUCTION.get(name)
    if builtin is None and f"{name}:0" in BY_INSTRUCTION:
        operation = operands.pop(0)
        builtin = BY_INSTRUCTION.get(f"{name}:{operation}")
        if builtin is None:
            raise unsupported(item, f"the group operation {operation} is not supported")
    if builtin is None:
        raise unsupported(item, f"under --matrices {f.route.name} is not supported")
    _replace(f, item, builtin, operands, "u" if re.fullmatch(r"Group(NonUniform)?U(Min|Max)", name) else "s")
    return True


def rotate(f: FunctionLowering, item: Instruction) -> bool:
    if not _of_subgroup(f, item):
        return False
    value, *rest = item.operands[1:]
    _replace(f, item, "sub_group_clustered_rotate" if len(rest) > 1 else "sub_group_rotate", [value, *rest], "s")
    return True


def barrier(f: FunctionLowering, item: Instruction) -> bool:
    """Lower a subgroup barrier: to a memory barrier for subgroups of one work-item, else to a work-group barrier.

    Return False, and emit nothing, for a barrier of another execution scope.
    """
    execution, memory, semantics = item.operands
    if f.types.constants.value(execution) != SCOPE_SUBGROUP:
        return False
    f.module.touched = True
    if f.route.has_one_work_item:
        f.out.append(Instruction(OP["OpMemoryBarrier"], (memory, semantics)))
    else:
        group = f.globals.number(SCOPE_WORKGROUP)
        memory = group if f.types.constants.value(memory) == SCOPE_SUBGROUP else memory
        f.out.append(Instruction(item.opcode, (group, memory, semantics)))
    return True


def memory_barrier(f: FunctionLowering, item: Instruction) -> bool:
    if f.route.has_one_work_item or not _of_subgroup(f, item):
        return False
    f.out.append(Instruction(item.opcode, (f.globals.number(SCOPE_WORKGROUP), item.operands[1])))
    return True


def query(f: FunctionLowering, item: Instruction) -> bool:
    """Replace a load of a built-in variable of the device's subgroups by a call."""
    name = f.module.subgroup_variables.get(item.operands[0])
    if name is None:
        return False
    _replace(f, item, name, [], "s")
    return True


def _block_name(f: FunctionLowering, type_id: int) -> tuple[str, ComponentType]:
    """Return the suffix of the block read and write functions of a type, and the type's unsigned component."""
    item = f.definitions[type_id]
    scalar, count = (item.operands[0], item.operands[1]) if item.opcode == _VECTOR else (type_id, 1)
    bits = f.types.bits(scalar)
    suffix = {8: "_uc", 16: "_us", 32: "", 64: "_ul"}[bits]
    return f"{suffix}{count if count > 1 else ''}", COMPONENT_TYPES[f"u{bits}"]


def block_read(f: FunctionLowering, item: Instruction) -> bool:
    suffix, component = _block_name(f, item.result_type or 0)
    function = _substitute(f, item, f"intel_sub_group_block_read{suffix}", component)
    f.call(function, item.operands[0], result=item.result)
    return True


def block_write(f: FunctionLowering, item: Instruction) -> bool:
    pointer, value = item.operands
    suffix, component = _block_name(f, f.types.of(value))
    f.call(_substitute(f, item, f"intel_sub_group_block_write{suffix}", component), pointer, value)
    return True


# --- calls -----------------------------------------------------------------------------------------


def _substitute(f: FunctionLowering, item: Instruction, name: str, component: ComponentType | None) -> LibraryFunction:
    function = substitute_builtin(f.route, name, component)
    if function is None:
        raise unsupported(item, f"under --matrices {f.route.name} is not supported")
    return function


def _replace(f: FunctionLowering, item: Instruction, builtin: str, operands: list[int], sign: str) -> None:
    """Replace an instruction by a call of a builtin; for vectors, by one call for each component."""
    value = f.definitions[f.types.of(operands[0])] if operands else None
    if value is None or value.opcode != _VECTOR or _is_mask(f, operands[0], builtin):
        _one(f, item, builtin, operands, sign, item.result_type or 0, item.result)
        return
    scalar, count = value.operands
    parts = []
    for n in range(count):
        args = [f.emit("OpCompositeExtract", scalar, o, n) if f.types.of(o) == value.result else o for o in operands]
        parts.append(_one(f, item, builtin, args, sign, f.types.member(item.result_type or 0, n), None))
    f.emit("OpCompositeConstruct", item.result_type or 0, *parts, result=item.result)


def _is_mask(f: FunctionLowering, value: int, builtin: str) -> bool:
    """Return whether a vector is the mask of a ballot, which is passed whole: four 32-bit integers."""
    return "ballot" in builtin and f.definitions[f.types.of(value)].operands[1] == 4


def _one(
    f: FunctionLowering,
    item: Instruction,
    builtin: str,
    operands: list[int],
    sign: str,
    type_id: int,
    result: int | None,
) -> int:
    component = None
    if operands:
        scalar = f.definitions[f.types.of(operands[0])]
        if scalar.opcode in (_INT, _FLOAT):
            prefix = sign if scalar.opcode == _INT else "f"
            component = COMPONENT_TYPES[f"{prefix}{scalar.operands[0]}"]
        elif scalar.opcode == _BOOL:
            component = _S32
    function = _substitute(f, item, builtin, component)
    arguments = [_as_word(f, operand) for operand in operands]
    # The first parameters are values; parameters of type uint are numbers of lanes.
    parameters = function.signature.parameters[: len(arguments)]
    arguments = [
        _narrow(f, operand) if parameter.type == "uint" else operand
        for operand, parameter in zip(arguments, parameters, strict=False)
    ]
    if f.definitions[type_id].opcode != _BOOL:
        return f.call(function, *arguments, result=result)
    truth = f.call(function, *arguments)
    return f.emit("OpINotEqual", type_id, truth, f.globals.number(0), result=result)


def _as_word(f: FunctionLowering, value: int) -> int:
    """Return a value as an argument: booleans are passed as 32-bit integers."""
    if f.definitions[f.types.of(value)].opcode != _BOOL:
        return value
    return f.emit("OpSelect", f.globals.integer(32), value, f.globals.number(1), f.globals.number(0))


def _narrow(f: FunctionLowering, value: int) -> int:
    kind = f.definitions[f.types.of(value)]
    return value if kind.operands == (32, 0) else f.emit("OpUConvert", f.globals.integer(32), value)


def _collectives() -> dict[int, Change]:
    """Return opcode -> `collective` for all group instructions; those without a row are refused."""
    names = [name for name in OP if name.startswith(("OpGroup", "OpSubgroup"))]
    decorating = ("OpGroupDecorate", "OpGroupMemberDecorate")
    return {OP[name]: collective for name in names if name not in decorating and not name.startswith("OpSubgroupAvc")}


CHANGES: dict[int, Change] = {
    **_collectives(),
    OP["OpGroupNonUniformRotateKHR"]: rotate,
    OP["OpSubgroupBlockReadINTEL"]: block_read,
    OP["OpSubgroupBlockWriteINTEL"]: block_write,
    OP["OpControlBarrier"]: barrier,
    OP["OpMemoryBarrier"]: memory_barrier,
}
