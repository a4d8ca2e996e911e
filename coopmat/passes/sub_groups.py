"""The subgroup sizes of a unit's kernels when matrices are lowered to the library, and substitutes for builtins.

A route's subgroups need not be the device's; then library functions replace the subgroup builtins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ..diagnostics import CompileError, Diagnostic, InternalError, Severity
from ..frontend import typed
from ..frontend.calls import CallGraph
from ..frontend.kernel_info import describe, sub_group_size, work_items
from ..frontend.matrix_terms import COMPONENTS
from ..frontend.types import PointerType, ScalarType, Type, VectorType, element_type
from ..matrices import lowering
from ..matrices.library_function import LibraryFunction
from ..matrices.routes import MAX_WORK_ITEMS, LoweredRoute, Target
from ..matrices.variants import ComponentType

_SIZE = "intel_reqd_sub_group_size"


class SubGroups:
    """The subgroups of `unit`; `graph` is its call graph, and `size_option` the value of --sub-group-size."""

    def __init__(self, unit: typed.Unit, graph: CallGraph, route: LoweredRoute, size_option: int | None) -> None:
        self.unit, self.graph, self.route, self.size_option = unit, graph, route, size_option
        self.warnings: list[Diagnostic] = []

    def target(self, decl: typed.FunctionDecl) -> Target:
        """Return the target for which the library is instantiated when the kernel `decl` calls it."""
        items = work_items(decl)
        target = self.route.target(self.size_option or sub_group_size(decl), items)
        if items is not None and self.graph.uses(decl, "of_work_groups"):
            target = replace(target, work_items=items)
        return target

    @cached_property
    def fewest_work_items(self) -> int:
        """The size of the smallest work-group of a kernel with work-group matrices; their storage is sized for it."""
        kernels = [decl for decl in self.unit.kernels if self.graph.uses(decl, "of_work_groups")]
        return min((self.target(decl).work_items for decl in kernels), default=MAX_WORK_ITEMS)

    @cached_property
    def smallest_size(self) -> int:
        """The size of the smallest subgroup of a kernel with subgroup matrices; their storage is sized for it."""
        kernels = [decl for decl in self.unit.kernels if self.graph.uses(decl, "of_sub_groups")]
        sizes = (self.route.size(self.size_option or sub_group_size(decl)) for decl in kernels)
        return min(sizes, default=self.route.size(self.size_option))

    @cached_property
    def replaces(self) -> bool:
        """Whether subgroup builtins refer to the route's subgroups instead of the device's.

        For some routes, they do so only in programs with matrices. A program with functions for other programs counts
        as one, because the others may have matrices.
        """
        has_matrices = any(self.graph.uses(decl, "of_sub_groups") for decl in self.unit.roots)
        has_matrices |= any(decl.symbol is not None for decl in self.unit.functions)
        return self.route.replaces_builtins(has_matrices)

    def settle(self, kernel: typed.FunctionDecl, source: typed.FunctionDecl) -> None:
        """Set the attributes and `info` of `kernel`, the lowered version of `source`.

        The attributes include the required subgroup size for the device; `info` is the description for hosts. For a
        function that other programs call, only `info` matters: it is for the kernels that call it. Append to
        `warnings`. Raise CompileError if the kernel and --sub-group-size require different sizes.
        """
        target = self.target(source)
        matrices, subgroups, imports = (
            self.graph.uses(source, what) for what in ("of_sub_groups", "subgroups", "imports")
        )
        own_size = attribute = size = sub_group_size(source)
        most = None
        if matrices or (subgroups and self.replaces):
            size, most = target.sub_group_size, target.most_work_items
            attribute = size if self.route.has_sub_groups_of_device else None
            if own_size is not None and own_size != size:
                self._tell_of_other_size(source, own_size, target)
        elif (subgroups or imports) and own_size is None and self.route.has_sub_groups_of_device:
            attribute = size = target.sub_group_size if imports else self.size_option
        kernel.attributes = {name: value for name, value in source.attributes.items() if name != _SIZE}
        # A route that exchanges values in local memory runs on devices without subgroups, which may reject the
        # attribute.
        if source.is_kernel and attribute is not None and not self.route.exchanges_in_local_memory:
            kernel.attributes[_SIZE] = attribute
        uses_matrices = matrices or self.graph.uses(source, "of_work_groups")
        kernel.info = describe(source, size, uses_matrices, most, imports)

    def _tell_of_other_size(self, decl: typed.FunctionDecl, own_size: int, target: Target) -> None:
        text = target.route.about_other_size(decl.name, own_size, target.sub_group_size)
        if not target.route.has_one_work_item:
            raise CompileError([Diagnostic(Severity.ERROR, "not-supported", text, decl.span)])
        self.warnings.append(Diagnostic(Severity.WARNING, "sub-group-size", text, decl.span))


@dataclass(frozen=True, slots=True)
class Substitute:
    """A library function that replaces a subgroup builtin.

    function: the library function; it takes the first parameters of the builtin.
    each: the library function takes scalars, and is called for each component of the builtin's vectors.
    """

    function: LibraryFunction
    each: bool


def substitute(route: LoweredRoute, e: typed.BuiltinCall) -> Substitute:
    """Return the library function that replaces the builtin call `e` if the route's subgroups are not the device's.

    Raise InternalError if the route has no substitute.
    """
    first = e.parameters[0] if e.parameters else None
    function = lowering.substitute_builtin(route, e.name, _component(first))
    if function is None:
        # Keeping the builtin would be wrong: it would refer to the device's subgroups.
        raise InternalError(f"'{e.name}' has no meaning for --matrices {route.name}")
    parameters = function.signature.parameters
    each = bool(parameters) and isinstance(first, VectorType) and parameters[0].type == first.element.name
    return Substitute(function, each)


def _component(t: Type | None) -> ComponentType | None:
    """Return the component type of a scalar, of a vector, or of a pointer's scalar or vector pointee; else None."""
    element = element_type(t.pointee if isinstance(t, PointerType) else t) if t is not None else None
    return COMPONENTS.get(element.name) if isinstance(element, ScalarType) else None
