"""The pass for native cooperative matrices: operations without a SPIR-V instruction become calls of library functions.

These functions (`coopmat.matrices.native_library`) operate on native matrix values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..diagnostics import CompileError, Diagnostic, InternalError, Note, Severity, Span
from ..frontend import typed
from ..frontend.calls import CallGraph
from ..frontend.kernel_info import describe, sub_group_size
from ..frontend.matrix_terms import COMPONENTS, matrix_type
from ..frontend.types import (
    FLOAT,
    PLAIN,
    SCOPE_SUBGROUP,
    UINT,
    AddressSpace,
    ArrayType,
    CoopMatrixType,
    MatrixUse,
    PointerType,
    Qualifiers,
    ScalarType,
    Type,
    VectorType,
)
from ..matrices import native_library
from ..matrices.memory_rules import MemoryRules
from ..matrices.native_library import (
    TILE_ALIGN,
    ClampedConvert,
    ComponentWise,
    Function,
    StagedLoad,
    StagedMap,
    StagedMove,
    StagedReduce,
    StagedStore,
    undecorated,
)
from ..matrices.variants import Layout, MatrixType
from ..native_profiles import KHR, NATIVE_PROFILES, NativeProfile
from ..vectorize import component_of
from . import Library, Report
from .functions import FunctionRewriter, copied, copies, sequence
from .operand_functions import Names, operand_name, with_operands
from .storage import LIBRARY_SPAN, decayed, load, strip_generic_cast, variable

_LOCAL = Qualifiers(AddressSpace.LOCAL)
_SMALLEST_SUB_GROUP = 8
_MOST_SUB_GROUPS = 16
NO_RULES = native_library.NO_RULES


@dataclass(frozen=True, slots=True)
class NativeMatrices:
    """The pass `native-matrices`.

    library: compiles the library's text.
    rules: the device's alignment and stride requirements for matrices in memory.
    size_option: the value of --sub-group-size.
    profile: the instructions that the module's consumer, the device's compiler, supports.
    """

    library: Library
    rules: MemoryRules = NO_RULES
    size_option: int | None = None
    profile: NativeProfile = KHR
    name: str = "native-matrices"
    removes: tuple[type, ...] = ()
    only: str = "has_matrices"

    def run(self, unit: typed.Unit, report: Report) -> typed.Unit:
        return _Unit(unit, self).run()


class _Unit:
    """The rewriter of one unit."""

    def __init__(self, unit: typed.Unit, options: NativeMatrices) -> None:
        self.unit, self.rules, self.library = unit, options.rules, options.library
        self.profile = options.profile
        self.graph = CallGraph(unit)
        # A function that names no matrices is shared with the source unit; the same holds for its callees. Kernels are
        # always copied, because `info` is set on the copy.
        self.functions = {
            f: new if f.is_kernel or self.graph.uses(f, "names_matrices") else f for f, new in copies(unit).items()
        }
        self.sub_groups = most_sub_groups(unit.kernels, options.size_option)
        self.sizes = {sub_group_size(kernel) or options.size_option for kernel in unit.kernels} or {options.size_option}
        self.staging: set[typed.FunctionDecl] = set()
        self._tiles: dict[tuple[Type, int], typed.VarDecl] = {}
        self._library_functions: dict[str, Function] = {}
        self._operands: Names = {}
        self._with_components: dict[typed.FunctionDecl, typed.FunctionDecl] = {}
        self._components: dict[tuple[typed.FunctionDecl, bool], typed.FunctionDecl] = {}
        self._calls: list[typed.Call] = []
        self.has_small_floats = unit.has_small_floats

    def run(self) -> typed.Unit:
        for source, new in self.functions.items():
            if new is not source and new.body is not None and self.graph.uses(source, "names_matrices"):
                _Function(self, source, new).rewrite()
        for kernel in self.unit.kernels:
            size, most = sub_group_size(kernel), None
            if size is not None and not self.staging.isdisjoint(self.graph.reached(kernel)):
                most = size * self.sub_groups
            self.functions[kernel].info = describe(kernel, size, self.graph.uses(kernel, "matrices"), most)
        made = (*self._components.values(), *self._with_components.values())
        functions = [*self._linked(), *self.functions.values(), *made]
        variables = [*self.unit.variables, *self._tiles.values()]
        return replace(self.unit, functions=functions, variables=variables, has_small_floats=self.has_small_floats)

    def lacks(self, operation: str, matrix: MatrixType, layout: Layout) -> bool:
        """Return whether the consumer lacks the instruction for this access with a subgroup size of the kernels."""
        name = native_library.access_name(operation, matrix, layout)
        return not all(self.profile.has_access(name, size) for size in self.sizes)

    def call(self, function: Function, t: Type, arguments: list[typed.Expr], span: Span) -> typed.Call:
        """Return a call of a library function of result type `t`; `_linked` sets the callee later."""
        self._library_functions[function.function_name] = function
        head = typed.FunctionDecl(LIBRARY_SPAN, function.function_name, None, [], False, True)  # type: ignore[arg-type]
        self._calls.append(typed.Call(span, t, head, arguments))
        return self._calls[-1]

    def with_component(self, function: typed.FunctionDecl, component: ScalarType) -> typed.FunctionDecl:
        """Return a wrapper of `function` with a component as an additional third parameter, which is ignored."""
        new = self._with_components.get(function)
        if new is None:
            span = function.span
            ignored = typed.VarDecl(span, "component", component, PLAIN, "parameter")
            parameters = [typed.VarDecl(p.span, p.name, p.type, p.qualifiers, "parameter") for p in function.parameters]
            call = typed.Call(span, function.type.result, function, [load(variable(p)) for p in parameters])
            parameters.insert(2, ignored)
            kind = replace(function.type, parameters=tuple(p.type for p in parameters))
            body = typed.Block(span, [typed.Return(span, call)])
            name = f"{function.name}.component"
            new = typed.FunctionDecl(span, name, kind, parameters, False, True, {}, body)
            self._with_components[function] = new
        return new

    def component_of(self, function: typed.FunctionDecl, operands: int, down: bool) -> typed.FunctionDecl:
        """Return a function of single components that calls `function`, which returns a vector of neighbours."""
        own = self.functions.get(function, function)
        return self._components.setdefault((function, down), component_of(own, operands, down))

    def operand_name(self, function: typed.FunctionDecl, own: int) -> str:
        """Return the name by which the library's text calls `function`, an operand of a map or reduction.

        The library passes the first `own` arguments; further arguments are passed on.
        """
        return operand_name(self._operands, self.functions.get(function, function), own)

    def _linked(self) -> list[typed.FunctionDecl]:
        if not self._library_functions:
            return []
        library = self.library(native_library.instantiate(self._library_functions.values()))
        functions = with_operands(library.functions, self._operands)
        self.has_small_floats |= library.has_small_floats
        definitions = {f.name: f for f in functions if f.body is not None}
        for call in self._calls:
            if call.function.name not in definitions:
                raise InternalError(f"the matrix library does not define '{call.function.name}'")
            call.function = definitions[call.function.name]
        return functions

    def tiles(self, component: ScalarType, count: int) -> typed.Expr:
        """Return a pointer to tiles in local memory with room for `count` components per subgroup.

        Calls with the same component type and count share the memory.
        """
        count *= self.sub_groups
        room = self._tiles.get((component, count))
        if room is None:
            # foreign/spirv/tiles.py parses the number of subgroups from the name, if the IR is lowered there.
            name = f"coop_mat_tiles.{self.sub_groups}.{component}"
            array = ArrayType(component, count)
            room = typed.VarDecl(LIBRARY_SPAN, name, array, _LOCAL, "static", alignment=TILE_ALIGN)
            self._tiles[component, count] = room
        return decayed(variable(room))


class _Function(FunctionRewriter):
    """A rewriter of one function."""

    def __init__(self, unit: _Unit, source: typed.FunctionDecl, decl: typed.FunctionDecl) -> None:
        super().__init__(decl, lambda t: t, unit.functions)
        self.unit, self.source = unit, source

    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        return _HANDLERS

    def load(self, e: typed.MatrixLoad, new: typed.MatrixLoad) -> typed.Expr:
        assert isinstance(e.type, CoopMatrixType)
        lacks = self._lacks("load", new, e.type)
        return self._staged(StagedLoad, new, e.type, [], lacks) if lacks or _is_staged(new) else new

    def store(self, e: typed.MatrixStore, new: typed.MatrixStore) -> typed.Expr:
        assert isinstance(e.matrix.type, CoopMatrixType)
        lacks = self._lacks("store", new, e.matrix.type)
        return self._staged(StagedStore, new, e.matrix.type, [new.matrix], lacks) if lacks or _is_staged(new) else new

    def _lacks(self, operation: str, e: typed.MatrixLoad | typed.MatrixStore, t: CoopMatrixType) -> bool:
        """Return whether the consumer lacks the instruction of an access by columns, which then needs a tile.

        Return False for work-group matrices, for which tiles are not implemented, and for generic pointers, for which
        no instruction exists.
        """
        space = _qualifiers(strip_generic_cast(e.pointer)).space
        if e.layout != Layout.COLUMN_MAJOR or t.scope != SCOPE_SUBGROUP or space is AddressSpace.GENERIC:
            return False
        return self.unit.lacks(operation, matrix_type(t), Layout(e.layout))

    def _staged(
        self,
        kind: type[StagedLoad | StagedStore],
        e: typed.MatrixLoad | typed.MatrixStore,
        matrix: CoopMatrixType,
        value: list[typed.Expr],
        lacks: bool,
    ) -> typed.Expr:
        pointer, b = strip_generic_cast(e.pointer), e.bounds
        q = _qualifiers(pointer)
        access = kind(matrix_type(matrix), str(q.space), Layout(e.layout), q.volatile, self.unit.rules, not lacks)
        whole: list[typed.Expr] = [typed.IntConst(e.span, UINT, n) for n in (0, 0, matrix.rows, matrix.columns)]
        bounds = whole if b is None else [b.row, b.column, b.rows, b.columns]
        return self._through_tiles(access, e.type, [pointer, *value, e.stride, *bounds], matrix.component, e.span)

    def convert(self, e: typed.MatrixConvert, new: typed.MatrixConvert) -> typed.Expr:
        source, target = e.operand.type, e.type
        assert isinstance(source, CoopMatrixType) and isinstance(target, CoopMatrixType)
        moves = e.how.transposed or source.use is not target.use
        has_move = self.unit.profile.has_move(source.use is MatrixUse.ACCUMULATOR, e.how.transposed)
        function, operand = self._conversion(e, new.operand)
        if function is not None:
            source = replace(source, component=target.component)
            value: typed.Expr = self.unit.call(function, source, [operand], e.span)
        elif not moves or has_move:
            return new
        elif e.how.transposed:
            value = new.operand
        else:
            source = replace(source, component=target.component)
            value = copied(new, type=source)
        if not moves:
            return value
        if has_move:
            return typed.MatrixConvert(e.span, target, value)
        lacks = e.how.transposed and self.unit.lacks("load", matrix_type(target), Layout.COLUMN_MAJOR)
        move = StagedMove(matrix_type(source), matrix_type(target).use, e.how.transposed, self.unit.rules, not lacks)
        return self._through_tiles(move, target, [value], source.component, e.span)

    def _conversion(self, e: typed.MatrixConvert, operand: typed.Expr) -> tuple[Function | None, typed.Expr]:
        """Return the library function for a conversion that needs one, and its operand, in float if needed."""
        source, to = operand.type, matrix_type(e.type).component
        assert isinstance(source, CoopMatrixType)
        component = matrix_type(source).component
        if min(component.width, to.width) < 8:
            return None, operand  # The lowering reports that no native matrices of such types exist.
        if e.how.saturate and component.is_integer and to.is_integer and component.signed != to.signed:
            return ClampedConvert(matrix_type(source), to), operand
        if self.unit.profile.roundings:
            return None, operand
        if e.how.words and component.converts_by_float(to):
            source = replace(source, component=FLOAT)
            operand = typed.MatrixConvert(e.span, source, operand)
        return undecorated(matrix_type(source), to, e.how), operand

    def _through_tiles(
        self, function: Function, t: Type, arguments: list[typed.Expr], component: ScalarType, span: Span
    ) -> typed.Call:
        """Return a call whose last argument points to the subgroup's tiles in local memory.

        Raise CompileError for matrices of a work-group.
        """
        if function.matrix.of_work_group:
            raise _refuse(
                "this operation needs local memory on this profile, which matrices of a work-group do not support yet",
                span,
            )
        self.unit.staging.add(self.source)
        return self.unit.call(function, t, [*arguments, self.unit.tiles(component, function.tile)], span)

    def component_wise(self, e: typed.MatrixComponentWise, new: typed.MatrixComponentWise) -> typed.Expr:
        assert isinstance(e.type, CoopMatrixType)
        matrices = tuple(isinstance(a.type, CoopMatrixType) for a in e.operands)
        arithmetic = COMPONENTS[str(e.parameters[0])]
        function = ComponentWise(matrix_type(e.type), e.name, matrices, arithmetic)
        return self.unit.call(function, e.type, new.operands, e.span)

    def map(self, e: typed.MatrixMap, new: typed.MatrixMap) -> typed.Expr:
        assert isinstance(e.type, CoopMatrixType)
        if isinstance(e.function.type.result, VectorType):
            new = copied(new, function=self.unit.component_of(e.function, len(e.operands), e.down), down=False)
            return self.map(new, new)
        if self._has_instruction(e.type):
            named: typed.MatrixMap = self.call_of(e, new)
            return named if named.operands else self._built(named, e.type)
        name = self.unit.operand_name(e.function, 2 + len(e.operands))
        function = StagedMap(matrix_type(e.type), name, len(e.operands), self.unit.rules)
        call = self._through_tiles(function, e.type, new.operands, e.type.component, e.span)
        call.arguments += new.arguments
        return call

    def _built(self, e: typed.MatrixMap, matrix: CoopMatrixType) -> typed.MatrixMap:
        """Return the map with an operand of zeros, which the function ignores.

        OpCooperativeMatrixPerElementOpNV requires a matrix operand, which a map without matrix operands lacks.
        """
        zeros = typed.MatrixFill(e.span, matrix, typed.Zero(e.span, matrix.component))
        function = self.unit.with_component(e.function, matrix.component)
        return typed.MatrixMap(e.span, matrix, function, [zeros], e.arguments, False)

    def reduce(self, e: typed.MatrixReduce, new: typed.MatrixReduce) -> typed.Expr:
        source, result = e.operand.type, e.type
        assert isinstance(source, CoopMatrixType) and isinstance(result, CoopMatrixType)
        if self._has_instruction(source) and self.unit.profile.reductions:
            named: typed.MatrixReduce = self.call_of(e, new)
            return named
        name = self.unit.operand_name(e.function, 2)
        function = StagedReduce(matrix_type(source), name, e.how, result.rows, result.columns, self.unit.rules)
        return self._through_tiles(function, result, [new.operand], source.component, e.span)

    def _has_instruction(self, matrix: CoopMatrixType) -> bool:
        """Return whether the consumer's per-element and reduce instructions can take a function of this matrix type.

        Functions of small floats cannot be operands: they take bit patterns.
        """
        return self.unit.profile.maintenance and not matrix.component.is_bits

    def coordinates(self, e: typed.MatrixCoordinates, new: typed.MatrixCoordinates) -> typed.Expr:
        profile = self.unit.profile
        if not profile.coordinates:
            able = " and ".join(row.name for row in NATIVE_PROFILES.values() if row.coordinates)
            message = f"the profile {profile.name} has no instruction for the coordinates of components"
            raise _refuse(message, e.span, f"--native-profile {able} have such an instruction")
        return new

    def prefetch(self, e: typed.MatrixPrefetch, new: typed.MatrixPrefetch) -> typed.Expr:
        """Return an expression with only the side effects of the prefetch's operands.

        SPV_KHR_cooperative_matrix and SPV_EXT_cooperative_matrix_maintenance1 have no prefetch instruction.
        """
        return sequence([new.pointer, new.stride, typed.Zero(e.span, e.type)])


_HANDLERS: dict[type, Callable[..., Any]] = {
    typed.MatrixLoad: _Function.load,
    typed.MatrixStore: _Function.store,
    typed.MatrixConvert: _Function.convert,
    typed.MatrixComponentWise: _Function.component_wise,
    typed.MatrixMap: _Function.map,
    typed.MatrixReduce: _Function.reduce,
    typed.MatrixCoordinates: _Function.coordinates,
    typed.MatrixPrefetch: _Function.prefetch,
}


def _refuse(message: str, span: Span, *notes: str) -> CompileError:
    texts = (*notes, "--matrices one and --matrices lanes work without the device's matrix instructions")
    return CompileError([Diagnostic(Severity.ERROR, "native-matrix", message, span, notes=tuple(map(Note, texts)))])


def _qualifiers(pointer: typed.Expr) -> Qualifiers:
    assert isinstance(pointer.type, PointerType)
    return pointer.type.qualifiers


def _is_staged(e: typed.MatrixLoad | typed.MatrixStore) -> bool:
    """Return whether an access needs a staged library function instead of an instruction.

    That is the case for private memory, for bounds, and for the packed layout. Only SPV_INTEL_joint_matrix has that
    layout, and spirv-val does not know the extension. Accesses by generic pointers are not staged: no instruction takes
    such a pointer, and the lowering reports an error.
    """
    space = _qualifiers(strip_generic_cast(e.pointer)).space
    special = space is AddressSpace.PRIVATE or e.bounds is not None or e.layout == Layout.PACKED
    return special and space is not AddressSpace.GENERIC


def most_sub_groups(decls: Iterable[typed.FunctionDecl], size: int | None) -> int:
    """Return the largest number of subgroups that a work-group of these kernels can have.

    For a kernel with reqd_work_group_size, divide the work-group's size by the subgroup size: the kernel's, else
    `size`, else 8, the smallest size of any known device. A kernel without the attribute is assumed to have at most 16
    subgroups (docs/routes.md).
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
