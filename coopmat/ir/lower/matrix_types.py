"""Expressions of Clang's matrix types as calls of the library's trees (`coopmat.matrices.trees`).

An object of such a type is handled in memory, as a record is. Leaves are read where they lie, and a tree stores
straight to where its value goes; everything else is put into a private object first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llvmlite import ir

from ...diagnostics import InternalError, Span
from ...frontend import matrix_trees, typed
from ...frontend.matrix_trees import MemoryLeaf, ObjectLeaf, ScalarLeaf
from ...frontend.typed import ConvertKind
from ...frontend.types import ULONG, AddressSpace, ConstantMatrixType, MatrixLayout, Type, VectorType
from ...matrices import lowering
from ...matrices.strategies import STRATEGIES, Target
from ...matrices.trees import Tree
from ..type_map import I32, I64, undefined
from . import conversions, expressions, places
from .address_spaces import known_pointer
from .context import FunctionContext, space_of
from .library_functions import declare

# Trees are the same functions whatever the cooperative matrices of a kernel run as.
_TARGET = Target(STRATEGIES["one"], 1)


class TreeFunctions:
    """The trees that a module calls. `functions` are by target, of which there is none, and name; `told` are the trees
    in the order of their calls, with the places of their expressions."""

    def __init__(self) -> None:
        self.functions: dict[tuple[Target | None, str], ir.Function] = {}
        self.told: list[tuple[Span, Tree]] = []
        self._trees: dict[str, Tree] = {}

    def library_text(self, target: Target | None, names: Iterable[str]) -> str:
        """OpenCL C that defines these functions."""
        return lowering.instantiate(_TARGET, [self._trees[name] for name in names])

    def call(self, ctx: FunctionContext, tree: Tree, arguments: Sequence[ir.Value], span: Span) -> None:
        name = tree.function_name
        function = self.functions.get((None, name))
        if function is None:
            function = self.functions[None, name] = declare(ctx.module, tree, _TARGET)
            if tree.separate:
                function.args[0].attributes.add("noalias")
            self._trees[name] = tree
        self.told.append((span, tree))
        ctx.uses.calls.add(function)
        ctx.builder.call(function, arguments)


# --- what the lowering of expressions and statements asks for ---------------------------------------


def value(ctx: FunctionContext, e: typed.Expr) -> places.Operand:
    """The value of a tree, in an object of its own."""
    result = places.temporary(ctx, e.type)
    initialize(ctx, result, e)
    return result


def initialize(ctx: FunctionContext, place: places.MemoryPlace, e: typed.Expr) -> None:
    """The value of a tree, into an object that the tree does not read."""
    call = _Call(ctx, e)
    call.to_object(place, _matrix(e.type), separate=True)


def assign(ctx: FunctionContext, target: typed.LValue, e: typed.Expr) -> places.MemoryPlace:
    """A tree, straight into the object that it is assigned to."""
    call = _Call(ctx, e)
    place = places.memory(ctx, target)
    call.to_object(place, ObjectLeaf(target), separate=call.is_separate(ObjectLeaf(target)))
    return place


def compound_assign(ctx: FunctionContext, e: typed.CompoundAssign) -> places.MemoryPlace:
    place = places.memory(ctx, e.target)
    call = _Call(ctx, _compound(e), {id(e.target): place})
    call.to_object(place, ObjectLeaf(e.target), separate=call.is_separate(ObjectLeaf(e.target)))
    return place


def memory_store(ctx: FunctionContext, e: typed.MatrixMemoryStore) -> None:
    call = _Call(ctx, e.matrix)
    leaf = MemoryLeaf(e.pointer, e.stride, e.row_major)
    pointer, *stride = _memory(ctx, leaf)
    call.make(leaf, pointer, stride, separate=call.is_separate(leaf))


def vector_of_matrix(ctx: FunctionContext, e: typed.VectorOfMatrix) -> ir.Value:
    matrix = _matrix(e.operand.type)
    place = expressions.operand(ctx, e.operand)
    assert isinstance(place, places.MemoryPlace)
    align = min(place.align, ctx.types.align(matrix))
    step = _step(matrix)
    if step == 1 or not isinstance(e.type, VectorType):
        return ctx.builder.load(place.pointer, typ=ctx.types.of(e.type), align=align, volatile=place.volatile)
    result: ir.Value = undefined(ctx.types.of(e.type))
    scalar = ctx.types.of(matrix.element)
    for i in range(e.type.count):
        at = ctx.builder.element(place.pointer, scalar, [ir.Constant(I64, i * step)])
        part = ctx.builder.load(at, typ=scalar, align=align, volatile=place.volatile)
        result = ctx.builder.insert_element(result, part, ir.Constant(I32, i))
    return result


def matrix_of_vector(ctx: FunctionContext, e: typed.MatrixOfVector) -> places.MemoryPlace:
    matrix = _matrix(e.type)
    vector = expressions.rvalue(ctx, e.operand)
    place = places.temporary(ctx, matrix)
    step = _step(matrix)
    if step == 1 or not isinstance(e.operand.type, VectorType):
        ctx.builder.store(vector, place.pointer, align=place.align)
        return place
    for i in range(e.operand.type.count):
        at = ctx.builder.element(place.pointer, ctx.types.of(matrix.element), [ir.Constant(I64, i * step)])
        ctx.builder.store(ctx.builder.extract_element(vector, ir.Constant(I32, i)), at, align=place.align)
    return place


def _step(matrix: ConstantMatrixType) -> int:
    """Elements from one to the next of a matrix of one row or column."""
    by_rows = matrix.layout is MatrixLayout.ROW_MAJOR
    return matrix.stride if (matrix.columns if by_rows else matrix.rows) == 1 else 1


def element(ctx: FunctionContext, matrix: places.MemoryPlace, row: ir.Value, column: ir.Value) -> places.MemoryPlace:
    """The element of the object; indices are 64 bits wide."""
    t = _matrix(matrix.type)
    by_rows = t.layout is MatrixLayout.ROW_MAJOR
    major, minor = (row, column) if by_rows else (column, row)
    pointer = ctx.builder.element(matrix.pointer, ctx.types.of(t), [places.ZERO, number(ctx, major, t.stride, minor)])
    return places.MemoryPlace(pointer, t.element, min(matrix.align, ctx.types.align(t.element)), matrix.volatile)


def number(ctx: FunctionContext, line: ir.Value, length: int, at: ir.Value) -> ir.Value:
    """Of an element `at` a line, where lines are `length` apart."""
    if isinstance(line, ir.Constant):
        start = ir.Constant(I64, line.constant * length)
        if isinstance(at, ir.Constant):
            return ir.Constant(I64, start.constant + at.constant)
    else:
        start = ctx.builder.binary("mul", line, ir.Constant(I64, length))
    return ctx.builder.binary("add", start, at)


def index(ctx: FunctionContext, e: typed.Expr) -> ir.Value:
    """An integer as 64 bits."""
    return conversions.convert(ctx, ConvertKind.INT_TO_INT, expressions.rvalue(ctx, e), e.type, ULONG)


# --- trees -----------------------------------------------------------------------------------------


def _compound(e: typed.CompoundAssign) -> typed.Expr:
    """`target op value`."""
    t = _matrix(e.target.type)
    left = typed.Load(e.span, t, e.target)
    if e.op == "product":
        return typed.MatrixProduct(e.span, t, left, e.value)
    return typed.MatrixElementwise(e.span, t, e.op, left, e.value)


class _Call:
    """Of the tree of a value, whose leaves are evaluated here. `known` are the places of objects, by the identities of
    the expressions that name them."""

    def __init__(self, ctx: FunctionContext, e: typed.Expr, known: dict[int, places.MemoryPlace] | None = None) -> None:
        self.ctx, self.span = ctx, e.span
        self.known = known or {}
        self.expression = matrix_trees.expression(e)
        self.arguments: list[ir.Value] = []
        self.spaces: list[AddressSpace | None] = []
        for leaf in self.expression.leaves:
            values = self.leaf(leaf)
            self.arguments += values
            self.spaces.append(None if isinstance(leaf, ScalarLeaf) else space_of(values[0]))

    def leaf(self, leaf: matrix_trees.Leaf) -> list[ir.Value]:
        if isinstance(leaf, ScalarLeaf):
            return [index(self.ctx, leaf.expression) if leaf.index else expressions.rvalue(self.ctx, leaf.expression)]
        if isinstance(leaf, MemoryLeaf):
            return _memory(self.ctx, leaf)
        place = self.known.get(id(leaf.expression)) or self.place(leaf.expression)
        assert isinstance(place, places.MemoryPlace)
        if place.align < self.ctx.types.align(leaf.matrix):
            place, source = places.temporary(self.ctx, leaf.matrix), place
            places.copy(self.ctx, place, source)
        return [known_pointer(place.pointer)]

    def place(self, e: typed.Expr) -> places.Operand:
        if isinstance(e, typed.LValue):
            return places.memory(self.ctx, e)
        return expressions.operand(self.ctx, e)

    def is_separate(self, out: ObjectLeaf | MemoryLeaf) -> bool:
        return self.ctx.overlaps.separate(out, self.expression.leaves)

    def to_object(self, place: places.MemoryPlace, leaf: ObjectLeaf | ConstantMatrixType, *, separate: bool) -> None:
        if place.align >= self.ctx.types.align(place.type):
            self.make(leaf, known_pointer(place.pointer), [], separate=separate)
            return
        result = places.temporary(self.ctx, place.type)
        self.make(_matrix(place.type), result.pointer, [], separate=True)
        places.copy(self.ctx, place, result)

    def make(
        self,
        out: ObjectLeaf | MemoryLeaf | ConstantMatrixType,
        pointer: ir.Value,
        stride: Sequence[ir.Value],
        *,
        separate: bool,
    ) -> None:
        ctx = self.ctx
        tree = self.expression.tree(
            self.spaces,
            (out, space_of(pointer)),
            machine=ctx.options.machine,
            contract=ctx.contract_matrices,
            separate=separate,
        )
        ctx.program.trees.call(ctx, tree, [pointer, *stride, *self.arguments], self.span)


def _memory(ctx: FunctionContext, leaf: MemoryLeaf) -> list[ir.Value]:
    """The pointer, and the stride where that is no constant."""
    pointer = known_pointer(expressions.rvalue(ctx, leaf.pointer))
    return [pointer] if isinstance(leaf.stride, typed.IntConst) else [pointer, expressions.rvalue(ctx, leaf.stride)]


def _matrix(t: Type) -> ConstantMatrixType:
    if not isinstance(t, ConstantMatrixType):
        raise InternalError(f"'{t}' is no matrix type")
    return t
