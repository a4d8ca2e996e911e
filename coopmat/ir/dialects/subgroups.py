"""Subgroup functions of OpenCL in IR, under a lowering whose subgroup is not the device's."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...matrices.lowering import Instance, substitute_builtin
from ...matrices.strategies import Strategy
from ...matrices.variants import COMPONENT_TYPES
from .text import Argument, Call, Malformed, Module, parse_call

_BUILTIN = re.compile(r"_Z(\d+)([a-z]\w+)")
_PARAMETER = re.compile(r"(P(?:U3AS\d)?V?K?)?(Dv(\d+)_)?(Dh|[cahstijlmfd])")
_COMPONENT_OF = {"Dh": "f16", "f": "f32", "d": "f64", "c": "s8", "a": "s8", "h": "u8"}
_COMPONENT_OF |= {"s": "s16", "t": "u16", "i": "s32", "j": "u32", "l": "s64", "m": "u64"}
_WORK_GROUP, _SUBGROUP = "2", "3"  # SPIR-V's scopes
_BARRIER = re.compile(r"(?:_Z\d+)?__spirv_ControlBarrier\w*")
CONTROL_BARRIER = "_Z22__spirv_ControlBarrierjjj"
_NAMED_BARRIER = re.compile(r"_Z17sub_group_barrierj(?:12memory_scope)?")
_NUMBER = re.compile(r"\d{1,9}")
# The bits of cl_mem_fence_flags (local 1, global 2, image 4) and SPIR-V's memory classes; the order; SPIR-V's numbers
# of the scopes work_item, work_group, device, all_svm_devices, sub_group.
_MEMORY_CLASSES = ((1, 0x100), (2, 0x200), (4, 0x800))
_SEQUENTIAL = 0x10
_SCOPES = (4, 2, 1, 0, 3)
_OF_SCOPE = re.compile(r"_Z\d+__spirv_(?:Group|Subgroup)\w+")
_VARIABLE = re.compile(r"@\"?__spirv_BuiltIn(?:Num|NumEnqueued)?Subgroups?\w*")


@dataclass(frozen=True, slots=True)
class Substitute:
    """The library's function for a call, and what to give it; `count` is of the vectors that it must be called for
    component by component, 1 where it takes the call's own operands."""

    instance: Instance
    arguments: list[Argument]
    count: int = 1


def check_variables(module: Module, strategy: Strategy) -> None:
    """Raises Malformed for variables that tell of the device's subgroups."""
    for line in module.globals:
        if _VARIABLE.match(line):
            message = f"{line.split()[0]} with --matrices {strategy.name} is not supported yet"
            raise Malformed("ir-not-supported", message, line)


def spell_barriers(module: Module) -> None:
    """In place: `sub_group_barrier` as the instruction, which is how LLVM's backend knows it. Flags that are no
    constant stay."""
    found = False
    for function in module.functions:
        for item in function.instructions():
            call = parse_call(item.text) if "sub_group_barrier" in item.text else None
            match = _NAMED_BARRIER.fullmatch(call.name) if call is not None else None
            if call is None or match is None or not all(_NUMBER.fullmatch(a.value) for a in call.arguments):
                continue
            flags, *scopes = (int(argument.value) for argument in call.arguments)
            semantics = _SEQUENTIAL | sum(there for here, there in _MEMORY_CLASSES if flags & here)
            known = _SCOPES[scopes[0]] if scopes and scopes[0] < len(_SCOPES) else int(_SUBGROUP)
            values = [Argument("i32", str(value)) for value in (_SUBGROUP, known, semantics)]
            item.text = str(Call(call.before, "void", f"@{CONTROL_BARRIER}", values, call.after))
            found = True
    if found:
        declare_barrier(module)


def declare_barrier(module: Module) -> None:
    if not any(head.name == CONTROL_BARRIER for head in module.declarations):
        types = [Argument("i32")] * 3
        module.declarations.append(
            Call("declare spir_func", "void", f"@{CONTROL_BARRIER}", types, " convergent nounwind")
        )


def is_barrier(call: Call) -> bool:
    """Of a subgroup alone."""
    return bool(_BARRIER.fullmatch(call.name)) and bool(call.arguments) and call.arguments[0].value == _SUBGROUP


def is_of_subgroups(call: Call) -> bool:
    """Whether the device's subgroups matter to a call."""
    match = _BUILTIN.fullmatch(call.name)
    of_scope = _OF_SCOPE.match(call.name) and call.arguments and call.arguments[0].value == _SUBGROUP
    return bool(match and "sub_group" in match[2]) or bool(of_scope) or is_barrier(call)


def barrier(strategy: Strategy, call: Call) -> Call | None:
    """In place of a subgroup's: a single work-item does not wait, others wait for their whole work-group."""
    if strategy.one_work_item:
        return None
    arguments = [Argument(argument.type, argument.value) for argument in call.arguments]
    arguments[0].value = _WORK_GROUP
    if len(arguments) > 1 and arguments[1].value == _SUBGROUP:
        arguments[1].value = _WORK_GROUP
    return Call(call.before, call.type, call.callee, arguments, call.after)


def substitute(strategy: Strategy, call: Call, source: str) -> Substitute | None:
    """None: not a subgroup function. Raises Malformed where there should be one in the library."""
    match = _BUILTIN.fullmatch(call.name)
    if match is None:
        if is_of_subgroups(call):
            raise _missing(strategy, call, source)
        return None
    length = min(int(match[1]), len(match[2])) if len(match[1]) < 5 else 0
    name, parameters = match[2][:length], match[2][length:]
    if "sub_group" not in name:
        return None
    first = _PARAMETER.match(parameters)
    component = COMPONENT_TYPES[_COMPONENT_OF[first[4]]] if first else None
    instance = substitute_builtin(strategy, name, component)
    if instance is None:
        raise _missing(strategy, call, source)
    wanted = instance.signature.parameters
    arguments = [Argument(argument.type, argument.value) for argument in call.arguments[: len(wanted)]]
    if len(arguments) < len(wanted):
        raise _missing(strategy, call, source)
    whole = re.fullmatch(r"<(\d+) x .*>", arguments[0].type) if arguments else None
    # A function of scalars was found for vectors.
    scalars = whole is not None and component is not None and wanted[0].type == component.opencl_c
    return Substitute(instance, arguments, int(whole[1]) if whole is not None and scalars else 1)


def _missing(strategy: Strategy, call: Call, source: str) -> Malformed:
    message = f"'{call.name}' with --matrices {strategy.name} is not supported yet"
    return Malformed("ir-not-supported", message, source)
