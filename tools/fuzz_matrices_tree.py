"""The syntax tree of the matrix fuzzer's programs: scalars, matrices, statements, functions, memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from fuzz_matrices_types import Array, Component, MatrixType, Range


@dataclass
class Node:
    """A node of the tree. Nodes are compared by identity where they are replaced."""


# Scalars. `t` is the type of the value.


@dataclass
class Scalar(Node):
    """A scalar expression."""

    t: Component


@dataclass
class Num(Scalar):
    """A number; `plain`: written without a cast to its type."""

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
    """A conversion; `silent`: written without a cast, where C converts alone."""

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
    """A place in memory.

    generic: cast to a pointer without an address space.
    turn: the number of subgroups further on whose part of local memory it is.
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
    """A matrix variable, an element of an array, a member of a struct or what a pointer points to."""

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
    """A load; `vector`: the pointee is a vector of so many components, which the stride counts."""

    at: Address
    layout: str
    stride: Scalar
    vector: int = 1
    checked: tuple[int, int, int, int] | None = None
    cast: bool = True


@dataclass
class Fill(Matrix):
    """coop_mat_init."""

    value: Scalar
    cast: bool = True


@dataclass
class Map(Matrix):
    """coop_mat_map, or coop_mat_build without matrices."""

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
    """A conversion of component type and use; `how` is "" for a cast, or the name's suffix."""

    x: Matrix
    how: str
    cast: bool = False


@dataclass
class Transpose(Matrix):
    """coop_mat_transpose."""

    x: Matrix


@dataclass
class Reduce(Matrix):
    """coop_mat_reduce by a function or a builtin."""

    x: Matrix
    how: str
    function: Function | str


@dataclass
class MulAdd(Matrix):
    """coop_mat_mulAdd; `mask`: None without an operands argument."""

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


# Statements.


@dataclass
class DeclareScalar(Node):
    """A scalar variable."""

    t: Component
    name: str
    value: Scalar


@dataclass
class SetScalar(Node):
    """An assignment to a scalar variable."""

    name: str
    value: Scalar


@dataclass
class Declare(Node):
    """A matrix variable, or an array of `count` matrices that gets its values later or by braces."""

    type: MatrixType
    name: str
    value: Matrix | None
    count: int = 0
    values: list[Matrix] = field(default_factory=list)


@dataclass
class Struct(Node):
    """A struct type: members are (path, type, count); a path "n.m" is a member of a nested struct."""

    name: str
    members: list[tuple[str, MatrixType, int]]


@dataclass
class DeclareStruct(Node):
    """A struct variable."""

    struct: Struct
    name: str
    value: Node | None


@dataclass
class CopyStruct(Node):
    """An assignment of a struct."""

    struct: Struct
    name: str
    value: Node


@dataclass
class Assign(Node):
    """An assignment to a matrix; `op` is "" or one of + - * /."""

    place: Place
    op: str
    value: Node


@dataclass
class Store(Node):
    """A store of a matrix."""

    at: Address
    value: Matrix
    layout: str
    stride: Scalar
    vector: int = 1
    checked: tuple[int, int, int, int] | None = None


@dataclass
class Barrier(Node):
    """A barrier of the work-group or of the subgroup, with its fence."""

    group: bool
    fence: str


@dataclass
class Memory(Node):
    """An object in memory.

    space: "global", "constant", "table" (constant, at program scope), "local" or "private".
    size: the components of one subgroup.
    shared: all subgroups have the same address.
    data: the values, for all subgroups; None where the kernel writes them by a formula.
    output: what the host reads.
    """

    name: str
    component: Component
    space: str
    size: int
    range: Range
    shared: bool = False
    volatile: bool = False
    data: Array | None = None
    output: bool = False


@dataclass
class DeclareMemory(Node):
    """An array in local or private memory, filled by a formula."""

    memory: Memory


@dataclass
class Elements(Node):
    """A loop over the components that a work-item holds; the body changes the component `name`."""

    place: Place
    type: MatrixType
    name: str
    row: str
    column: str
    body: list[Node]
    coordinates: bool
    by_type: bool = False


@dataclass
class Prefetch(Node):
    """coop_mat_prefetch."""

    type: MatrixType
    at: Address


@dataclass
class If(Node):
    """A conditional statement."""

    c: Scalar
    then: list[Node]
    other: list[Node]


@dataclass
class Switch(Node):
    """A switch; cases are (labels, body, falls through), and a label None is the default."""

    c: Scalar
    cases: list[tuple[list[int | None], list[Node], bool]]


@dataclass
class Loop(Node):
    """A loop whose variable counts from 0 to count - 1; `form`: for, while, do or forever."""

    form: str
    name: str
    t: Component
    count: Scalar
    body: list[Node]


@dataclass
class Break(Node):
    """A break."""


@dataclass
class Continue(Node):
    """A continue."""


@dataclass
class Return(Node):
    """A return."""

    value: Node | None


@dataclass
class Evaluate(Node):
    """A call of a function without a result."""

    function: Function
    args: list[Node]


# Functions and programs.


@dataclass
class Parameter(Node):
    """A parameter.

    kind: "scalar", "pair", "memory", "matrix", "matrix pointer", "struct" or "struct pointer".
    what: the Component, Memory (as the pointer's type), MatrixType or Struct.
    """

    kind: str
    name: str
    what: Any = None
    const: bool = False


@dataclass
class Function(Node):
    """A function of the program; `result` is a Component, MatrixType, Struct or None."""

    name: str
    parameters: list[Parameter]
    result: Any
    body: list[Node]
    prefix: str = "static "


@dataclass
class Program(Node):
    """A program with one kernel.

    subgroups: the number of subgroups in a work-group.
    groups: the numbers of work-groups in three dimensions.
    flat: whether the subgroups of a work-group lie in its first dimension.
    scope: "SUBGROUP" or "WORKGROUP".
    scalars: the kernel's scalar arguments, by name.
    """

    seed: int
    subgroups: int
    groups: tuple[int, int, int]
    flat: bool
    scope: str
    memories: list[Memory]
    scalars: dict[str, tuple[Component, float]]
    body: list[Node]

    @property
    def total(self) -> int:
        """Return the number of subgroups that interpret the program, or of work-groups for scope WORKGROUP."""
        count = self.groups[0] * self.groups[1] * self.groups[2]
        return count if self.scope == "WORKGROUP" else count * self.subgroups


def children(value: Any) -> Iterator[Node]:
    """Yield the nodes below a node, a list or a tuple; not those of a node below."""
    if isinstance(value, Node):
        parts = [getattr(value, item.name) for item in fields(value)]
    else:
        parts = list(value)
    for part in parts:
        if isinstance(part, Node):
            yield part
        elif isinstance(part, (list, tuple)):
            yield from children(part)


def walk(node: Node, seen: set[int] | None = None) -> Iterator[Node]:
    """Yield a node and all nodes below, functions once."""
    seen = set() if seen is None else seen
    if isinstance(node, Function):
        if id(node) in seen:
            return
        seen.add(id(node))
    yield node
    for child in children(node):
        yield from walk(child, seen)
