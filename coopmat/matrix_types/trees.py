"""Expressions of matrix types as trees of the matrix library: one answer for every writer.

A writer asks for the `Expression` of a value, or of what a store or an assignment does, evaluates the leaves in their
order, and gets the library function to call once it knows what each pointer points into.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..diagnostics import InternalError
from ..frontend import typed
from ..frontend.matrix_terms import COMPONENTS
from ..frontend.types import AddressSpace, ConstantMatrixType, MatrixLayout, PointerType, ScalarType, Type
from ..matrices.variants import ComponentType
from . import expressions as trees
from .expressions import InMemory, Input, Machine, Term, Tree

#: The most leaves of one tree, about: a function takes 254 parameters, and two for each place in memory. A tree with
#: more is calculated in parts.
MOST_LEAVES = 64


@dataclass(frozen=True, slots=True)
class ObjectLeaf:
    """An `ObjectLeaf` is a matrix object. If `expression` is not an LValue, its value is to be stored in a private
    object first."""

    expression: typed.Expr

    @property
    def matrix(self) -> ConstantMatrixType:
        return _matrix(self.expression.type)


@dataclass(frozen=True, slots=True)
class MemoryLeaf:
    """A `MemoryLeaf` is the memory that a load or a store names; `stride` is a ulong."""

    pointer: typed.Expr
    stride: typed.Expr
    row_major: bool


@dataclass(frozen=True, slots=True)
class ScalarLeaf:
    """A `ScalarLeaf` is a scalar; an `index` is to be converted to ulong."""

    expression: typed.Expr
    index: bool = False


Leaf = ObjectLeaf | MemoryLeaf | ScalarLeaf


@dataclass(frozen=True, slots=True)
class Expression:
    """An `Expression` is a `term` that refers to `leaves` by number."""

    term: Term
    leaves: tuple[Leaf, ...]

    def tree(
        self,
        spaces: Sequence[AddressSpace | None],
        out: tuple[ObjectLeaf | MemoryLeaf | ConstantMatrixType, AddressSpace],
        *,
        machine: Machine,
        contract: bool,
        separate: bool,
    ) -> Tree:
        """Return the function that calculates the expression. `spaces` has the address space of each leaf's pointer,
        None for scalars; `out` is the destination of the value, a new object if it is a type. `separate` has the
        meaning that it has in `Tree`."""
        inputs = tuple(
            Input(None if leaf.index else component(leaf.expression.type))
            if isinstance(leaf, ScalarLeaf)
            else in_memory(leaf, space)
            for leaf, space in zip(self.leaves, spaces, strict=True)
        )
        return Tree(self.term, inputs, in_memory(*out), machine, contract, separate)


def in_memory(leaf: ObjectLeaf | MemoryLeaf | ConstantMatrixType, space: AddressSpace | None) -> InMemory:
    assert space is not None
    if isinstance(leaf, MemoryLeaf):
        pointer = leaf.pointer.type
        assert isinstance(pointer, PointerType)
        stride = leaf.stride.value if isinstance(leaf.stride, typed.IntConst) else None
        element = component(pointer.pointee)
        return InMemory(element, str(space), stride, leaf.row_major, pointer.qualifiers.volatile)
    matrix = leaf if isinstance(leaf, ConstantMatrixType) else leaf.matrix
    volatile = (
        isinstance(leaf, ObjectLeaf) and isinstance(leaf.expression, typed.LValue) and leaf.expression.place.volatile
    )
    row_major = matrix.layout is MatrixLayout.ROW_MAJOR
    return InMemory(component(matrix.element), str(space), matrix.stride, row_major, volatile)


def component(t: Type) -> ComponentType:
    if not isinstance(t, ScalarType):
        raise InternalError(f"'{t}' is no element of a matrix")
    return COMPONENTS[t.name]


def is_tree(e: typed.Expr) -> bool:
    """Return whether `e` calculates a matrix: every other expression with a matrix value is an object, a call or a
    conditional."""
    return type(e) in TREES


def expression(e: typed.Expr) -> Expression:
    """Return the tree of any expression of a matrix type."""
    leaves: list[Leaf] = []
    term = _Collector(leaves).term(e)
    return Expression(term, tuple(leaves))


class _Collector:
    def __init__(self, leaves: list[Leaf]) -> None:
        self.leaves = leaves

    def term(self, e: typed.Expr) -> Term:
        """Return the term of an expression, without recursion on left-deep chains, which grow long in generated
        code."""
        chain: list[typed.MatrixElementwise | typed.MatrixProduct] = []
        while isinstance(e, (typed.MatrixElementwise, typed.MatrixProduct)):
            chain.append(e)
            e = e.left
        start = len(self.leaves)
        result = self._term(e)
        for outer in reversed(chain):
            matrix = _matrix(outer.type)
            shape = (component(matrix.element), matrix.rows, matrix.columns)
            if len(self.leaves) >= MOST_LEAVES:
                result = self._as_object(outer.left, start)
            right = self._operand(outer.right)
            if isinstance(outer, typed.MatrixProduct):
                result = trees.Product(*shape, result, right)
            else:
                result = trees.Elementwise(*shape, outer.op, result, right)  # type: ignore[arg-type]
        return result

    def _operand(self, e: typed.Expr) -> Term:
        """Return the term of an operand, as an object of its own if there is no room for its leaves."""
        start = len(self.leaves)
        result = self.term(e) if start < MOST_LEAVES else None
        return self._as_object(e, start) if result is None or len(self.leaves) >= MOST_LEAVES else result

    def _as_object(self, e: typed.Expr, start: int) -> Term:
        """Return an expression as an object, which a tree of its own calculates; it replaces the leaves from `start`
        on."""
        del self.leaves[start:]
        if not is_tree(e) or isinstance(e, (typed.MatrixMemoryLoad, typed.MatrixBroadcast)):
            return self._term(e)
        matrix = _matrix(e.type)
        return trees.Object(component(matrix.element), matrix.rows, matrix.columns, self._leaf(ObjectLeaf(e)))

    def _term(self, e: typed.Expr) -> Term:
        matrix = _matrix(e.type)
        shape = (component(matrix.element), matrix.rows, matrix.columns)
        if isinstance(e, typed.Load):
            return trees.Object(*shape, self._leaf(ObjectLeaf(e.operand)))
        if isinstance(e, typed.MatrixMemoryLoad):
            return trees.Object(*shape, self._leaf(MemoryLeaf(e.pointer, e.stride, e.row_major)))
        if isinstance(e, typed.MatrixBroadcast):
            return trees.Broadcast(*shape, self._leaf(ScalarLeaf(e.value)))
        if isinstance(e, typed.MatrixTranspose):
            return trees.Transposed(*shape, self._operand(e.operand))
        if isinstance(e, typed.MatrixCast):
            operand = self._operand(e.operand)
            return operand if operand.element == shape[0] else trees.Converted(*shape, operand)
        if isinstance(e, typed.MatrixPart):
            operand = self._operand(e.operand)
            return trees.Part(*shape, e.which, operand, self._index(e.index))  # type: ignore[arg-type]
        if isinstance(e, typed.MatrixWithPart):
            return self._with_part(e, shape)
        return trees.Object(*shape, self._leaf(ObjectLeaf(e)))

    def _with_part(self, e: typed.MatrixWithPart, shape: tuple[ComponentType, int, int]) -> Term:
        operand = self._operand(e.operand)
        index = self._index(e.index)
        if e.which != "element":
            return trees.WithPart(*shape, e.which, operand, index, self._operand(e.part))  # type: ignore[arg-type]
        assert e.column is not None
        column = self._index(e.column)
        return trees.WithElement(*shape, operand, index, column, self._leaf(ScalarLeaf(e.part)))

    def _index(self, e: typed.Expr) -> int:
        return self._leaf(ScalarLeaf(e, index=True))

    def _leaf(self, leaf: Leaf) -> int:
        self.leaves.append(leaf)
        return len(self.leaves) - 1


TREES = frozenset(
    {
        typed.MatrixBroadcast,
        typed.MatrixElementwise,
        typed.MatrixProduct,
        typed.MatrixTranspose,
        typed.MatrixCast,
        typed.MatrixPart,
        typed.MatrixWithPart,
        typed.MatrixMemoryLoad,
    }
)


def _matrix(t: Type) -> ConstantMatrixType:
    if not isinstance(t, ConstantMatrixType):
        raise InternalError(f"'{t}' is no matrix type")
    return t
