"""The lowering of Clang's matrix types to a library.

A matrix becomes a structure of its elements, and an expression becomes a call of the function that
`coopmat.matrix_types.expressions` makes. The leaves of an expression are read from their memory. The value is stored
directly to the destination of the assignment or store. An operand that is neither an object nor such an expression is
first stored to a temporary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..diagnostics import Span
from ..frontend import typed
from ..frontend.calls import CallGraph
from ..frontend.kernel_info import describe, sub_group_size
from ..frontend.nodes import walk
from ..frontend.typed import ConvertKind
from ..frontend.types import (
    PLAIN,
    ULONG,
    AddressSpace,
    ArrayType,
    ConstantMatrixType,
    Field,
    MatrixLayout,
    PointerType,
    RecordType,
    Type,
    VectorType,
)
from ..matrices.routes import LOWERED_ROUTES, Target
from ..passes import Library, Report
from ..passes.functions import (
    FunctionRewriter,
    Handler,
    Parts,
    Rewriter,
    copied,
    copies,
    element,
    elements,
    sequence,
)
from ..passes.library import LibraryCalls
from ..passes.storage import LIBRARY_SPAN, PlainTypes, load, strip_generic_cast
from . import trees as matrix_trees
from .expressions import Machine
from .overlaps import Overlaps
from .trees import Expression, Leaf, MemoryLeaf, ObjectLeaf, ScalarLeaf

# A tree's function is the same for all lowerings of the kernel's cooperative matrices.
_LOOPS = (typed.For, typed.While, typed.DoWhile)
_TARGET = Target(LOWERED_ROUTES["one"], 1)


@dataclass(frozen=True, slots=True)
class MatrixTypes:
    """The pass that lowers matrix types.

    machine: the properties of the device that the trees' cost model uses.
    contract: whether expressions are contracted regardless of the pragma.
    """

    library: Library
    machine: Machine = field(default_factory=Machine)
    contract: bool = False
    name: str = "matrix-types"
    removes: tuple[type, ...] = (ConstantMatrixType,)
    only: str = "has_matrix_types"

    def run(self, unit: typed.Unit, report: Report) -> typed.Unit:
        """Return the unit without matrix types; append its trees to the report."""
        return _Unit(unit, self, report).run()


class _Types(PlainTypes):
    """The structure types that replace matrix types."""

    own = ConstantMatrixType

    def make(self, t: Type) -> RecordType:
        assert isinstance(t, ConstantMatrixType)
        name = f"cm_{t.element}_{t.rows}x{t.columns}" + "_row_major" * (t.layout is MatrixLayout.ROW_MAJOR)
        result = RecordType("struct", name + f"_padded{t.padding}" * bool(t.padding), LIBRARY_SPAN)
        result.complete([Field("e", ArrayType(t.element, t.storage_elements), PLAIN, LIBRARY_SPAN)])
        return result


class _Unit:
    """The lowering of one unit."""

    def __init__(self, unit: typed.Unit, options: MatrixTypes, report: Report) -> None:
        self.unit, self.options, self.report = unit, options, report
        self.types = _Types()
        self.calls = LibraryCalls(options.library)
        # Functions that contain calls of trees.
        self.callers: set[typed.FunctionDecl] = set()
        self.functions = copies(unit)
        self.variables: dict[typed.VarDecl, typed.VarDecl] = {}

    def run(self) -> typed.Unit:
        unit, types = self.unit, self.types
        graph = CallGraph(unit)
        self.variables = {decl: copied(decl, type=types.type(decl.type)) for decl in unit.variables}
        for decl in unit.variables:
            if decl.initializer is not None:
                self.variables[decl].initializer = self._constant(decl.initializer)
        for function, new in self.functions.items():
            if function.is_kernel and function.info is None:
                uses_matrices = graph.uses(function, "matrices")
                new.info = describe(function, sub_group_size(function), uses_matrices)
            if new is not function and function.body is not None:
                _Function(self, function, new).rewrite()
            elif new is not function:
                new.type = types.type(function.type)  # type: ignore[assignment]
        library = self.calls.link()
        records = [*types.own_records, *library.records, *map(types.record_type, unit.records)]
        functions, variables = [*library.functions, *self.functions.values()], list(self.variables.values())
        result = replace(unit, functions=functions, variables=variables, records=records)
        self._mark_loops(result)
        return result

    def _mark_loops(self, unit: typed.Unit) -> None:
        """Mark the kernels that contain both loops and expressions of matrices."""
        graph = CallGraph(unit)
        loops = (f for f in unit.functions if any(isinstance(node, _LOOPS) for node in walk(f.body)))
        for kernel in graph.users(self.callers) & graph.users(loops):
            if kernel.is_kernel:
                kernel.attributes = {**kernel.attributes, "matrix_loops": True}

    def _constant(self, e: typed.Expr) -> typed.Expr:
        """Return the lowered initializer of a variable of static storage."""
        variables = self.variables

        def reference(old: typed.VarRef, new: typed.VarRef) -> typed.Expr:
            return copied(new, decl=variables.get(old.decl, old.decl))  # type: ignore[no-any-return]

        handlers: dict[type, Handler] = {typed.VarRef: reference, typed.Aggregate: _aggregate}
        return Rewriter(handlers, self.types.type).rewrite(e)  # type: ignore[no-any-return]


class _Function(FunctionRewriter):
    """The lowering of one function; each expression of matrices is lowered as a whole, from its leaves."""

    def __init__(self, unit: _Unit, source: typed.FunctionDecl, decl: typed.FunctionDecl) -> None:
        super().__init__(decl, unit.types.type, unit.functions)
        self.unit, self.source = unit, source
        # id() of an expression -> its tree
        self._expressions: dict[int, Expression] = {}
        self._overlaps: Overlaps | None = None

    def handlers(self) -> Mapping[type, Callable[..., Any]]:
        return _HANDLERS

    def parts(self) -> Mapping[type, Parts]:
        return {
            **dict.fromkeys(matrix_trees.TREES, self._leaves),
            typed.Assign: lambda e: [e.target, *self._leaves(e, e.value)] if matrix_trees.is_tree(e.value) else None,
            typed.CompoundAssign: self._compound_parts,
            typed.MatrixMemoryStore: lambda e: [e.pointer, e.stride, *self._leaves(e, e.matrix)],
        }

    def static(self, decl: typed.VarDecl) -> typed.VarDecl:
        return self.unit.variables.get(decl, decl)

    # --- leaves ----------------------------------------------------------------------------------

    def _leaves(self, e: typed.Expr, value: typed.Expr | None = None) -> list[typed.Expr]:
        """Return the expressions of the leaves of `value` (by default `e`), which the expression `e` calculates."""
        tree = self._expressions[id(e)] = matrix_trees.expression(value or e)
        target = e.target if isinstance(e, typed.CompoundAssign) else None
        leaves = (leaf for leaf in tree.leaves if not isinstance(leaf, ObjectLeaf) or leaf.expression is not target)
        return [part for leaf in leaves for part in _leaf_parts(leaf)]

    def _compound_parts(self, e: typed.CompoundAssign) -> list[typed.Expr] | None:
        """Return the expressions that a compound assignment evaluates; None if it is not an assignment to a matrix."""
        if not isinstance(e.computation, ConstantMatrixType):
            return None
        left = typed.Load(e.span, e.computation, e.target)
        if e.op == "product":
            value: typed.Expr = typed.MatrixProduct(e.span, e.computation, left, e.value)
        else:
            value = typed.MatrixElementwise(e.span, e.computation, e.op, left, e.value)
        return [e.target, *self._leaves(e, value)]

    def _arguments(self, e: typed.Expr, new: list[typed.Expr], target: typed.LValue | None = None) -> _Arguments:
        """Return the arguments for the leaves of the expression `e`, whose lowered expressions are `new`.

        `target` is the target of a compound assignment.
        """
        result = _Arguments(self._expressions.pop(id(e)))
        parts = iter(new)
        for leaf in result.expression.leaves:
            if isinstance(leaf, ScalarLeaf):
                first = next(parts)
                result.add([_as_index(first) if leaf.index else first])
            elif isinstance(leaf, MemoryLeaf):
                result.add(_memory(leaf, next(parts), next(parts)), pointer=True)
            else:
                is_target = isinstance(e, typed.CompoundAssign) and leaf.expression is e.target
                inner = target if is_target and target is not None else next(parts)
                effects, pointer = self._object(leaf.expression, inner)
                result.before += effects
                result.add([pointer], pointer=True)
        return result

    def _object(self, source: typed.Expr, new: typed.Expr) -> tuple[list[typed.Expr], typed.Expr]:
        """Return (effects, pointer to the elements) of an object or an rvalue.

        Rvalues are stored to a temporary. Members of packed structures need not be aligned for the pointer, and are
        copied.
        """
        if not isinstance(new, typed.LValue):
            return self.address(new)
        if isinstance(new, typed.CompoundLiteral):
            return self.address(new.initializer)
        if _is_packed(source):
            target = self.temporary(new.type, new.span)
            return [typed.Assign(new.span, new.type, target, load(new))], elements(target)
        return [], elements(_in_named_space(new))

    def _call(
        self,
        args: _Arguments,
        out: ObjectLeaf | MemoryLeaf | ConstantMatrixType,
        to: Sequence[typed.Expr],
        span: Span,
        *,
        separate: bool,
    ) -> typed.Call:
        """Return a call of the function that calculates an expression; `to` has the arguments of the destination."""
        options, contract = self.unit.options, bool(self.decl.attributes.get("fp_contract", True))
        tree = args.expression.tree(
            args.spaces,
            (out, _space(to[0])),
            machine=options.machine,
            contract=options.contract or contract,
            separate=separate,
        )
        self.unit.report.trees.append((span, tree))
        self.unit.callers.add(self.decl)
        return self.unit.calls.call(self.decl, _TARGET, tree, [*to, *args.arguments], span)

    def _is_separate(self, out: ObjectLeaf | MemoryLeaf, args: _Arguments) -> bool:
        """Return whether the destination overlaps none of the leaves."""
        if self._overlaps is None:
            self._overlaps = Overlaps(self.source)
        return self._overlaps.separate(out, args.expression.leaves)

    # --- expressions of matrices -----------------------------------------------------------------

    def tree(self, e: typed.Expr, new: list[typed.Expr]) -> typed.Expr:
        """Lower an expression of matrices whose value is used."""
        return self._value(e, e.type, self._arguments(e, new), e.span)

    def _value(self, e: typed.Expr, t: Type, args: _Arguments, span: Span) -> typed.Expr:
        """Store the value of an expression to a new object, and return an expression that reads the object."""
        assert isinstance(t, ConstantMatrixType)
        result = self.temporary(self.unit.types.type(t), span)
        return self.result(args.before, result, self._call(args, t, [elements(result)], span, separate=True))

    def assign(self, e: typed.Assign, new: typed.Assign | list[Any]) -> typed.Expr:
        """Lower an assignment to a matrix."""
        if not isinstance(new, list):
            return new
        return self._assign(e, e.value.span, self._arguments(e, new[1:]), *self.stable_lvalue(new[0]))

    def compound_assign(self, e: typed.CompoundAssign, new: typed.CompoundAssign | list[Any]) -> typed.Expr:
        """Lower a compound assignment to a matrix."""
        if not isinstance(new, list):
            return new
        before, target = self.stable_lvalue(new[0])
        return self._assign(e, e.span, self._arguments(e, new[1:], target), before, target)

    def _assign(
        self,
        e: typed.Assign | typed.CompoundAssign,
        span: Span,
        args: _Arguments,
        before: list[typed.Expr],
        target: typed.LValue,
    ) -> typed.Expr:
        """Return an assignment: the value is stored directly to the object, unless the object may be unaligned."""
        if _is_packed(e.target):
            value = self._value(e, e.target.type, args, span)
            return sequence([*before, typed.Assign(e.span, target.type, target, value)])
        leaf = ObjectLeaf(e.target)
        to = [elements(_in_named_space(target))]
        call = self._call(args, leaf, to, span, separate=self._is_separate(leaf, args))
        return sequence([*before, *args.before, call, load(target)])

    def store(self, e: typed.MatrixMemoryStore, new: list[typed.Expr]) -> typed.Expr:
        """Lower a store of a matrix through a pointer."""
        args = self._arguments(e, new[2:])
        leaf = MemoryLeaf(e.pointer, e.stride, e.row_major)
        to = _memory(leaf, new[0], new[1])
        call = self._call(args, leaf, to, e.matrix.span, separate=self._is_separate(leaf, args))
        return sequence([*args.before, call])

    # --- elements and vectors --------------------------------------------------------------------

    def subscript(self, e: typed.MatrixSubscript, new: typed.MatrixSubscript) -> typed.Expr:
        """Lower an element of a matrix to an element of the array in its structure."""
        matrix = e.matrix.type
        assert isinstance(matrix, ConstantMatrixType)
        by_rows = matrix.layout is MatrixLayout.ROW_MAJOR
        major, minor = (new.row, new.column) if by_rows else (new.column, new.row)
        at = _offset(major, matrix.stride, minor)
        if not isinstance(new.matrix, typed.CompoundLiteral):
            return copied(element(new.matrix, at), place=e.place)  # type: ignore[no-any-return]
        before, pointer = self.address(new.matrix.initializer)
        first = sequence([*before, pointer])
        return typed.Deref(e.span, e.type, e.place, typed.PointerAdd(e.span, first.type, first, at))

    def to_vector(self, e: typed.VectorOfMatrix, new: typed.VectorOfMatrix) -> typed.Expr:
        """Lower a cast of a matrix to a vector or scalar."""
        before: list[typed.Expr] = []
        value = new.operand
        while isinstance(value, typed.Comma):
            before.append(value.left)
            value = value.right
        if isinstance(value, typed.Load):
            effects, place = self.stable_lvalue(value.operand)
            before += effects
        else:
            place = self.temporary(value.type, value.span)
            before.append(typed.Assign(value.span, value.type, place, value))
        parts: list[typed.Expr] = [load(element(place, _number(e, i))) for i in _in_memory(e.operand.type)]
        is_vector = isinstance(e.type, VectorType)
        return sequence([*before, typed.VectorLiteral(e.span, e.type, parts) if is_vector else parts[0]])

    def of_vector(self, e: typed.MatrixOfVector, new: typed.MatrixOfVector) -> typed.Expr:
        """Lower a cast of a vector to a matrix."""
        before, vector = self.materialize(new.operand)
        result = self.temporary(new.type, e.span)
        for number, i in enumerate(_in_memory(e.type)):
            target = element(result, _number(e, i))
            part = vector
            if isinstance(vector.type, VectorType):
                part = typed.ExtractSwizzle(e.span, target.type, vector, (number,))
            before.append(typed.Assign(e.span, target.type, target, part))
        return sequence([*before, load(result)])

    def aggregate(self, e: typed.Aggregate, new: typed.Aggregate) -> typed.Expr:
        """Lower the initializer of a matrix."""
        return _aggregate(e, new)


_HANDLERS: dict[type, Callable[..., Any]] = {
    **dict.fromkeys(matrix_trees.TREES, _Function.tree),
    typed.Assign: _Function.assign,
    typed.CompoundAssign: _Function.compound_assign,
    typed.MatrixMemoryStore: _Function.store,
    typed.MatrixSubscript: _Function.subscript,
    typed.VectorOfMatrix: _Function.to_vector,
    typed.MatrixOfVector: _Function.of_vector,
    typed.Aggregate: _Function.aggregate,
}


@dataclass(slots=True)
class _Arguments:
    """The arguments of a tree's function.

    before: expressions that must be evaluated before the call.
    spaces: the address spaces of the leaves' pointers; None for scalars.
    """

    expression: Expression
    before: list[typed.Expr] = field(default_factory=list)
    arguments: list[typed.Expr] = field(default_factory=list)
    spaces: list[AddressSpace | None] = field(default_factory=list)

    def add(self, values: Sequence[typed.Expr], *, pointer: bool = False) -> None:
        """Add the arguments of a leaf: a scalar, or a pointer and perhaps its stride."""
        self.arguments += values
        self.spaces.append(_space(values[0]) if pointer else None)


def _leaf_parts(leaf: Leaf) -> list[typed.Expr]:
    """Return the expressions that must be evaluated for a leaf."""
    return [leaf.pointer, leaf.stride] if isinstance(leaf, MemoryLeaf) else [leaf.expression]


def _memory(leaf: MemoryLeaf, pointer: typed.Expr, stride: typed.Expr) -> list[typed.Expr]:
    """Return the pointer, in its named address space if that is known, and the stride if it is not constant."""
    return [strip_generic_cast(pointer), *([] if isinstance(leaf.stride, typed.IntConst) else [stride])]


def _space(pointer: typed.Expr) -> AddressSpace:
    """Return the address space of a pointer."""
    assert isinstance(pointer.type, PointerType)
    return pointer.type.qualifiers.space


def _in_named_space(place: typed.LValue) -> typed.LValue:
    """Return an lvalue in its named address space, if that is known."""
    if not isinstance(place, typed.Deref):
        return place
    pointer = strip_generic_cast(place.pointer)
    if pointer is place.pointer:
        return place
    assert isinstance(pointer.type, PointerType)
    return typed.Deref(place.span, place.type, pointer.type.qualifiers, pointer)


def _is_packed(e: typed.Expr) -> bool:
    """Return whether an expression is in a structure that may be unaligned."""
    while isinstance(e, (typed.Member, typed.Index)):
        record = e.base.type
        if isinstance(record, RecordType) and isinstance(e, typed.Member):
            item = (record.fields or ())[e.index]
            if record.packed or item.packed:
                return True
        e = e.base
    return False


def _as_index(e: typed.Expr) -> typed.Expr:
    """Return an integer converted to ulong."""
    if isinstance(e, typed.IntConst):
        return typed.IntConst(e.span, ULONG, e.value)
    return e if e.type == ULONG else typed.Convert(e.span, ULONG, ConvertKind.INT_TO_INT, e)


def _number(e: typed.Expr, value: int) -> typed.Expr:
    """Return a ulong constant at the position of an expression."""
    return typed.IntConst(e.span, ULONG, value)


def _offset(line: typed.Expr, stride: int, inside: typed.Expr) -> typed.Expr:
    """Return the index of an element; `stride` elements are between one line (column, row) and the next."""
    if isinstance(line, typed.IntConst) and isinstance(inside, typed.IntConst):
        return _number(line, line.value * stride + inside.value)
    start = _as_index(line)
    if isinstance(line, typed.IntConst):
        start = _number(line, line.value * stride)
    elif stride > 1:
        start = typed.Binary(line.span, ULONG, "mul", start, _number(line, stride))
    for one, other in ((start, inside), (inside, start)):
        if isinstance(one, typed.IntConst) and one.value == 0:
            return _as_index(other)
    return typed.Binary(line.span, ULONG, "add", start, _as_index(inside))


def _in_memory(t: Type) -> range:
    """Return the indices of the elements of a matrix of one row or column."""
    assert isinstance(t, ConstantMatrixType)
    lines = t.columns if t.layout is MatrixLayout.COLUMN_MAJOR else t.rows
    return range(0, t.stride * lines, t.stride) if lines > 1 else range(t.rows * t.columns)


def _aggregate(e: typed.Aggregate, new: typed.Aggregate) -> typed.Expr:
    """Return a matrix's initializer as the initializer of the array in its structure; return others unchanged."""
    if not isinstance(e.type, ConstantMatrixType):
        return new
    assert isinstance(new.type, RecordType) and new.type.fields is not None
    inner = typed.Aggregate(e.span, new.type.fields[0].type, new.items)
    return typed.Aggregate(e.span, new.type, [(0, inner)])
