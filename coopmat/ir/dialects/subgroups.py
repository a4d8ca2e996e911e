"""Subgroup functions of OpenCL in IR, under a lowering whose subgroup is not the device's."""

from __future__ import annotations

import re

from ...matrices.lowering import Instance, substitute_builtin
from ...matrices.strategies import Strategy
from ...matrices.variants import COMPONENT_TYPES
from .text import Argument, Call, Malformed, Module

_BUILTIN = re.compile(r"_Z(\d+)([a-z]\w+)")
_PARAMETER = re.compile(r"(Dv\d+_)?(Dh|[cahstijlmfd])")
_COMPONENT_OF = {"Dh": "f16", "f": "f32", "d": "f64", "c": "s8", "a": "s8", "h": "u8"}
_COMPONENT_OF |= {"s": "s16", "t": "u16", "i": "s32", "j": "u32", "l": "s64", "m": "u64"}
_SUBGROUP = "3"  # SPIR-V's scope
_OF_SCOPE = re.compile(r"_Z\d+__spirv_(?:Group|Subgroup)\w+")
_VARIABLE = re.compile(r"@\"?__spirv_BuiltIn(?:Num|NumEnqueued)?Subgroups?\w*")


def is_replaced(strategy: Strategy) -> bool:
    return strategy.one_work_item


def check_variables(module: Module, strategy: Strategy) -> None:
    """Raises Malformed for variables that tell of the device's subgroups."""
    for line in module.globals if is_replaced(strategy) else ():
        if _VARIABLE.match(line):
            raise Malformed("ir-not-supported", f"{line.split()[0]} under a subgroup of one is not supported yet", line)


def is_barrier(call: Call) -> bool:
    """Of a subgroup alone, which a single work-item need not wait at."""
    return "__spirv_ControlBarrier" in call.name and call.arguments[0].value == _SUBGROUP


def substitute(strategy: Strategy, call: Call, source: str) -> tuple[Instance, list[Argument]] | None:
    """The library's function for a call, and what to give it. Raises Malformed where there should be one."""
    match = _BUILTIN.fullmatch(call.name)
    if match is None:
        if _OF_SCOPE.match(call.name) and call.arguments and call.arguments[0].value == _SUBGROUP:
            raise _missing(call, source)
        return None
    length = min(int(match[1]), len(match[2])) if len(match[1]) < 5 else 0
    name, parameters = match[2][:length], match[2][length:]
    if "sub_group" not in name:
        return None
    first = _PARAMETER.match(parameters)
    component = COMPONENT_TYPES[_COMPONENT_OF[first[2]]] if first and not first[1] else None
    instance = substitute_builtin(strategy, name, component)
    if instance is None:
        raise _missing(call, source)
    count = len(instance.signature.parameters)
    return instance, [Argument(argument.type, argument.value) for argument in call.arguments[:count]]


def _missing(call: Call, source: str) -> Malformed:
    return Malformed("ir-not-supported", f"'{call.name}' under a subgroup of one is not supported yet", source)
