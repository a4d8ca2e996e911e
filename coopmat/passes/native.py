"""Native cooperative matrices: what no instruction does becomes calls of functions that work on the matrices themselves
(`coopmat.matrices.native_library`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..diagnostics import InternalError, Span
from ..frontend import typed
from ..frontend.kernel_info import describe, sub_group_size
from ..frontend.matrix_terms import matrix_type
from ..frontend.types import UINT, AddressSpace, ArrayType, CoopMatrixType, PointerType, Qualifiers, Type
from ..matrices import native_library
from ..matrices.memory_rules import MemoryRules
from ..matrices.native_library import TILE_ALIGN, ClampedConvert, Function, StagedLoad, StagedStore, StagedTranspose
from ..matrices.variants import Layout
from . import Library, Report
from .functions import CallGraph, FunctionRewriter, copies
from .storage import LIBRARY_SPAN, decayed, named_space, names_matrix, variable

_LOCAL = Qualifiers(AddressSpace.LOCAL)
_SMALLEST_SUB_GROUP = 8
_MOST_SUB_GROUPS = 16
NO_RULES = native_library.NO_RULES


@dataclass(frozen=True, slots=True)
class NativeMatrices:
    """The pass. `rules` are what the device wants of matrices in memory, `size_option` is --sub-group-size."""

    library: Library
    rules: MemoryRules = NO_RULES
    size_option: int | None = None
    name: str = "native-matrices"
    removes: tuple[type, ...] = ()
    only: str = "has_matrices"

    def run(self, unit: typed.Unit, report: Report) -> typed.Unit:
        return _Unit(unit, self).run()


class _Unit:
    """A unit on its way."""

    def __init__(self, unit: typed.Unit, options: NativeMatrices) -> None:
        self.unit, self.rules, self.library = unit, options.rules, options.library
        self.graph = CallGraph(unit, names_matrix)
        self.functions = copies(unit)
        self.sub_groups = most_sub_groups(unit.kernels, options.size_option)
        self.staging: set[typed.FunctionDecl] = set()
        self._tiles: dict[tuple[Type, int], typed.VarDecl] = {}
        self._library_functions: dict[str, Function] = {}
        self._calls: list[typed.Call] = []

    def run(self) -> typed.Unit:
        for source, new in self.functions.items():
            if new is not source and new.body is not None and self.graph.uses(source, "names_matrices"):
                _Function(self, source, new).rewrite()
        for kernel in self.unit.kernels:
            size, most = sub_group_size(kernel), None
            if size is not None and not self.staging.isdisjoint(self.graph.reached(kernel)):
                most = size * self.sub_groups
            self.functions[kernel].info = describe(kernel, size, self.graph.uses(kernel, "matrices"), most)
        functions = [*self._linked(), *self.functions.values()]
        return replace(self.unit, functions=functions, variables=[*self.unit.variables, *self._tiles.values()])

    def call(self, function: Function, t: Type, arguments: list[typed.Expr], span: Span) -> typed.Expr:
        """A call of a function of the library, which `link` finds."""
        self._library_functions[function.function_name] = function
        head = typed.FunctionDecl(LIBRARY_SPAN, function.function_name, None, [], False, True)  # type: ignore[arg-type]
        self._calls.append(typed.Call(span, t, head, arguments))
        return self._calls[-1]

    def _linked(self) -> list[typed.FunctionDecl]:
        if not self._library_functions:
            return []
        functions = self.library(native_library.instantiate(self._library_functions.values())).functions
        definitions = {f.name: f for f in functions if f.body is not None}
        for call in self._calls:
            if call.function.name not in definitions:
                raise InternalError(f"the matrix library does not define '{call.function.name}'")
            call.function = definitions[call.function.name]
        return functions

    def tiles(self, matrix: CoopMatrixType, span: Span) -> typed.Expr:
        """Room in local memory for one tile of each subgroup: accesses that are alike share it."""
        count = native_library.tile_components(matrix_type(matrix), self.rules) * self.sub_groups
        room = self._tiles.get((matrix.component, count))
        if room is None:
            # A reader of this IR learns from the name how many subgroups there is room for.
            name = f"coop_mat_tiles.{self.sub_groups}.{matrix.component}"
            array = ArrayType(matrix.component, count)
            room = typed.VarDecl(LIBRARY_SPAN, name, array, _LOCAL, "static", alignment=TILE_ALIGN)
            self._tiles[matrix.component, count] = room
        return decayed(variable(room))


class _Function(FunctionRewriter):
    """A function on its way."""

    def __init__(self, unit: _Unit, source: typed.FunctionDecl, decl: typed.FunctionDecl) -> None:
        super().__init__(decl, lambda t: t, unit.functions)
        self.unit, self.source = unit, source

    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        return _HANDLERS

    def load(self, e: typed.MatrixLoad, new: typed.MatrixLoad) -> typed.Expr:
        if not _is_staged(new):
            return new
        assert isinstance(e.type, CoopMatrixType)
        return self._staged(StagedLoad, new, e.type, [])

    def store(self, e: typed.MatrixStore, new: typed.MatrixStore) -> typed.Expr:
        if not _is_staged(new):
            return new
        assert isinstance(e.matrix.type, CoopMatrixType)
        return self._staged(StagedStore, new, e.matrix.type, [new.matrix])

    def _staged(
        self,
        kind: type[StagedLoad | StagedStore],
        e: typed.MatrixLoad | typed.MatrixStore,
        matrix: CoopMatrixType,
        value: list[typed.Expr],
    ) -> typed.Expr:
        self.unit.staging.add(self.source)
        pointer, b = named_space(e.pointer), e.bounds
        q = _qualifiers(pointer)
        access = kind(matrix_type(matrix), str(q.space), Layout(e.layout), q.volatile, self.unit.rules)
        whole: list[typed.Expr] = [typed.IntConst(e.span, UINT, n) for n in (0, 0, matrix.rows, matrix.columns)]
        bounds = whole if b is None else [b.row, b.column, b.rows, b.columns]
        arguments = [pointer, *value, e.stride, *bounds, self.unit.tiles(matrix, e.span)]
        return self.unit.call(access, e.type, arguments, e.span)

    def convert(self, e: typed.MatrixConvert, new: typed.MatrixConvert) -> typed.Expr:
        source, target = e.operand.type, e.type
        assert isinstance(source, CoopMatrixType) and isinstance(target, CoopMatrixType)
        if e.how.transposed:
            self.unit.staging.add(self.source)
            function = StagedTranspose(matrix_type(source), matrix_type(target).use, self.unit.rules)
            return self.unit.call(function, target, [new.operand, self.unit.tiles(source, e.span)], e.span)
        old_type, new_type = source.component, target.component
        if old_type.is_float or new_type.is_float or not e.how.saturate or old_type.signed == new_type.signed:
            return new
        conversion = ClampedConvert(matrix_type(source), matrix_type(target).component)
        return self.unit.call(conversion, target, [new.operand], e.span)


_HANDLERS: dict[type, Callable[..., Any]] = {
    typed.MatrixLoad: _Function.load,
    typed.MatrixStore: _Function.store,
    typed.MatrixConvert: _Function.convert,
}


def _qualifiers(pointer: typed.Expr) -> Qualifiers:
    assert isinstance(pointer.type, PointerType)
    return pointer.type.qualifiers


def _is_staged(e: typed.MatrixLoad | typed.MatrixStore) -> bool:
    """Return whether the access is more than an instruction, and its pointer is to memory that the subgroup shares. No
    instruction takes a generic pointer, which the lowering refuses.

    The packed layout exists as a vendor's only (SPV_INTEL_joint_matrix), which spirv-val does not know.
    """
    space = _qualifiers(named_space(e.pointer)).space
    special = space is AddressSpace.PRIVATE or e.bounds is not None or e.layout == Layout.PACKED
    return special and space is not AddressSpace.GENERIC


def most_sub_groups(decls: Iterable[typed.FunctionDecl], size: int | None) -> int:
    """Return the largest number of subgroups that a work-group of these kernels may have.

    It follows from reqd_work_group_size and the subgroups' size (theirs, or else `size`, or 8, which no device that we
    know goes below). A kernel that does not tell is taken to have no more than 16 (docs/routes.md).
    """
    most = 0
    for decl in decls:
        items = decl.attributes.get("reqd_work_group_size")
        if isinstance(items, tuple):
            each = sub_group_size(decl) or size or _SMALLEST_SUB_GROUP
            most = max(most, -(-math.prod(items) // each))
        else:
            most = max(most, _MOST_SUB_GROUPS)
    return most or _MOST_SUB_GROUPS
