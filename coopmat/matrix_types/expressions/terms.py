"""Expressions of matrices, apart from any language: the calculation, without the places in memory.

Leaves name inputs by number: those of a `Tree`, in the order of first occurrence from the left. Integers are modulo
2^bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ...matrices.variants import ComponentType


@dataclass(frozen=True, slots=True)
class Term:
    """A matrix of `rows` x `columns` elements of type `element`."""

    element: ComponentType
    rows: int
    columns: int

    @property
    def operands(self) -> tuple[Term, ...]:
        return ()

    def walk(self) -> Iterator[Term]:
        """Iterate over this term and all below, operands first, from the left, without recursion: terms grow deep."""
        terms: list[Term] = []
        worklist: list[Term] = [self]
        while worklist:
            term = worklist.pop()
            terms.append(term)
            worklist += term.operands
        return reversed(terms)


@dataclass(frozen=True, slots=True)
class Object(Term):
    """A matrix in memory: input `number`."""

    number: int


@dataclass(frozen=True, slots=True)
class Broadcast(Term):
    """A matrix whose every element is scalar input `number`."""

    number: int


@dataclass(frozen=True, slots=True)
class Elementwise(Term):
    """add, sub or mul of elements in the same place, each result rounded to the element type."""

    operator: Literal["add", "sub", "mul"]
    left: Term
    right: Term

    @property
    def operands(self) -> tuple[Term, ...]:
        return self.left, self.right


@dataclass(frozen=True, slots=True)
class Product(Term):
    """(M x K) (K x N): each element is 0, to which the products are added in the order of k. Where the tree does not
    `contract`, every product and every sum is rounded to the element type; where it does, each step may be an fma."""

    left: Term
    right: Term

    @property
    def operands(self) -> tuple[Term, ...]:
        return self.left, self.right


@dataclass(frozen=True, slots=True)
class Transposed(Term):
    operand: Term

    @property
    def operands(self) -> tuple[Term, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Converted(Term):
    """The operand's elements as `element`, as a C cast of scalars does it."""

    operand: Term

    @property
    def operands(self) -> tuple[Term, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Part(Term):
    """A row (1 x C) or column (R x 1) of the operand, by the number in index input `number`."""

    which: Literal["row", "column"]
    operand: Term
    number: int

    @property
    def operands(self) -> tuple[Term, ...]:
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class WithPart(Term):
    """The operand with row or column index input `number` replaced by `part`, 1 x C or R x 1."""

    which: Literal["row", "column"]
    operand: Term
    number: int
    part: Term

    @property
    def operands(self) -> tuple[Term, ...]:
        return self.operand, self.part


@dataclass(frozen=True, slots=True)
class WithElement(Term):
    """The operand with the element at index inputs `row`, `column` replaced by scalar input `number`."""

    operand: Term
    row: int
    column: int
    number: int

    @property
    def operands(self) -> tuple[Term, ...]:
        return (self.operand,)


# --- what a tree reads and writes ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InMemory:
    """A matrix in memory, by pointer to its first element. `stride`: elements from one column (row, where `row_major`)
    to the next, None for a parameter of the function (ulong, behind the pointer). `space`: global, local, constant,
    private or generic. The alignment of pointers is an element's."""

    element: ComponentType
    space: str
    stride: int | None
    row_major: bool = False
    volatile: bool = False


@dataclass(frozen=True, slots=True)
class Input:
    """A scalar of type `element`; an index (ulong) if that is None."""

    element: ComponentType | None
