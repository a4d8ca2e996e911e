"""What each kernel and function is lowered for: its subgroups. Functions that kernels of different subgroups share
become several."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from ...diagnostics import Diagnostic, Severity, Span
from ...matrices.strategies import MAX_WORK_ITEMS, Target
from ...matrices.variants import SCOPE_SUBGROUP, SCOPE_WORKGROUP
from .. import LowerOptions
from . import kernels, subgroups
from .text import Function, Malformed, Module, parse_call, quoted

_CALLED = re.compile(r"@(?:\"([^\"]*)\"|([-\w.$]+))")
Place = Callable[[str], "Span | None"]


@dataclass(frozen=True, slots=True)
class KernelTarget:
    """`size` is what `KernelInfo` tells, `attribute` what the kernel's metadata say (None: nothing)."""

    target: Target
    uses_matrices: bool
    size: int | None
    attribute: int | None
    max_work_items: int | None = None


@dataclass(slots=True)
class Targets:
    """`functions` are the targets of all functions, by name; `storage_size` is what matrices' storage is laid out
    for, the smallest subgroups; `replaced`: subgroup functions speak of the lowering's subgroups, not the device's.
    `of_work_groups` are the targets of kernels with matrices of scope workgroup."""

    storage_size: int
    replaced: bool
    of_work_groups: set[Target] = field(default_factory=set)
    kernels: dict[str, KernelTarget] = field(default_factory=dict)
    functions: dict[str, Target] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)

    @property
    def distinct(self) -> list[Target]:
        return list(dict.fromkeys(self.functions.values()))

    @property
    def least_work_items(self) -> int:
        """Of the work-groups that matrices of that scope are spread over."""
        return min((target.work_items for target in self.of_work_groups), default=1)


def assign(module: Module, options: LowerOptions, place: Place) -> Targets:
    """Of a canonical module, where functions are copied in place. Raises Malformed. `place` finds a line's span."""
    strategy = options.strategy
    users, of_work_groups = (kernels.users_of_scope(module, scope) for scope in (SCOPE_SUBGROUP, SCOPE_WORKGROUP))
    of_subgroups = kernels.users(module, _calls_subgroup_functions)
    entries = [function for function in module.functions if function.is_kernel] or module.functions
    sizes = [_size(module, f, options) for f in entries if f.name in users and f.is_kernel]
    usual = options.sub_group_size or options.tuning.sub_group_size
    storage_size = 1 if strategy.one_work_item else min(sizes, default=usual)
    # Without matrices there is no reason to have subgroups of one.
    replaced = strategy.scratch or (strategy.one_work_item and any(f.name in users for f in entries))
    found = Targets(storage_size, replaced)
    tiles = kernels.tiles(module)
    for function in module.functions:
        if function.is_kernel:
            name = function.name
            found.kernels[name] = _kernel(module, function, options, found, (name in users, name in of_subgroups))
            if name in of_work_groups:
                found.kernels[name] = _of_work_group(module, function, found.kernels[name])
                found.of_work_groups.add(found.kernels[name].target)
            if name in tiles:
                found.kernels[name] = _with_tiles(found.kernels[name], tiles[name])
            _tell_of_other_size(module, function, found, place)
    users |= of_work_groups
    _share(module, found, users | of_subgroups if strategy.scratch else users)
    default = Target(strategy, storage_size)
    for function in module.functions:
        found.functions.setdefault(function.name, default)
    return found


def _calls_subgroup_functions(text: str) -> bool:
    for line in text.split("\n"):
        call = parse_call(line) if "call" in line and ("sub_group" in line or "__spirv_" in line) else None
        if call is not None and subgroups.is_of_subgroups(call):
            return True
    return False


def _size(module: Module, function: Function, options: LowerOptions) -> int:
    return options.sub_group_size or kernels.asked_size(module, function) or options.tuning.sub_group_size


def _kernel(
    module: Module, function: Function, options: LowerOptions, found: Targets, uses: tuple[bool, bool]
) -> KernelTarget:
    strategy, (matrices, of_subgroups) = options.strategy, uses
    asked = kernels.asked_size(module, function)
    # Of `scratch` the device need not know.
    stated = None if strategy.scratch else asked
    if strategy.one_work_item:
        if found.replaced and (matrices or of_subgroups):
            return KernelTarget(Target(strategy, 1), matrices, 1, None)
        return KernelTarget(Target(strategy, 1), matrices, asked, stated)
    size = _size(module, function, options)
    group = kernels.work_group(module, function) if strategy.scratch else None
    target = Target(strategy, size, math.prod(group) if group and math.prod(group) > 0 else MAX_WORK_ITEMS)
    if matrices or (of_subgroups and strategy.scratch):
        items = target.work_items if strategy.scratch else None
        return KernelTarget(target, matrices, size, None if strategy.scratch else size, items)
    if of_subgroups and asked is None:
        return KernelTarget(target, matrices, options.sub_group_size, options.sub_group_size)
    return KernelTarget(target, matrices, asked, stated)


def _of_work_group(module: Module, function: Function, kernel: KernelTarget) -> KernelTarget:
    """The kernel's target where it has matrices of scope workgroup."""
    items = math.prod(kernels.work_group(module, function) or (0,))
    if items <= 0:
        message = (
            f"kernel '{function.name}' has matrices of scope workgroup, and does not say how large its work-groups are "
            "(reqd_work_group_size)"
        )
        raise Malformed("ir-not-supported", message, str(function.head))
    return replace(kernel, target=replace(kernel.target, work_items=items), uses_matrices=True)


def _with_tiles(kernel: KernelTarget, sub_groups: int) -> KernelTarget:
    """Of IR that stages tiles for native matrices, which have room for so many subgroups."""
    if kernel.size is None:
        return kernel
    most = sub_groups * kernel.size
    return replace(kernel, max_work_items=min(most, kernel.max_work_items or most))


def _tell_of_other_size(module: Module, function: Function, found: Targets, place: Place) -> None:
    kernel, asked = found.kernels[function.name], kernels.asked_size(module, function)
    if asked is None or kernel.size == asked:
        return
    text = f"kernel '{function.name}' asks for subgroups of {asked}, and "
    strategy = kernel.target.strategy
    if not strategy.one_work_item:
        text += f"--sub-group-size asks for {kernel.size}: different sizes are not supported yet"
        raise Malformed("ir-not-supported", text, str(function.head))
    text += f"--matrices {strategy.name} makes them of one work-item"
    found.warnings.append(Diagnostic(Severity.WARNING, "sub-group-size", text, place(str(function.head))))


# --- functions of several kernels ----------------------------------------------------------------


def _share(module: Module, found: Targets, dependent: Iterable[str]) -> None:
    """Gives every function that a kernel calls its target. What depends on that and is called for another one, too,
    is copied."""
    depends = set(dependent)
    several = len({kernel.target for kernel in found.kernels.values()}) > 1
    # As they were before calls in them were renamed.
    originals = {f.name: copy.deepcopy(f) if several and f.name in depends else f for f in module.functions}
    own = {f.name: f for f in module.functions}
    made: dict[tuple[str, Target], str] = {}
    waiting = [(function, found.kernels[function.name].target) for function in module.functions if function.is_kernel]
    for function, target in waiting:
        found.functions[function.name] = target
        made[function.name, target] = function.name
    while waiting:
        function, target = waiting.pop()
        renamed: dict[str, str] = {}
        for name in sorted(_called(function) & own.keys()):
            if (name, target) not in made:
                callee = own[name]
                if name in depends:
                    callee = _for_target(module, callee, originals[name], found, target)
                made[name, target] = callee.name
                waiting.append((callee, target))
            renamed[name] = made[name, target]
        _rename_calls(function, {old: new for old, new in renamed.items() if old != new})


def _for_target(module: Module, function: Function, original: Function, found: Targets, target: Target) -> Function:
    """The function itself, where it is for no other target yet; else a copy of what it was."""
    name = function.name
    if name not in found.functions:
        found.functions[name] = target
        return function
    if function.is_kernel:
        message = f"kernel '{name}' is called by kernels of other subgroups: not supported yet"
        raise Malformed("ir-not-supported", message, str(function.head))
    copied = copy.deepcopy(original)
    number = 2
    taken = {function.name for function in module.functions} | {head.name for head in module.declarations}
    while f"{name}.{number}" in taken:
        number += 1
    copied.head.callee = quoted("@", f"{name}.{number}")
    found.functions[copied.name] = target
    at = next(n for n, other in enumerate(module.functions) if other is function)
    module.functions.insert(at + 1, copied)
    return copied


def _called(function: Function) -> set[str]:
    return {m[1] or m[2] for item in function.instructions() if "@" in item.text for m in _CALLED.finditer(item.text)}


def _rename_calls(function: Function, names: dict[str, str]) -> None:
    def change(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return quoted("@", names[name]) if name in names else match[0]

    for item in function.instructions() if names else ():
        if "@" in item.text:
            item.text = _CALLED.sub(change, item.text)
