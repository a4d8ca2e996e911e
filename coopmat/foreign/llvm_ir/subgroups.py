"""Subgroup barriers, spelled as the SPIR-V instruction that LLVM's backend knows."""

from __future__ import annotations

import re

from .text import Argument, Call, Module, parse_call

_SUBGROUP = 3  # SPIR-V's scope
CONTROL_BARRIER = "_Z22__spirv_ControlBarrierjjj"
_NAMED_BARRIER = re.compile(r"_Z17sub_group_barrierj(?:12memory_scope)?")
_NUMBER = re.compile(r"\d{1,9}")
# (bit of cl_mem_fence_flags: local 1, global 2, image 4; SPIR-V's memory class); SPIR-V's memory order;
# SPIR-V's scopes, indexed by OpenCL C's work_item, work_group, device, all_svm_devices, sub_group.
_MEMORY_CLASSES = ((1, 0x100), (2, 0x200), (4, 0x800))
_SEQUENTIAL = 0x10
_SCOPES = (4, 2, 1, 0, 3)


def spell_barriers(module: Module) -> None:
    """Replace calls of `sub_group_barrier` in place by calls named after OpControlBarrier.

    Calls whose flags or scope are not constant remain.
    """
    has_barrier = False
    for function in module.functions:
        for item in function.instructions():
            call = parse_call(item.text) if "sub_group_barrier" in item.text else None
            match = _NAMED_BARRIER.fullmatch(call.name) if call is not None else None
            if call is None or match is None or not all(_NUMBER.fullmatch(a.value) for a in call.arguments):
                continue
            flags, *scopes = (int(argument.value) for argument in call.arguments)
            semantics = _SEQUENTIAL | sum(memory_class for flag, memory_class in _MEMORY_CLASSES if flags & flag)
            memory_scope = _SCOPES[scopes[0]] if scopes and scopes[0] < len(_SCOPES) else _SUBGROUP
            values = [Argument("i32", str(value)) for value in (_SUBGROUP, memory_scope, semantics)]
            item.text = str(Call(call.before, "void", f"@{CONTROL_BARRIER}", values, call.after))
            has_barrier = True
    if has_barrier:
        declare_barrier(module)


def declare_barrier(module: Module) -> None:
    if not any(head.name == CONTROL_BARRIER for head in module.declarations):
        types = [Argument("i32")] * 3
        module.declarations.append(
            Call("declare spir_func", "void", f"@{CONTROL_BARRIER}", types, " convergent nounwind")
        )
