"""Expressions of matrices, independent of any language: the calculation, without the memory of its inputs.

Leaves refer to inputs by number: the inputs of a `Tree`, in the order of first occurrence from the left. Integers wrap
modulo 2^bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ...matrices.variants import ComponentType


@dataclass(frozen=True, slots=True)
class Term:
    """A node of an expression tree, whose value is a matrix of `rows` x `columns` elements of type `element`."""

    element: ComponentType
    rows: int
    columns: int

    @property
    def operands(self) -> tuple[Term, ...]:
        return ()

    def walk(self) -> Iterator[Term]:
        """Iterate over this term and its subterms, operands first, from the left.

        The iteration is not recursive, because terms are deep.
        """
        terms: list[Term] = []
        worklist: list[Term] = [self]
        while worklist:
            term = worklist.pop()
            terms.append(term)
            worklist += term.operands
        return reversed(terms)


@dataclass(frozen=True, slots=True)
class Object(Term):
    """A matrix in memory: the input `number`."""

    number: int


@dataclass(frozen=True, slots=True)
class Broadcast(Term):
    """A matrix all of whose elements are the scalar input `number`."""

    number: int


@dataclass(frozen=True, slots=True)
class Binary(Term):
    """A term with two operands."""

    left: Term
    right: Term

    @property
    def operands(self) -> tuple[Term, ...]:
        return self.left, self.right


@dataclass(frozen=True, slots=True)
class Elementwise(Binary):
    """The sum, difference or product of corresponding elements, each rounded to the element type."""

    operator: Literal["add", "sub", "mul"]


@dataclass(frozen=True, slots=True)
class Product(Binary):
    """The matrix product (M x K) (K x N): each element starts at 0, and the products are added in the order of k.

    If the tree does not `contract`, every product and every sum is rounded to the element type. If it does, each step
    may be an fma.
    """


@dataclass(frozen=True, slots=True)
class Unary(Term):
    """A term with one operand."""

    operand: Term

    @property
    def operands(self) -> tuple[Term, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Transposed(Unary):
    """The transpose of the operand."""


@dataclass(frozen=True, slots=True)
class Converted(Unary):
    """The operand with its elements converted to `element`, like a C cast of scalars."""


@dataclass(frozen=True, slots=True)
class Part(Unary):
    """A row (1 x C) or column (R x 1) of the operand, selected by the index input `number`."""

    which: Literal["row", "column"]
    number: int


@dataclass(frozen=True, slots=True)
class WithPart(Unary):
    """The operand with a row or column, selected by the index input `number`, replaced by `part` (1 x C or R x 1)."""

    which: Literal["row", "column"]
    number: int
    part: Term

    @property
    def operands(self) -> tuple[Term, ...]:
        return self.operand, self.part


@dataclass(frozen=True, slots=True)
class WithElement(Unary):
    """The operand with the element at the index inputs `row` and `column` replaced by the scalar input `number`."""

    row: int
    column: int
    number: int


# --- what a tree reads and writes ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InMemory:
    """A matrix in memory, given by a pointer to its first element, which is aligned to an element only.

    space: "global", "local", "constant", "private" or "generic".
    stride: elements from one column (if `row_major`, from one row) to the next. If None, the stride is a parameter of
        type ulong that follows the pointer.
    """

    element: ComponentType
    space: str
    stride: int | None
    row_major: bool = False
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class Input:
    """A scalar input of type `element`; if `element` is None, an index (ulong)."""

    element: ComponentType | None
