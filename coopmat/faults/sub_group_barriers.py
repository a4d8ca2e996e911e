"""A rewrite of barriers of subgroups, which a device compiles wrongly, to calls of the builtin `sub_group_barrier`.

Intel's CPU runtime (2026.2) executes OpControlBarrier of scope Subgroup as a barrier of the work-group. If only some of
the subgroups reach the instruction, as in `if (get_sub_group_id() != 0) sub_group_barrier(...)`, values are lost.
Subgroups may even execute branches that they should not take. The builtin, which the runtime's library provides, is
correct. Other devices have no such function to link with.
"""

from __future__ import annotations

from ..spirv.module import ENUM, OP, Instruction, Module, encode_string, instruction, numbers
from .opaque_zeros import Globals

_BARRIER, _FUNCTION, _TYPE_VOID = OP["OpControlBarrier"], OP["OpFunction"], OP["OpTypeVoid"]
_BUILTIN = "_Z17sub_group_barrierj12memory_scope"
_LINKAGE, _LINKAGE_ATTRIBUTES = ENUM["Capability.Linkage"], ENUM["Decoration.LinkageAttributes"]
_IMPORT = ENUM["LinkageType.Import"]
_SUBGROUP, _ALL_DEVICES = ENUM["Scope.Subgroup"], ENUM["Scope.CrossDevice"]
# SPIR-V's scope -> OpenCL C's memory_scope
_SCOPES = {
    scope: number for number, scope in enumerate(numbers("Scope.*", "Invocation Workgroup Device CrossDevice Subgroup"))
}
# cl_mem_fence_flags: local, global and image memory
_FLAGS = 1 | 2 | 4


def call_barrier_builtin(binary: bytes) -> bytes:
    """Return the module with calls of the builtin in place of barriers of subgroups.

    Raise MalformedModule if `binary` is no module.
    """
    if not _has_barriers(binary):
        return binary
    module = Module.parse(binary)
    scope, code = Globals(module), module.instructions
    barriers = [item for item in code if item.opcode == _BARRIER and _constant(scope, item.operands[0]) == _SUBGROUP]
    if not barriers:
        return binary
    builtin, uint = module.new_id(), scope.integer()
    void = next(item.result or 0 for item in code if item.opcode == _TYPE_VOID)
    flags = scope.constant(uint, _FLAGS)
    for item in barriers:
        memory = _constant(scope, item.operands[1])
        order = scope.constant(uint, _SCOPES[_ALL_DEVICES if memory is None else memory])
        item.opcode, item.result_type, item.result = OP["OpFunctionCall"], void, module.new_id()
        item.operands = (builtin, flags, order)
    module.instructions = _declared(module, builtin, (void, uint, uint), scope.added)
    return module.to_bytes()


def _has_barriers(binary: bytes) -> bool:
    """Return whether a module of either byte order may have barriers: a fast test on the bytes."""
    head = 4 << 16 | _BARRIER
    return head.to_bytes(4, "little") in binary or head.to_bytes(4, "big") in binary


def _constant(scope: Globals, value: int) -> int | None:
    """Return the value of a constant; return None for other values."""
    if not scope.is_constant(value):
        return None
    return next(iter(scope.definitions[value].operands), 0)


def _declared(module: Module, builtin: int, signature: tuple[int, ...], added: list[Instruction]) -> list[Instruction]:
    """Return the module's instructions with the constants `added` and a declaration of the builtin (id `builtin`).

    `signature` has the result type and the parameter types.
    """
    code, linkage = module.instructions, instruction("OpCapability", _LINKAGE)
    if linkage not in code:
        code = [linkage, *code]
    # Every module has a type, and all decorations precede the types.
    decorations = next(
        at for at, item in enumerate(code) if item.name.startswith(("OpDecorat", "OpMemberDecorat", "OpType"))
    )
    functions = next(at for at, item in enumerate(code) if item.opcode == _FUNCTION)
    name = encode_string(_BUILTIN)
    decoration = instruction("OpDecorate", builtin, _LINKAGE_ATTRIBUTES, *name, _IMPORT)
    void, *parameters = signature
    type_id = next((i.result or 0 for i in code if i.opcode == OP["OpTypeFunction"] and i.operands == signature), 0)
    types = [*added]
    if not type_id:
        type_id = module.new_id()
        types.append(instruction("OpTypeFunction", type_id, *signature))
    declaration = [
        instruction("OpFunction", void, builtin, 0, type_id),
        *(instruction("OpFunctionParameter", parameter, module.new_id()) for parameter in parameters),
        instruction("OpFunctionEnd"),
    ]
    return [*code[:decorations], decoration, *code[decorations:functions], *types, *declaration, *code[functions:]]
