"""A module that was read, made ready for emission: for devices with matrices, or lowered together with its library."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...frontend import typed
from ...matrices.lowering import check_count, instantiate
from .. import KernelInfo, LoweredModule, LowerOptions
from . import bfloat16, extensions, kernels, native, subgroups, targets, vectors, wide_integers, wide_matrices
from .calls import LibraryCalls
from .lower import lower as lower_matrices
from .targets import Place, Targets
from .text import Function, Malformed, Module, parse_head, quoted

Library = Callable[[str], typed.Unit]

_SIZE = "intel_reqd_sub_group_size"
_NODE = re.compile(r"!(\d+)\b")
_TYPE = re.compile(r"%\"?([^\" =]+)\"? = type ")
_NAME = re.compile(r"@(?:\"([^\"]*)\"|([-\w.$]+))")


def link(module: Module, options: LowerOptions, library: Library, place: Place = lambda line: None) -> LoweredModule:
    """Of a canonical module, which is rewritten in place. `place` finds the span of a line, for warnings. Raises
    Malformed for what has no lowering."""
    subgroups.spell_barriers(module)
    wide_integers.lower(module)
    trees = vectors.lower(module, options)
    if options.matrices == "native":
        return _native(module, options, library, trees)
    assigned = targets.assign(module, options, place)
    infos = tuple(_describe(module, function, assigned) for function in module.functions if function.is_kernel)
    calls = lower_matrices(module, options.strategy, assigned)
    bfloat16.expand(module)
    bfloat16.as_bits(module)
    _state_sizes(module, assigned)
    _drop_unused(module)
    text = _with_library(module, [*calls, *([trees] if trees else [])], options, library)
    return LoweredModule(text, infos, "O1", extensions.needed(text), tuple(assigned.warnings))


def _drop_unused(module: Module) -> None:
    """Declarations that nothing calls any more, such as those of subgroup functions."""
    texts = [*module.globals, *(item.text for function in module.functions for item in function.instructions())]
    called = set().union(*map(kernels.names, texts))
    module.declarations = [head for head in module.declarations if head.name in called]


def _native(module: Module, options: LowerOptions, library: Library, trees: LibraryCalls | None) -> LoweredModule:
    users, tiles = kernels.users_of_matrices(module), kernels.tiles(module)
    infos = []
    for function in module.functions:
        if function.is_kernel:
            size, room = kernels.asked_size(module, function), tiles.get(function.name)
            most = size * room if size is not None and room is not None else None
            infos.append(kernels.describe(module, function, size, function.name in users, most))
    native.prepare(module)
    wide_matrices.widen(module)
    bfloat16.expand(module)
    text = _with_library(module, [trees], options, library) if trees else str(module)
    # What makes values of the trees' private objects is not safe on cooperative matrices.
    passes = "none" if options.opt_disable else "O1" if trees and not users else "sroa"
    return LoweredModule(text, tuple(infos), passes, extensions.needed(text))


# --- subgroups -----------------------------------------------------------------------------------


def _describe(module: Module, function: Function, assigned: Targets) -> KernelInfo:
    kernel = assigned.kernels[function.name]
    return kernels.describe(module, function, kernel.size, kernel.uses_matrices, kernel.max_work_items)


def _state_sizes(module: Module, assigned: Targets) -> None:
    """In the kernels' metadata."""
    nodes: dict[int, int] = {}
    for function in module.functions:
        if function.is_kernel:
            size = assigned.kernels[function.name].attribute
            function.head.after = re.sub(rf" !{_SIZE} !\d+", "", function.head.after)
            if size is not None:
                if size not in nodes:
                    nodes[size] = _next_node(module.rest)
                    module.rest.append(f"!{nodes[size]} = !{{i32 {size}}}")
                function.head.after += f" !{_SIZE} !{nodes[size]}"


def _next_node(lines: list[str]) -> int:
    return max((int(line.split()[0][1:]) for line in lines if _NODE.match(line)), default=-1) + 1


# --- the library ---------------------------------------------------------------------------------


def _with_library(module: Module, calls: list[LibraryCalls], options: LowerOptions, library: Library) -> str:
    own = {function.name: function for function in module.functions}
    known = {head.name for head in module.declarations} | own.keys()
    lines = str(module).split("\n")
    for called in calls:
        if called.scratch_bytes:
            _refuse_twice(called.scratch, [line for line in module.globals if _first_name(line) == called.scratch])
            words = -(-called.scratch_bytes // 8)
            kind = f"internal addrspace(3) global [{words} x i64] undef, align 16"
            lines.append(f"@{called.scratch} = {kind}")
        first = _next_node(lines)
        for line in _library_lines(called, options, library):
            name = _first_name(line) if line.startswith(("define ", "declare ")) else None
            if line.startswith("declare ") and name in known:
                continue
            if line.startswith("define ") and name in own:
                _refuse_twice(name, [str(own[name].head)])
            known |= {name} if name else set()
            lines.append(_renumbered(line, first))
    return "\n".join(lines)


def _renumbered(line: str, first: int) -> str:
    return _NODE.sub(lambda match: f"!{int(match[1]) + first}", line) if "!" in line else line


def _library_lines(called: LibraryCalls, options: LowerOptions, library: Library) -> list[str]:
    """The text of the library's functions for a target, without named metadata."""
    from ..lower import lower

    check_count(len(called.instances))
    unit = library(instantiate(called.target, called.instances.values()))
    found = [line for line in lower(unit, options).text.split("\n") if not re.match(r"![a-zA-Z]", line)]
    names = {_first_name(line) for line in found if line.startswith("define ")} if called.suffix else set()

    def rename(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return quoted("@", name + called.suffix) if name in names else match[0]

    found = _own_types(found, called.suffix)
    lines = [_NAME.sub(rename, line) if names and "@" in line else line for line in found]
    return [
        f"{line} alwaysinline" if line.startswith("define ") and "alwaysinline" not in line else line for line in lines
    ]


def _own_types(lines: list[str], suffix: str) -> list[str]:
    """Named types under names of the library's."""
    types = [match[1] for line in lines if (match := _TYPE.match(line))]
    if not types:
        return lines
    pattern = re.compile("|".join(f'%(?:"{re.escape(name)}"|{re.escape(name)}(?![-\\w.$]))' for name in types))

    def rename(match: re.Match[str]) -> str:
        return f'%"cm.{match[0][1:].strip(chr(34))}{suffix}"'

    return [pattern.sub(rename, line) if "%" in line else line for line in lines]


def _first_name(line: str) -> str | None:
    """Of a global variable, or of a function by its head."""
    if line.startswith("@"):
        match = _NAME.match(line)
        return (match[1] or match[2]) if match else None
    head = parse_head(line)
    return head.name if head is not None else None


def _refuse_twice(name: str, lines: list[str]) -> None:
    if lines:
        raise Malformed("ir-not-supported", f"'{name}' is the name of a part of the matrix library", lines[0])
