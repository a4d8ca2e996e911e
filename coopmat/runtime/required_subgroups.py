"""The subgroups that kernels require, read from the code that a device gets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from coopmat.spirv.module import ENUM, OP, MalformedModule, Module, decode_string, numbers

Part = tuple[str, bytes, str]
"""A part of a program: its form ("spirv" or "c"), its code, and the options that it is compiled with."""

_ATTRIBUTE = re.compile(rb"__attribute__\(\(intel_reqd_sub_group_size\((\d+)\)\)\)\s+void\s+(\w+)\(")
_FUNCTION_OF_SUBGROUPS = re.compile(rb"(?<!reqd_)sub_group")
_SUBGROUP_SIZE_MODE, _BUILT_IN = ENUM["ExecutionMode.SubgroupSize"], ENUM["Decoration.BuiltIn"]
_SUBGROUP_VARIABLES = range(ENUM["BuiltIn.SubgroupSize"], ENUM["BuiltIn.SubgroupLocalInvocationId"] + 1)
# Capabilities without instructions of subgroups; SubgroupDispatch is that of the execution mode.
_OTHER_CAPABILITIES = frozenset(
    numbers(
        "Capability.*",
        "Addresses Linkage Kernel Vector16 Float16Buffer Float16 Float64 Int64 Int64Atomics ImageBasic ImageReadWrite "
        "ImageMipmap Pipes LiteralSampler Int16 GenericPointer Int8 SubgroupDispatch",
    )
)
_SUBGROUP_SCOPE = ENUM["Scope.Subgroup"]
_BARRIER = (4 << 16 | OP["OpControlBarrier"]).to_bytes(4, "little")


def required_sizes(parts: Sequence[Part]) -> tuple[tuple[str, int], ...]:
    """Return the subgroup sizes above 1 that kernels require, as (kernel, size).

    The result is empty if no part uses subgroups: kernels with matrices of work-groups alone have the requirement, but
    their results do not depend on it.
    """
    found = [(_of_spirv if form == "spirv" else _of_c)(code) for form, code, _ in parts]
    if not any(uses for uses, _ in found):
        return ()
    return tuple((name, size) for _, sizes in found for name, size in sizes if size > 1)


def _of_c(code: bytes) -> tuple[bool, list[tuple[str, int]]]:
    """Return whether OpenCL C uses subgroups, and the sizes that its kernels require."""
    sizes = [(name.decode(), int(size)) for size, name in _ATTRIBUTE.findall(code)]
    return _FUNCTION_OF_SUBGROUPS.search(code) is not None, sizes


def _of_spirv(code: bytes) -> tuple[bool, list[tuple[str, int]]]:
    """Return whether a module uses subgroups, and (kernel, size) for each execution mode with a subgroup size.

    For a malformed module, return False and no sizes.
    """
    names: dict[int, str] = {}
    sizes: list[tuple[str, int]] = []
    scopes: set[int] = set()
    uses = False
    try:
        module = Module.parse(code, before_functions=True)
    except MalformedModule:
        return False, []  # the device reports the fault
    for item in module.instructions:
        opcode, operands = item.opcode, item.operands
        if opcode == OP["OpEntryPoint"]:
            names[operands[1]] = decode_string(operands[2:])[0]
        elif opcode == OP["OpExecutionMode"] and operands[1] == _SUBGROUP_SIZE_MODE and operands[0] in names:
            sizes.append((names[operands[0]], operands[2]))
        elif opcode == OP["OpCapability"]:
            uses |= operands[0] not in _OTHER_CAPABILITIES
        elif opcode == OP["OpDecorate"] and operands[1] == _BUILT_IN:
            uses |= operands[2] in _SUBGROUP_VARIABLES
        elif opcode == OP["OpConstant"] and operands[0] == _SUBGROUP_SCOPE and item.result is not None:
            scopes.add(item.result)
    return uses or bool(scopes and _has_barrier(code, scopes)), sizes


def _has_barrier(code: bytes, scopes: set[int]) -> bool:
    """Return whether a module may have a barrier whose execution scope is one of these ids."""
    at = code.find(_BARRIER)
    while at >= 0:
        if at % 4 == 0 and int.from_bytes(code[at + 4 : at + 8], "little") in scopes:
            return True
        at = code.find(_BARRIER, at + 1)
    return False
