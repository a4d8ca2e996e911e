"""The sizes of the subgroups in which a unit's kernels run where matrices are lowered to a library, and the replacement
of subgroup builtins where these are not the device's subgroups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ..diagnostics import CompileError, Diagnostic, InternalError, Severity
from ..frontend import typed
from ..frontend.kernel_info import describe, sub_group_size, work_items
from ..frontend.matrix_terms import COMPONENTS
from ..frontend.types import PointerType, ScalarType, Type, VectorType, element_type
from ..matrices import lowering
from ..matrices.instance import Instance
from ..matrices.strategies import MAX_WORK_ITEMS, Strategy, Target
from ..matrices.variants import ComponentType
from .functions import CallGraph

_SIZE = "intel_reqd_sub_group_size"


class SubGroups:
    """The subgroups of `unit`, whose functions are in `graph`; `size_option` is --sub-group-size."""

    def __init__(self, unit: typed.Unit, graph: CallGraph, strategy: Strategy, size_option: int | None) -> None:
        self.unit, self.graph, self.strategy, self.size_option = unit, graph, strategy, size_option
        self.warnings: list[Diagnostic] = []

    def target(self, decl: typed.FunctionDecl) -> Target:
        """Return the target that the library is instantiated for where this kernel calls it."""
        items = work_items(decl)
        target = self.strategy.target(self.size_option or sub_group_size(decl), items)
        if items is not None and self.graph.uses(decl, "of_work_groups"):
            target = replace(target, work_items=items)
        return target

    @cached_property
    def fewest_work_items(self) -> int:
        """Return the size of the smallest work-groups that have matrices of their own, for which those are laid
        out."""
        kernels = [decl for decl in self.unit.kernels if self.graph.uses(decl, "of_work_groups")]
        return min((self.target(decl).work_items for decl in kernels), default=MAX_WORK_ITEMS)

    @cached_property
    def smallest_size(self) -> int:
        """Return the size that the storage of matrices is laid out for: that of the smallest subgroups of a kernel with
        matrices."""
        kernels = [decl for decl in self.unit.kernels if self.graph.uses(decl, "of_sub_groups")]
        sizes = (self.strategy.size(self.size_option or sub_group_size(decl)) for decl in kernels)
        return min(sizes, default=self.strategy.size(self.size_option))

    @cached_property
    def replaces(self) -> bool:
        """Return whether the subgroup builtins refer to the strategy's subgroups, not to the device's: also where other
        programs, which share functions with this one, may have matrices."""
        has_matrices = any(self.graph.uses(decl, "of_sub_groups") for decl in self.unit.roots)
        has_matrices |= any(decl.symbol is not None for decl in self.unit.functions)
        return self.strategy.replaces_builtins(has_matrices)

    def settle(self, kernel: typed.FunctionDecl, source: typed.FunctionDecl) -> None:
        """Set on a `kernel` the decisions for the one in the source: the attribute for the device, and the description
        for hosts. A function that other programs call gets only the description, for the kernels that call it. Raise
        CompileError for two different sizes; add to `warnings`."""
        target = self.target(source)
        matrices, subgroups, imports = (
            self.graph.uses(source, what) for what in ("of_sub_groups", "subgroups", "imports")
        )
        own_size = attribute = size = sub_group_size(source)
        most = None
        if matrices or (subgroups and self.replaces):
            size, most = target.sub_group_size, target.most_work_items
            attribute = size if self.strategy.has_sub_groups_of_device else None
            if own_size is not None and own_size != size:
                self._tell_of_other_size(source, own_size, target)
        elif (subgroups or imports) and own_size is None and self.strategy.has_sub_groups_of_device:
            attribute = size = target.sub_group_size if imports else self.size_option
        kernel.attributes = {name: value for name, value in source.attributes.items() if name != _SIZE}
        # A device without subgroups need not know the attribute.
        if source.is_kernel and attribute is not None and not self.strategy.exchanges_in_local_memory:
            kernel.attributes[_SIZE] = attribute
        uses_matrices = matrices or self.graph.uses(source, "of_work_groups")
        kernel.info = describe(source, size, uses_matrices, most, imports)

    def _tell_of_other_size(self, decl: typed.FunctionDecl, own_size: int, target: Target) -> None:
        text = f"kernel '{decl.name}' asks for subgroups of {own_size}, and "
        if not target.strategy.has_one_work_item:
            text += f"--sub-group-size asks for {target.sub_group_size}: different sizes are not supported yet"
            raise CompileError([Diagnostic(Severity.ERROR, "not-supported", text, decl.span)])
        text += f"--matrices {target.strategy.name} makes them of one work-item"
        self.warnings.append(Diagnostic(Severity.WARNING, "sub-group-size", text, decl.span))


@dataclass(frozen=True, slots=True)
class Substitute:
    """A library function for a subgroup builtin; it takes the first of the builtin's parameters. `each`: it is for
    scalars, and the builtin's vectors want it for each component."""

    instance: Instance
    each: bool


def substitute(strategy: Strategy, e: typed.BuiltinCall) -> Substitute:
    """Return the library function that replaces a builtin where the strategy's subgroups are not the device's."""
    first = e.parameters[0] if e.parameters else None
    instance = lowering.substitute_builtin(strategy, e.name, _component(first))
    if instance is None:
        # The device's own would speak of subgroups that are not there.
        raise InternalError(f"'{e.name}' has no meaning for --matrices {strategy.name}")
    parameters = instance.signature.parameters
    each = bool(parameters) and isinstance(first, VectorType) and parameters[0].type == first.element.name
    return Substitute(instance, each)


def _component(t: Type | None) -> ComponentType | None:
    """Return the component type of a scalar, a vector, or what a pointer points to."""
    element = element_type(t.pointee if isinstance(t, PointerType) else t) if t is not None else None
    return COMPONENTS.get(element.name) if isinstance(element, ScalarType) else None
