"""The pass that lowers cooperative matrices to the library: matrices become private objects, operations become calls.

A call's result is stored in a temporary, or directly in the variable that the result is assigned to. If a route's
subgroups are not the device's, subgroup builtins become calls of the library, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..diagnostics import Span
from ..frontend import builtins, typed
from ..frontend.calls import CallGraph
from ..frontend.matrix_terms import matrix_type
from ..frontend.nodes import children, walk
from ..frontend.typed import ConvertKind
from ..frontend.types import (
    FLOAT,
    ULONG,
    ArrayType,
    CoopMatrixType,
    PointerType,
    Type,
    VectorType,
    element_count,
)
from ..matrices import half_bits, lowering, narrow
from ..matrices.lane_layouts import Whole
from ..matrices.library_function import LibraryFunction
from ..matrices.maps import BLOCKS
from ..matrices.routes import LoweredRoute, Target
from ..matrices.variants import Layout, MatrixType, Operands
from ..vectorize import LINEAR, UNIFORM, VARYING, Variance, component_of, vectorize
from . import Library, Report
from .functions import FunctionRewriter, copied, elements, sequence
from .library import LibraryCalls, passed
from .storage import Storage, decayed, load, member, names_matrix, strip_generic_cast
from .sub_groups import SubGroups, substitute

_FLOAT16 = VectorType(FLOAT, 16)


@dataclass(frozen=True, slots=True)
class Matrices:
    """The pass `cooperative-matrices`.

    route: the route to lower to.
    library: compiles the library's text.
    size_option: the value of --sub-group-size.
    half_bits: the device has half in memory only, so components of type half are bit patterns.
    """

    route: LoweredRoute
    library: Library
    size_option: int | None = None
    half_bits: bool = False
    name: str = "cooperative-matrices"
    removes: tuple[type, ...] = (CoopMatrixType,)
    only: str = ""

    def run(self, unit: typed.Unit, report: Report) -> typed.Unit:
        graph, route = CallGraph(unit), self.route
        if route.tf32 and any(_requests_tf32(f) for f in unit.functions):
            route = route.with_tf32()
        groups = SubGroups(unit, graph, route, self.size_option)
        lowered = _Unit(unit, graph, groups, replace(self, route=route))
        result = lowered.run()
        report.warnings += groups.warnings
        report.remarks += lowered.remarks
        # Emulated instructions compute with values of half.
        return replace(result, has_small_floats=result.has_small_floats or self.half_bits)


def _requests_tf32(f: typed.FunctionDecl) -> bool:
    nodes = walk(f.body) if f.body is not None else ()
    return any(isinstance(node, typed.MatrixMulAdd) and Operands.TF32 in Operands(node.operands) for node in nodes)


class _Unit:
    """The rewriter of one unit; it creates a version of each function for each target that kernels call it with."""

    def __init__(self, unit: typed.Unit, graph: CallGraph, groups: SubGroups, options: Matrices) -> None:
        self.unit, self.graph, self.groups = unit, graph, groups
        items = groups.fewest_work_items
        self.storage = Storage(options.route, groups.smallest_size, options.half_bits, items)
        self.half_bits = options.half_bits
        self.calls = LibraryCalls(options.library)
        self.remarks: list[tuple[Span, Callable[[], str]]] = []
        self.keeps_state = False
        # Vectorized functions, and functions that return a component of a vector function's result.
        self.wide: dict[tuple[typed.FunctionDecl, tuple[Variance, ...], int], typed.FunctionDecl | None] = {}
        self._components: dict[tuple[typed.FunctionDecl, bool], typed.FunctionDecl] = {}
        self._versions: dict[tuple[typed.FunctionDecl, Target], typed.FunctionDecl] = {}
        # In the order of the call graph: callees first.
        self._functions: list[typed.FunctionDecl] = []

    def run(self) -> typed.Unit:
        new = {decl: self.version(decl, self.groups.target(decl)) for decl in self.unit.roots}
        for decl in self.unit.roots:
            if not decl.is_kernel and (decl.symbol is None or new[decl] is decl):
                continue
            self.groups.settle(new[decl], decl)
            if decl.is_kernel and self.keeps_state:
                # The hint makes the CPU compiler believe that the kernel is already vectorized. It then does not pack
                # several work-items into vector lanes, so that each work-item can use all vector registers.
                new[decl].attributes = {**new[decl].attributes, "vec_type_hint": _FLOAT16}
        order = {decl: number for number, decl in enumerate(self.unit.functions)}
        sources = {new_decl: source for (source, _), new_decl in self._versions.items()}
        functions = sorted(sources, key=lambda new_decl: order[sources[new_decl]])
        objects = self.calls.pass_scratch(self._functions)
        library = self.calls.link()
        records = [*self.storage.own_records, *library.records, *map(self.storage.record_type, self.unit.records)]
        wide = [f for f in (*self.wide.values(), *self._components.values()) if f is not None]
        imported = [f for f in self.unit.functions if f.body is None]
        functions = [*library.functions, *functions, *wide, *imported]
        variables = [*self.unit.variables, *objects]
        return replace(self.unit, functions=functions, variables=variables, records=records, has_matrices=False)

    def version(self, decl: typed.FunctionDecl, target: Target) -> typed.FunctionDecl:
        """Return the version of the function that kernels of this target call; a mere declaration is returned as is."""
        if decl.body is None:
            return decl
        if (decl, target) not in self._versions:
            # Create the versions of all callees first: chains of calls may be longer than Python's stack.
            for callee in self.graph.reached(decl):
                if callee.body is not None and (callee, target) not in self._versions:
                    self._versions[callee, target] = self._new_version(callee, target)
        return self._versions[decl, target]

    def component_of(self, function: typed.FunctionDecl, operands: int, down: bool) -> typed.FunctionDecl:
        """Return a function of single components that calls `function`, which returns a vector of neighbours."""
        return self._components.setdefault((function, down), component_of(function, operands, down))

    def _changes(self, decl: typed.FunctionDecl) -> bool:
        """Return whether the function must be rewritten: it, or a callee, has matrices or replaced builtins.

        A caller of a kernel is rewritten as well, because `settle` modifies the kernel's copy.
        """
        reasons = ("calls_kernel", "names_matrices", *(["subgroups"] if self.groups.replaces else []))
        return any(self.graph.uses(decl, reason) for reason in reasons)

    def _new_version(self, decl: typed.FunctionDecl, target: Target) -> typed.FunctionDecl:
        if not self._changes(decl):
            return copied(decl) if decl.is_kernel else decl
        new: typed.FunctionDecl = copied(decl)
        if target != self.groups.target(decl):
            new.symbol = None
        if any(map(names_matrix, (decl.type.result, *decl.type.parameters))):
            # Inline functions with matrix parameters or results: LLVM promotes matrices to registers only within one
            # function.
            new.attributes = {n: v for n, v in decl.attributes.items() if n != "noinline"} | {"always_inline": True}
        _Function(self, new, target).rewrite()
        self._functions.append(new)
        return new


class _Function(FunctionRewriter):
    """A rewriter of one function: calls of library functions for `target` replace its matrix operations.

    If the route replaces the device's subgroups, library functions replace the subgroup builtins, too.
    """

    def __init__(self, unit: _Unit, decl: typed.FunctionDecl, target: Target) -> None:
        super().__init__(decl, unit.storage.type)
        self.unit, self.target = unit, target

    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        return _WITH_SUBGROUPS if self.unit.groups.replaces else _HANDLERS

    def _call(self, function: LibraryFunction, arguments: Sequence[typed.Expr], span: Span) -> typed.Call:
        return self.unit.calls.call(self.decl, self._target(function), self._own(function), arguments, span)

    def _target(self, function: LibraryFunction) -> Target:
        """Return the target for `function`; for work-group matrices, the target in which work-items are the lanes."""
        return self.target.of_work_group() if function.of_work_group else self.target

    def _own(self, function: Any) -> Any:
        return half_bits.in_bits(function) if self.unit.half_bits else function

    # --- operations ------------------------------------------------------------------------------

    def operation(self, e: typed.Expr, new: typed.Expr) -> typed.Expr:
        """Lower the operation `e` to a library call; `new` is the operation with lowered operands.

        Matrix operands are passed by address. If the result is a matrix, its address is the first argument.
        """
        before: list[typed.Expr] = []
        operands: list[typed.Expr] = []
        for operand in _operands(new):
            if self.unit.storage.is_own_record(operand.type):
                effects, operand = self.address(operand)
                before += effects
            operands.append(strip_generic_cast(operand))
        function = _LIBRARY_FUNCTIONS[type(e)](e)
        if isinstance(function, lowering.MultiplyAdd):
            self.unit.remarks.append((e.span, partial(function.remark, self._target(function))))
            self.unit.keeps_state |= function.keeps_state(self.target)
        return self._result(function, before, operands, e.type, e.span)

    def _result(
        self, function: LibraryFunction, before: list[typed.Expr], operands: list[typed.Expr], t: Type, span: Span
    ) -> typed.Expr:
        if not isinstance(t, CoopMatrixType):
            return sequence([*before, self._call(function, operands, span)])
        out = self.temporary(self.unit.storage.type(t), span)
        return self.result(before, out, self._call(function, [elements(out), *operands], span))

    def map(self, e: typed.MatrixMap, new: typed.MatrixMap) -> typed.Expr:
        matrix, function, operands = _of(e.type), self.unit.version(e.function, self.target), len(e.operands)
        target, width = self._target(lowering.Fill(matrix)), element_count(function.type.result)
        if width > 1 and target.lane_layout(matrix).neighbours(width, e.down) is None:
            width, function = 1, self.unit.component_of(function, operands, e.down)
        down = e.down and width > 1
        if width == 1:  # a vectorized function computes neighbours in a row
            variances = (UNIFORM, LINEAR, *(VARYING for _ in e.operands), *(UNIFORM for _ in e.arguments))
            wide = self._wide(function, variances, matrix)
            width, function = (1, function) if wide is None else (target.width(matrix), wide)
        name = self.unit.calls.operand_name(function, 2 + operands)
        library_function = lowering.Map(matrix, name, operands, width, down)
        return self._by_operand(library_function, new.operands, new.arguments, e.type, e.span)

    def reduce(self, e: typed.MatrixReduce, new: typed.MatrixReduce) -> typed.Expr:
        source, result = _of(e.operand.type), _of(e.type)

        function, width = self.unit.version(e.function, self.target), self._target(lowering.Fill(source)).width(source)
        wide = []
        while width > 1 and e.how != BLOCKS:
            wide.append(self._wide(function, (VARYING, VARYING), source, width))
            width //= 2
        names = [self.unit.calls.operand_name(f, 2) for f in wide if f is not None]
        library_function = lowering.Reduce(
            source,
            self.unit.calls.operand_name(function, 2),
            e.how,
            result.rows,
            result.columns,
            tuple(names) if len(names) == len(wide) else (),
        )
        return self._by_operand(library_function, [new.operand], [], e.type, e.span)

    def _wide(
        self, function: typed.FunctionDecl, variances: Sequence[Variance], matrix: MatrixType, width: int | None = None
    ) -> typed.FunctionDecl | None:
        """Return a vectorized version of `function`, an operand of a map or reduction, or None if there is none.

        The vector width is `width` components, or the width of the vectors that store the matrix. Only layouts in which
        a lane holds the whole matrix row by row (`Whole`) are vectorized.
        """
        target = self._target(lowering.Fill(matrix))
        width = width or target.width(matrix)
        if type(target.lane_layout(matrix)) is not Whole or width == 1 or matrix.component.is_bits:
            return None
        if self.unit.half_bits and matrix.component.name == "f16":
            return None
        key = (function, tuple(variances), width)
        if key not in self.unit.wide:
            self.unit.wide[key] = vectorize(function, variances, width)
        return self.unit.wide[key]

    def _by_operand(
        self, function: LibraryFunction, matrices: list[typed.Expr], arguments: list[typed.Expr], t: Type, span: Span
    ) -> typed.Expr:
        """Return a call of a library function that has a function of the unit as an operand.

        `arguments` are further arguments for that function.
        """
        out = self.temporary(self.unit.storage.type(t), span)
        before: list[typed.Expr] = []
        pointers = [elements(out)]
        for matrix in matrices:
            effects, pointer = self.address(matrix)
            before += effects
            pointers.append(pointer)
        own = self._own(function)
        call = self.unit.calls.call(self.decl, self._target(own), own, pointers, span, arguments)
        return self.result(before, out, call)

    def prefetch(self, e: typed.MatrixPrefetch, new: typed.MatrixPrefetch) -> typed.Expr:
        """Keep only the side effects of the operands: devices of lowered routes have no prefetch instruction."""
        return sequence([new.pointer, new.stride, typed.Zero(e.span, e.type)])

    def zero(self, e: typed.Zero, new: typed.Zero) -> typed.Expr:
        if not isinstance(e.type, CoopMatrixType):
            return new
        value = typed.Zero(e.span, e.type.component)
        return self._result(lowering.Fill(matrix_type(e.type)), [], [value], e.type, e.span)

    def element(self, e: typed.MatrixElement, new: typed.MatrixElement) -> typed.Expr:
        index = typed.Convert(e.span, ULONG, ConvertKind.INT_TO_INT, new.index)
        before: list[typed.Expr] = []
        if isinstance(new.matrix, typed.CompoundLiteral):
            before, pointer = self.address(new.matrix.initializer)
        else:
            parts = member(new.matrix, 0)
            assert isinstance(parts.type, ArrayType)
            if parts.type.element == new.type:
                return typed.Index(e.span, new.type, e.place, parts, index)
            pointer = decayed(parts)
        assert isinstance(pointer.type, PointerType)
        pointer = sequence([*before, passed(pointer, replace(pointer.type, pointee=new.type))])
        return typed.Deref(e.span, new.type, e.place, typed.PointerAdd(e.span, pointer.type, pointer, index))

    # --- assignments -----------------------------------------------------------------------------

    def assign(self, e: typed.Assign, new: typed.Assign) -> typed.Expr:
        return self.assign_in_place(new.target, new.value, e.span) or new

    def compound_assign(self, e: typed.CompoundAssign, new: typed.CompoundAssign) -> typed.Expr:
        if not isinstance(e.computation, CoopMatrixType):
            return new
        matrix = _of(e.computation)
        scaled = e.op == "scalar_mul"
        function = lowering.ScalarMultiply(matrix) if scaled else lowering.Binary(matrix, e.op)
        before, target = self.stable_lvalue(new.target)
        value = new.value
        if not scaled:
            effects, value = self.address(value)
            before += effects
        out = elements(target)
        return sequence([*before, self._call(function, [out, out, value], e.span), load(target)])

    # --- other calls -----------------------------------------------------------------------------

    def call(self, e: typed.Call, new: typed.Call) -> typed.Expr:
        function = self.unit.version(e.function, self.target)
        if function is e.function:
            return new
        result: typed.Call = copied(new, function=function)
        self.unit.calls.note_call(self.decl, result)
        return result

    def builtin(self, e: typed.BuiltinCall, new: typed.BuiltinCall) -> typed.Expr:
        row = builtins.find(e.name)
        if row is None or not row.subgroup:
            return new
        replacement = substitute(self.target.route, e)
        arguments = new.arguments[: len(replacement.function.signature.parameters)]
        if not replacement.each:
            return passed(self._call(replacement.function, list(map(strip_generic_cast, arguments)), e.span), e.type)
        return self._each(replacement.function, arguments, e)

    def _each(self, function: LibraryFunction, arguments: list[typed.Expr], e: typed.BuiltinCall) -> typed.Expr:
        """Apply a library function of scalars to each component of the builtin's vectors.

        Arguments are held in temporaries, so that each is evaluated once.
        """
        vector = e.parameters[0]
        assert isinstance(vector, VectorType)
        before: list[typed.Expr] = []
        values: list[typed.Expr] = []
        for argument in arguments:
            effects, value = self.materialize(argument)
            before += effects
            values.append(value)
        items: list[typed.Expr] = []
        for i in range(vector.count):
            parts = [
                typed.ExtractSwizzle(a.span, vector.element, a, (i,)) if t == vector else a
                for t, a in zip(e.parameters, values, strict=False)
            ]
            items.append(self._call(function, parts, e.span))
        return sequence([*before, typed.VectorLiteral(e.span, e.type, items)])


def _of(t: Type) -> MatrixType:
    assert isinstance(t, CoopMatrixType)
    return matrix_type(t)


def _access(e: typed.MatrixLoad | typed.MatrixStore) -> tuple[str, Layout, bool, bool]:
    """Return (address space, layout, is volatile, has bounds) of an access; generic only if no cast shows more."""
    pointer = strip_generic_cast(e.pointer).type
    assert isinstance(pointer, PointerType)
    q = pointer.qualifiers
    return str(q.space), Layout(e.layout), q.volatile, e.bounds is not None


def _multiply_add(e: typed.MatrixMulAdd) -> LibraryFunction:
    return lowering.MultiplyAdd(_of(e.a.type), _of(e.b.type), _of(e.c.type), Operands(e.operands))


# class of operation -> function from the operation to its library function.
_LIBRARY_FUNCTIONS: dict[type, Callable[[Any], LibraryFunction]] = {
    typed.MatrixLoad: lambda e: narrow.load(_of(e.type), *_access(e)),
    typed.MatrixStore: lambda e: narrow.store(_of(e.matrix.type), *_access(e)),
    typed.MatrixFill: lambda e: lowering.Fill(_of(e.type)),
    typed.MatrixLength: lambda e: lowering.Length(_of(e.matrix)),
    typed.MatrixCoordinates: lambda e: lowering.Coord(_of(e.matrix)),
    typed.MatrixMulAdd: _multiply_add,
    typed.MatrixConvert: lambda e: lowering.conversion(_of(e.operand.type), _of(e.type), e.how),
    typed.MatrixBinary: lambda e: lowering.Binary(_of(e.type), e.op),
    typed.MatrixScale: lambda e: lowering.ScalarMultiply(_of(e.type)),
    typed.MatrixNegate: lambda e: lowering.Negate(_of(e.type)),
    typed.MatrixComponentWise: lambda e: lowering.ComponentWise(
        _of(e.type), e.name, tuple(isinstance(a.type, CoopMatrixType) for a in e.operands)
    ),
}


def _operands(e: typed.Expr) -> Iterator[typed.Expr]:
    """Yield the operands of an operation; bounds are flattened into their four expressions."""
    for child in children(e):
        if isinstance(child, typed.MatrixBounds):
            yield from _operands(child)
        elif isinstance(child, typed.Expr):
            yield child


_HANDLERS: dict[type, Callable[..., Any]] = {
    **dict.fromkeys(_LIBRARY_FUNCTIONS, _Function.operation),
    typed.Zero: _Function.zero,
    typed.MatrixElement: _Function.element,
    typed.Assign: _Function.assign,
    typed.CompoundAssign: _Function.compound_assign,
    typed.Call: _Function.call,
    typed.MatrixMap: _Function.map,
    typed.MatrixReduce: _Function.reduce,
    typed.MatrixPrefetch: _Function.prefetch,
}
_WITH_SUBGROUPS = {**_HANDLERS, typed.BuiltinCall: _Function.builtin}
