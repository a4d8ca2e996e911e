"""A module that was read, made ready for emission: for devices with matrices, or lowered together with its library."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...frontend import typed
from ...matrices.lowering import instantiate
from ...matrices.strategies import STRATEGIES, Target
from .. import DEFAULT_SUB_GROUP_SIZE, LoweredModule, LowerOptions
from . import kernels, native
from .calls import LibraryCalls
from .lower import lower as lower_matrices
from .operations import MENTION
from .text import Function, Malformed, Module, parse_head

Library = Callable[[str], typed.Unit]

_MATRICES, _BFLOAT16 = "SPV_KHR_cooperative_matrix", "SPV_KHR_bfloat16"
_SIZE = "intel_reqd_sub_group_size"
_NODE = re.compile(r"!(\d+)\b")


def link(module: Module, options: LowerOptions, library: Library) -> LoweredModule:
    """Of a canonical module, which is rewritten in place. Raises Malformed for what has no lowering."""
    if options.matrices == "native":
        return _native(module, options)
    if STRATEGIES[options.matrices].scratch:
        raise Malformed("ir-not-supported", f"--matrices {options.matrices} is not supported yet for LLVM IR")
    size = _sub_group_size(module, options)
    infos = kernels.describe(module, options.matrices, size)
    users = kernels.users_of_matrices(module)
    calls = lower_matrices(module, options.matrices, size)
    _state_sizes(module, users, options.matrices, size)
    text = _with_library(module, calls, options, size, library) if calls.instances else str(module)
    return LoweredModule(text, infos, "O1", ())


def _native(module: Module, options: LowerOptions) -> LoweredModule:
    infos = kernels.describe(module, "native", None)
    native.prepare(module)
    text = str(module)
    extensions = [_MATRICES] if MENTION in text else []
    if re.search(r"\bbfloat\b", text):
        extensions.append(_BFLOAT16)
    return LoweredModule(text, infos, "none" if options.opt_disable else "sroa", tuple(sorted(extensions)))


# --- subgroups -----------------------------------------------------------------------------------


def _sub_group_size(module: Module, options: LowerOptions) -> int:
    """What the storage of matrices is laid out for."""
    if options.matrices == "one":
        return 1
    users = kernels.users_of_matrices(module)
    asked = {
        size: function
        for function in module.functions
        if function.is_kernel and function.name in users
        if (size := kernels.asked_size(module, function)) is not None
    }
    wanted = options.sub_group_size or min(asked, default=DEFAULT_SUB_GROUP_SIZE)
    for size, function in asked.items():
        if size != wanted:
            message = f"kernel '{function.name}' asks for subgroups of {size}, others for {wanted}"
            raise Malformed("ir-not-supported", f"{message}: not supported yet", str(function.head))
    return wanted


def _state_sizes(module: Module, users: set[str], strategy: str, size: int) -> None:
    """In the kernels' metadata, where there are subgroups of more than one work-item."""
    if STRATEGIES[strategy].one_work_item:
        for function in module.functions:
            function.head.after = re.sub(rf" !{_SIZE} !\d+", "", function.head.after)
        return
    without = [f for f in module.functions if f.is_kernel and f.name in users and _SIZE not in f.head.after]
    if without:
        node = _next_node(module)
        module.rest.append(f"!{node} = !{{i32 {size}}}")
        for function in without:
            function.head.after += f" !{_SIZE} !{node}"


def _next_node(module: Module) -> int:
    return max((int(line.split()[0][1:]) for line in module.rest if _NODE.match(line)), default=-1) + 1


# --- the library ---------------------------------------------------------------------------------


def _with_library(module: Module, calls: LibraryCalls, options: LowerOptions, size: int, library: Library) -> str:
    from ..lower import lower

    target = Target(STRATEGIES[options.matrices], size)
    unit = library(instantiate(target, calls.instances.values()))
    text = lower(unit, options, library).text
    own = {function.name: function for function in module.functions}
    declared = {head.name for head in module.declarations}
    first = _next_node(module)
    lines = [str(module)]
    for line in text.split("\n"):
        name = _name(line) if line.startswith(("define ", "declare ")) else None
        if re.match(r"![a-zA-Z]", line) or (line.startswith("declare ") and name in {*declared, *own}):
            continue
        if line.startswith("define "):
            _refuse_twice(own.get(name or ""))
            line = line if "alwaysinline" in line else f"{line} alwaysinline"
        lines.append(_NODE.sub(lambda match: f"!{int(match[1]) + first}", line) if "!" in line else line)
    return "\n".join(lines)


def _name(line: str) -> str | None:
    head = parse_head(line)
    return head.name if head is not None else None


def _refuse_twice(function: Function | None) -> None:
    if function is not None:
        message = f"'{function.name}' is the name of a function of the matrix library"
        raise Malformed("ir-not-supported", message, str(function.head))
