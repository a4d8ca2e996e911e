"""Which subgroups a unit's kernels run in, where matrices are lowered to a library: one answer for every writer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..diagnostics import CompileError, Diagnostic, Severity
from ..matrices.strategies import DEFAULT_TUNING, MAX_WORK_ITEMS, STRATEGIES, Strategy, Target, Tuning
from . import typed
from .kernel_info import sub_group_size, work_items


@dataclass(frozen=True, slots=True)
class KernelSubGroups:
    """How a kernel's subgroups come out. `size` is the one compiled for (None: any), `attribute` the one that the
    device must be told, `most` the most work-items of a work-group where there is a limit."""

    size: int | None
    attribute: int | None
    most: int | None


class SubGroups:
    """Of `unit` under the strategy; `asked` is --sub-group-size, `tuning` the device's."""

    def __init__(self, unit: typed.Unit, strategy: str, asked: int | None, tuning: Tuning = DEFAULT_TUNING) -> None:
        self.unit, self.strategy, self.asked = unit, STRATEGIES[strategy].tuned(tuning), asked
        self.warnings: list[Diagnostic] = []

    def target(self, decl: typed.FunctionDecl) -> Target:
        """What the library is instantiated for where this kernel calls it."""
        strategy: Strategy = self.strategy
        if strategy.one_work_item:
            return Target(strategy, 1)
        size = self.asked or sub_group_size(decl) or strategy.tuning.sub_group_size
        items = work_items(decl) if strategy.scratch else None
        return Target(strategy, size, items or MAX_WORK_ITEMS)

    @cached_property
    def smallest_size(self) -> int:
        """What the storage of matrices is laid out for: the smallest subgroups that a kernel has."""
        if self.strategy.one_work_item:
            return 1
        if self.asked is not None:
            return self.asked
        usual = self.strategy.tuning.sub_group_size
        sizes = {decl: sub_group_size(decl) or usual for decl in self.unit.kernels}
        if len(set(sizes.values())) > 1:
            # Only those with matrices count; looking for matrices is slow, and seldom needed.
            sizes = {decl: size for decl, size in sizes.items() if typed.uses_matrices(decl)}
        return min(sizes.values(), default=usual)

    @cached_property
    def replaces(self) -> bool:
        """Whether the subgroup builtins speak of the strategy's subgroups, not of the device's."""
        if not self.strategy.one_work_item:
            return self.strategy.scratch
        # Without matrices there is no reason to have subgroups of one.
        return any(map(typed.uses_matrices, self.unit.kernels or self.unit.functions))

    def of_kernel(self, decl: typed.FunctionDecl, *, matrices: bool, subgroups: bool) -> KernelSubGroups:
        """`matrices`, `subgroups`: whether the kernel, or what it calls, uses them. Raises CompileError for two sizes;
        adds to `warnings`."""
        target = self.target(decl)
        asked = attribute = size = sub_group_size(decl)
        most = None
        if self._runs_in(target, matrices, subgroups):
            size = target.sub_group_size
            attribute = None if self.strategy.one_work_item else size
            most = target.work_items if self.strategy.scratch else None
            if asked is not None and asked != size:
                self._tell_of_other_size(decl, asked, target)
        elif subgroups and asked is None and not (self.strategy.one_work_item or self.strategy.scratch):
            attribute = size = self.asked
        # A device without subgroups need not know the attribute.
        return KernelSubGroups(size, None if self.strategy.scratch else attribute, most)

    def _runs_in(self, target: Target, matrices: bool, subgroups: bool) -> bool:
        """Whether it matters to a kernel that its subgroups are the target's."""
        if target.strategy.one_work_item:
            return (matrices or subgroups) and self.replaces
        return matrices or (subgroups and target.strategy.scratch)

    def _tell_of_other_size(self, decl: typed.FunctionDecl, asked: int, target: Target) -> None:
        text = f"kernel '{decl.name}' asks for subgroups of {asked}, and "
        if not target.strategy.one_work_item:
            text += f"--sub-group-size asks for {target.sub_group_size}: different sizes are not supported yet"
            raise CompileError([Diagnostic(Severity.ERROR, "not-supported", text, decl.span)])
        text += f"--matrices {target.strategy.name} makes them of one work-item"
        self.warnings.append(Diagnostic(Severity.WARNING, "sub-group-size", text, decl.span))
