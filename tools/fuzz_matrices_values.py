"""The expressions in the matrix fuzzer's programs: scalars, operands and matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fuzz_matrices_types import Component, MatrixType, Range

if TYPE_CHECKING:
    from fuzz_matrices_tree import Function


@dataclass
class Node:
    """A node of the tree, compared by identity, since nodes are replaced in place."""


# Scalars. `t` is the type of the value.


@dataclass
class Scalar(Node):
    """A scalar expression."""

    t: Component


@dataclass
class Num(Scalar):
    """A number; if `plain`, it is written without a cast to its type."""

    value: float
    plain: bool = False


@dataclass
class Name(Scalar):
    """A scalar variable or parameter."""

    name: str


@dataclass
class Unary(Scalar):
    """A unary operator."""

    op: str
    x: Scalar


@dataclass
class Binary(Scalar):
    """A binary operator on operands of one type; comparisons have the type int."""

    op: str
    a: Scalar
    b: Scalar


@dataclass
class Choose(Scalar):
    """The operator ?: on scalars."""

    c: Scalar
    a: Scalar
    b: Scalar


@dataclass
class Cast(Scalar):
    """A conversion; if `silent`, it is written without a cast, since C converts implicitly."""

    x: Scalar
    silent: bool = False


@dataclass
class Builtin(Scalar):
    """A call of a builtin on scalars of one type."""

    name: str
    args: list[Scalar]


@dataclass
class Invoke(Scalar):
    """A call of a function on scalars."""

    function: Function
    args: list[Node]


@dataclass
class Index(Scalar):
    """An element of memory."""

    pointer: str
    index: Scalar


@dataclass
class Member(Scalar):
    """A member of a captured struct of two integers."""

    name: str
    member: str


# Operands that are neither scalars nor matrices.


@dataclass
class Address(Node):
    """A position in memory.

    generic: whether it is cast to a pointer without an address space.
    turn: the distance to the subgroup whose part of local memory it is in.
    """

    memory: str
    offset: int
    generic: bool = False
    turn: int = 0


@dataclass
class Pair(Node):
    """The kernel's struct of two integers, as an argument."""

    name: str = "pw"


@dataclass
class Place(Node):
    """A matrix variable, an element of an array, a member of a struct, or the object of a pointer."""

    name: str
    index: Scalar | None = None
    pointer: bool = False


@dataclass
class To(Node):
    """The address of a matrix, array or struct, as an argument."""

    place: Place
    array: bool = False


@dataclass
class Whole(Node):
    """A struct with matrices, as a value."""

    name: str
    pointer: bool = False


# Matrices.


@dataclass
class Matrix(Node):
    """A matrix expression with its type and the bounds of its components."""

    type: MatrixType
    range: Range


@dataclass
class Ref(Matrix):
    """The value of a place."""

    place: Place


@dataclass
class Load(Matrix):
    """A load.

    vector: the number of components of a pointee that is a vector, which the stride counts.
    """

    at: Address
    layout: str
    stride: Scalar
    vector: int = 1
    checked: tuple[int, int, int, int] | None = None
    cast: bool = True


@dataclass
class Fill(Matrix):
    """A call of coop_mat_init."""

    value: Scalar
    cast: bool = True


@dataclass
class Map(Matrix):
    """A call of coop_mat_map, or of coop_mat_build if there are no matrices."""

    matrices: list[Matrix]
    function: Function
    captured: list[Node]
    cast: bool = True


@dataclass
class Negate(Matrix):
    """Unary minus."""

    x: Matrix


@dataclass
class Arith(Matrix):
    """An operator on two matrices, or on a matrix and a scalar."""

    op: str
    a: Node
    b: Node


@dataclass
class Apply(Matrix):
    """A builtin of scalars on matrices and scalars."""

    name: str
    args: list[Node]


@dataclass
class Convert(Matrix):
    """A conversion of component type and use; `how` is "" for a cast, or the builtin's suffix."""

    x: Matrix
    how: str
    cast: bool = False


@dataclass
class Transpose(Matrix):
    """A call of coop_mat_transpose."""

    x: Matrix


@dataclass
class Reduce(Matrix):
    """A call of coop_mat_reduce with a function or a builtin."""

    x: Matrix
    how: str
    function: Function | str


@dataclass
class MulAdd(Matrix):
    """A call of coop_mat_mulAdd; `mask` is None for a call without an operands argument."""

    a: Matrix
    b: Matrix
    c: Matrix
    mask: int | None
    alias: bool = False


@dataclass
class CallM(Matrix):
    """A call of a function that returns a matrix."""

    function: Function
    args: list[Node]


@dataclass
class ChooseM(Matrix):
    """The operator ?: on matrices."""

    c: Scalar
    a: Matrix
    b: Matrix


@dataclass
class Block(Matrix):
    """A statement expression."""

    body: list[Node]
    value: Matrix
