"""The syntax tree of the matrix fuzzer's programs: expressions, statements, functions, memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from fuzz_matrices_types import Array, Component, MatrixType, Range
from fuzz_matrices_values import (
    Address as Address,
    Apply as Apply,
    Arith as Arith,
    Binary as Binary,
    Block as Block,
    Builtin as Builtin,
    CallM as CallM,
    Cast as Cast,
    Choose as Choose,
    ChooseM as ChooseM,
    Convert as Convert,
    Fill as Fill,
    Index as Index,
    Invoke as Invoke,
    Load as Load,
    Map as Map,
    Matrix as Matrix,
    Member as Member,
    MulAdd as MulAdd,
    Name as Name,
    Negate as Negate,
    Node as Node,
    Num as Num,
    Pair as Pair,
    Place as Place,
    Reduce as Reduce,
    Ref as Ref,
    Scalar as Scalar,
    To as To,
    Transpose as Transpose,
    Unary as Unary,
    Whole as Whole,
)

# Statements.


@dataclass
class DeclareScalar(Node):
    """A declaration of a scalar variable."""

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
    """A declaration of a matrix variable, or of an array of `count` matrices."""

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
    """A declaration of a struct variable."""

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
    size: the number of components of one subgroup.
    shared: whether all subgroups have the same address.
    data: the values, for all subgroups; None if the kernel writes them by a formula.
    output: whether the host reads it.
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
    """A declaration of an array in local or private memory, filled by a formula."""

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
    flat: whether the subgroups of a work-group are all in its first dimension.
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
        """Return the number of subgroups, or for the scope WORKGROUP of work-groups, that are interpreted."""
        count = self.groups[0] * self.groups[1] * self.groups[2]
        return count if self.scope == "WORKGROUP" else count * self.subgroups


def children(value: Any) -> Iterator[Node]:
    """Yield the direct child nodes of a node, a list or a tuple."""
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
    """Yield a node and all its descendants; functions occur once."""
    seen = set() if seen is None else seen
    if isinstance(node, Function):
        if id(node) in seen:
            return
        seen.add(id(node))
    yield node
    for child in children(node):
        yield from walk(child, seen)
