"""Cooperative matrices by a library: each is a plain private object, and operations are calls of library functions.

A call's result goes to a private object of its own, or straight to the one that it is assigned to. Under a strategy
whose subgroup is not the device's, builtins of the subgroup are calls of the library, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..diagnostics import Span
from ..frontend import builtins, typed
from ..frontend.matrix_terms import matrix_type
from ..frontend.typed import ConvertKind
from ..frontend.types import (
    ULONG,
    ArrayType,
    CoopMatrixType,
    PointerType,
    Type,
    VectorType,
)
from ..matrices import half_bits, lowering
from ..matrices.instance import Instance
from ..matrices.strategies import Strategy, Target
from ..matrices.variants import Layout, Operands
from . import Library, Report
from .calls import CallGraph
from .functions import FunctionRewriter, elements, sequence
from .library import LibraryCalls, passed
from .nodes import copied
from .pointers import decayed, load, member, named_space
from .storage import Storage, names_matrix
from .sub_groups import SubGroups, substitute


@dataclass(frozen=True, slots=True)
class Matrices:
    """The pass. `asked` is --sub-group-size; `half_bits`: the device has halves in memory only."""

    strategy: Strategy
    library: Library
    asked: int | None = None
    half_bits: bool = False
    name: str = "matrices"

    def run(self, unit: typed.Unit, report: Report) -> typed.Unit:
        graph = CallGraph(unit, names_matrix)
        groups = SubGroups(unit, graph, self.strategy, self.asked)
        result = _Unit(unit, graph, groups, self).run()
        report.warnings += groups.warnings
        return result


class _Unit:
    """A unit on its way. Functions become one for each target that kernels call them with."""

    def __init__(self, unit: typed.Unit, graph: CallGraph, groups: SubGroups, options: Matrices) -> None:
        self.unit, self.graph, self.groups = unit, graph, groups
        self.storage = Storage(options.strategy, groups.smallest_size, options.half_bits)
        self.half_bits = options.half_bits
        self.calls = LibraryCalls(options.library)
        self._versions: dict[tuple[typed.FunctionDecl, Target], typed.FunctionDecl] = {}
        # Callees first.
        self._made: list[typed.FunctionDecl] = []

    def run(self) -> typed.Unit:
        roots = self.unit.kernels or [f for f in self.unit.functions if f.body is not None]
        new = {decl: self.version(decl, self.groups.target(decl)) for decl in roots}
        for decl in self.unit.kernels:
            self.groups.settle(new[decl], decl)
        order = {decl: number for number, decl in enumerate(self.unit.functions)}
        sources = {made: source for (source, _), made in self._versions.items()}
        functions = sorted(sources, key=lambda made: order[sources[made]])
        objects = self.calls.pass_scratch(self._made)
        library = self.calls.link()
        records = [*self.storage.made, *library.records, *map(self.storage.record_type, self.unit.records)]
        functions, variables = [*library.functions, *functions], [*self.unit.variables, *objects]
        return replace(self.unit, functions=functions, variables=variables, records=records, has_matrices=False)

    def version(self, decl: typed.FunctionDecl, target: Target) -> typed.FunctionDecl:
        """What the function becomes where it is called by a kernel of this target."""
        if decl.body is None:
            return decl
        known = self._versions.get((decl, target))
        if known is None:
            known = self._versions[decl, target] = self._new_version(decl, target)
        return known

    def _changes(self, decl: typed.FunctionDecl) -> bool:
        graph = self.graph
        return graph.uses(decl, "names_matrices") or (self.groups.replaces and graph.uses(decl, "subgroups"))

    def _new_version(self, decl: typed.FunctionDecl, target: Target) -> typed.FunctionDecl:
        for callee in self.graph.facts(decl).calls:
            self.version(callee, target)
        if not self._changes(decl):
            return copied(decl) if decl.is_kernel else decl
        new: typed.FunctionDecl = copied(decl)
        if any(map(names_matrix, (decl.type.result, *decl.type.parameters))):
            # Matrices become values only where everything is in one function.
            new.attributes = {n: v for n, v in decl.attributes.items() if n != "noinline"} | {"always_inline": True}
        _Function(self, new, target).rewrite()
        self._made.append(new)
        return new


class _Function(FunctionRewriter):
    """A function on its way, for one target."""

    def __init__(self, unit: _Unit, decl: typed.FunctionDecl, target: Target) -> None:
        super().__init__(decl, unit.storage.type)
        self.unit, self.target = unit, target

    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        return _WITH_SUBGROUPS if self.unit.groups.replaces else _HANDLERS

    def _call(self, instance: Instance, arguments: Sequence[typed.Expr], span: Span) -> typed.Call:
        return self.unit.calls.call(self.decl, self.target, self._own(instance), arguments, span)

    def _own(self, instance: Any) -> Any:
        return half_bits.in_bits(instance) if self.unit.half_bits else instance

    def _operation(
        self, instance: Instance, operands: Sequence[typed.Expr], e: typed.Expr, out: bool = True
    ) -> typed.Expr:
        """A call, with matrices among its operands; where there is an `out`, the value of that."""
        before: list[typed.Expr] = []
        arguments: list[typed.Expr] = []
        for operand in operands:
            if self.unit.storage.is_made(operand.type):
                effects, operand = self.address(operand)
                before += effects
            arguments.append(operand)
        if not out:
            return sequence([*before, self._call(instance, arguments, e.span)])
        result = self.temporary(self.unit.storage.type(e.type), e.span)
        return self.result(before, result, self._call(instance, [elements(result), *arguments], e.span))

    # --- operations ------------------------------------------------------------------------------

    def load(self, e: typed.MatrixLoad, new: typed.MatrixLoad) -> typed.Expr:
        matrix = matrix_type(_matrix(e.type))
        pointer, access = _memory(new)
        return self._operation(lowering.Load(matrix, *access), [pointer, *_place(new)], e)

    def store(self, e: typed.MatrixStore, new: typed.MatrixStore) -> typed.Expr:
        matrix = matrix_type(_matrix(e.matrix.type))
        pointer, access = _memory(new)
        operands = [pointer, new.matrix, *_place(new)]
        return self._operation(lowering.Store(matrix, *access), operands, e, out=False)

    def fill(self, e: typed.MatrixFill, new: typed.MatrixFill) -> typed.Expr:
        return self._operation(lowering.Fill(matrix_type(_matrix(e.type))), [new.value], e)

    def zero(self, e: typed.Zero, new: typed.Zero) -> typed.Expr:
        if not isinstance(e.type, CoopMatrixType):
            return new
        value = typed.Zero(e.span, e.type.component)
        return self._operation(lowering.Fill(matrix_type(e.type)), [value], e)

    def length(self, e: typed.MatrixLength, new: typed.MatrixLength) -> typed.Expr:
        return self._call(lowering.Length(matrix_type(e.matrix)), [], e.span)

    def coordinates(self, e: typed.MatrixCoordinates, new: typed.MatrixCoordinates) -> typed.Expr:
        return self._call(lowering.Coord(matrix_type(e.matrix)), [new.index], e.span)

    def multiply_add(self, e: typed.MatrixMulAdd, new: typed.MatrixMulAdd) -> typed.Expr:
        a, b, c = (matrix_type(_matrix(m.type)) for m in (e.a, e.b, e.c))
        instance = lowering.MultiplyAdd(a, b, c, Operands(e.operands))
        return self._operation(instance, [new.a, new.b, new.c], e)

    def convert(self, e: typed.MatrixConvert, new: typed.MatrixConvert) -> typed.Expr:
        to = matrix_type(_matrix(e.type)).component
        instance = lowering.Convert(matrix_type(_matrix(e.operand.type)), to, e.rounding, e.saturate)
        return self._operation(instance, [new.operand], e)

    def binary(self, e: typed.MatrixBinary, new: typed.MatrixBinary) -> typed.Expr:
        return self._operation(lowering.Binary(matrix_type(_matrix(e.type)), e.op), [new.left, new.right], e)

    def scale(self, e: typed.MatrixScale, new: typed.MatrixScale) -> typed.Expr:
        instance = lowering.ScalarMultiply(matrix_type(_matrix(e.type)))
        return self._operation(instance, [new.matrix, new.scalar], e)

    def negate(self, e: typed.MatrixNegate, new: typed.MatrixNegate) -> typed.Expr:
        return self._operation(lowering.Negate(matrix_type(_matrix(e.type))), [new.operand], e)

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
        return self.straight(new.target, new.value, e.span) or new

    def compound_assign(self, e: typed.CompoundAssign, new: typed.CompoundAssign) -> typed.Expr:
        if not isinstance(e.computation, CoopMatrixType):
            return new
        matrix = matrix_type(e.computation)
        scaled = e.op == "scalar_mul"
        instance = lowering.ScalarMultiply(matrix) if scaled else lowering.Binary(matrix, e.op)
        before, target = self.once(new.target)
        value = new.value
        if not scaled:
            effects, value = self.address(value)
            before += effects
        out = elements(target)
        return sequence([*before, self._call(instance, [out, out, value], e.span), load(target)])

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
        found = substitute(self.target.strategy, e)
        arguments = new.arguments[: len(found.instance.signature.parameters)]
        if not found.each:
            return self._call(found.instance, list(map(named_space, arguments)), e.span)
        return self._each(found.instance, arguments, e)

    def _each(self, instance: Instance, arguments: list[typed.Expr], e: typed.BuiltinCall) -> typed.Expr:
        """A function of scalars for each component; what is evaluated once goes to variables."""
        vector = e.parameters[0]
        assert isinstance(vector, VectorType)
        before: list[typed.Expr] = []
        known: list[typed.Expr] = []
        for argument in arguments:
            effects, value = self.held(argument)
            before += effects
            known.append(value)
        items: list[typed.Expr] = []
        for i in range(vector.count):
            parts = [
                typed.ExtractSwizzle(a.span, vector.element, a, (i,)) if t == vector else a
                for t, a in zip(e.parameters, known, strict=False)
            ]
            items.append(self._call(instance, parts, e.span))
        return sequence([*before, typed.VectorLiteral(e.span, e.type, items)])


_HANDLERS: dict[type, Callable[..., Any]] = {
    typed.MatrixLoad: _Function.load,
    typed.MatrixStore: _Function.store,
    typed.MatrixFill: _Function.fill,
    typed.Zero: _Function.zero,
    typed.MatrixLength: _Function.length,
    typed.MatrixCoordinates: _Function.coordinates,
    typed.MatrixMulAdd: _Function.multiply_add,
    typed.MatrixConvert: _Function.convert,
    typed.MatrixBinary: _Function.binary,
    typed.MatrixScale: _Function.scale,
    typed.MatrixNegate: _Function.negate,
    typed.MatrixElement: _Function.element,
    typed.Assign: _Function.assign,
    typed.CompoundAssign: _Function.compound_assign,
    typed.Call: _Function.call,
}
_WITH_SUBGROUPS = {**_HANDLERS, typed.BuiltinCall: _Function.builtin}


def _matrix(t: Type) -> CoopMatrixType:
    assert isinstance(t, CoopMatrixType)
    return t


def _memory(new: typed.MatrixLoad | typed.MatrixStore) -> tuple[typed.Expr, tuple[str, Layout, bool, bool]]:
    """The pointer as far as its address space shows, and which instance it needs."""
    pointer = named_space(new.pointer)
    assert isinstance(pointer.type, PointerType)
    q = pointer.type.qualifiers
    return pointer, (str(q.space), Layout(new.layout), q.volatile, new.bounds is not None)


def _place(new: typed.MatrixLoad | typed.MatrixStore) -> list[typed.Expr]:
    """What tells of the memory after its address."""
    b = new.bounds
    return [new.stride] if b is None else [new.stride, b.row, b.column, b.rows, b.columns]
