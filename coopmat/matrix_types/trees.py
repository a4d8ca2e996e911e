"""Expressions of matrix types as trees of the matrix library, for all writers.

A writer gets the `Expression` of a value, store or assignment, and evaluates the leaves in their order. It then gets
the library function to call, for the address spaces of the leaves' pointers.
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

# The approximate largest number of leaves of a tree: a function takes 254 parameters, and each matrix in memory takes
# two. An expression with more leaves is calculated in several trees.
MOST_LEAVES = 64


@dataclass(frozen=True, slots=True)
class ObjectLeaf:
    """A leaf that is a matrix object.

    If `expression` is not an LValue, its value must first be stored to a private object.
    """

    expression: typed.Expr

    @property
    def matrix(self) -> ConstantMatrixType:
        """The type of the object."""
        return _matrix(self.expression.type)


@dataclass(frozen=True, slots=True)
class MemoryLeaf:
    """A leaf that is the memory of a load or a store; `stride` is a ulong."""

    pointer: typed.Expr
    stride: typed.Expr
    row_major: bool


@dataclass(frozen=True, slots=True)
class ScalarLeaf:
    """A leaf that is a scalar; an `index` must be converted to ulong."""

    expression: typed.Expr
    index: bool = False


Leaf = ObjectLeaf | MemoryLeaf | ScalarLeaf


@dataclass(frozen=True, slots=True)
class Expression:
    """A `term` that refers to `leaves` by number."""

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
        """Return the function that calculates the expression.

        spaces: the address space of each leaf's pointer; None for scalars.
        out: the destination of the value, and its address space. If the destination is a type, it is a new object of
            this type.
        separate: see `Tree`.
        """
        inputs = tuple(
            Input(None if leaf.index else component(leaf.expression.type))
            if isinstance(leaf, ScalarLeaf)
            else in_memory(leaf, space)
            for leaf, space in zip(self.leaves, spaces, strict=True)
        )
        return Tree(self.term, inputs, in_memory(*out), machine, contract, separate)


def in_memory(leaf: ObjectLeaf | MemoryLeaf | ConstantMatrixType, space: AddressSpace | None) -> InMemory:
    """Return the description of a leaf's memory, or of a new object of a type, in an address space."""
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
    """Return the component type of an element type; raise InternalError if the type is none."""
    if not isinstance(t, ScalarType):
        raise InternalError(f"'{t}' is no element of a matrix")
    return COMPONENTS[t.name]


def is_tree(e: typed.Expr) -> bool:
    """Return whether `e` calculates a matrix; other expressions of matrices are objects, calls or conditionals."""
    return type(e) in TREES


def expression(e: typed.Expr) -> Expression:
    """Return the tree of any expression of a matrix type."""
    leaves: list[Leaf] = []
    term = _Collector(leaves).term(e)
    return Expression(term, tuple(leaves))


class _Collector:
    """A collector of the leaves of an expression, which converts the expression to a term."""

    def __init__(self, leaves: list[Leaf]) -> None:
        self.leaves = leaves

    def term(self, e: typed.Expr) -> Term:
        """Return the term of an expression.

        Left-deep chains, which are long in generated code, are converted without recursion.
        """
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
                result = trees.Elementwise(*shape, result, right, outer.op)  # type: ignore[arg-type]
        return result

    def _operand(self, e: typed.Expr) -> Term:
        """Return the term of an operand; if its leaves are too many, the operand becomes an object."""
        start = len(self.leaves)
        result = self.term(e) if start < MOST_LEAVES else None
        return self._as_object(e, start) if result is None or len(self.leaves) >= MOST_LEAVES else result

    def _as_object(self, e: typed.Expr, start: int) -> Term:
        """Return an expression as an object, which a separate tree calculates.

        The object replaces the leaves from `start` on.
        """
        del self.leaves[start:]
        if not is_tree(e) or isinstance(e, (typed.MatrixMemoryLoad, typed.MatrixBroadcast)):
            return self._term(e)
        matrix = _matrix(e.type)
        return trees.Object(component(matrix.element), matrix.rows, matrix.columns, self._leaf(ObjectLeaf(e)))

    def _term(self, e: typed.Expr) -> Term:
        """Return the term of an expression other than MatrixElementwise and MatrixProduct, which `term` converts."""
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
            return trees.Part(*shape, operand, e.which, self._index(e.index))  # type: ignore[arg-type]
        if isinstance(e, typed.MatrixWithPart):
            return self._with_part(e, shape)
        return trees.Object(*shape, self._leaf(ObjectLeaf(e)))

    def _with_part(self, e: typed.MatrixWithPart, shape: tuple[ComponentType, int, int]) -> Term:
        operand = self._operand(e.operand)
        index = self._index(e.index)
        if e.which != "element":
            return trees.WithPart(*shape, operand, e.which, index, self._operand(e.part))  # type: ignore[arg-type]
        assert e.column is not None
        column = self._index(e.column)
        return trees.WithElement(*shape, operand, index, column, self._leaf(ScalarLeaf(e.part)))

    def _index(self, e: typed.Expr) -> int:
        """Add an index as a leaf and return its number."""
        return self._leaf(ScalarLeaf(e, index=True))

    def _leaf(self, leaf: Leaf) -> int:
        """Add a leaf and return its number."""
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
    """Return a type that must be a matrix type; raise InternalError if it is none."""
    if not isinstance(t, ConstantMatrixType):
        raise InternalError(f"'{t}' is no matrix type")
    return t
