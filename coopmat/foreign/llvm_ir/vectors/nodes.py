"""Expression trees on vectors in memory, and their translation into trees of Clang's matrix types."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ....matrices.variants import ComponentType
from ....matrix_types import expressions as trees
from ....matrix_types.expressions import InMemory, Input, Machine, Term, Tree
from ..operations import COMPONENTS
from ..text import Argument
from .types import Vector

Shape = tuple[int, int]


@dataclass(slots=True)
class Node:
    """A node of an expression tree.

    kind: the kind of term (`Builder.term`): object, memory, broadcast, elementwise, product, transpose, or a
        conversion.
    vector: the vector type of the value.
    shape: (rows, columns), or None if the shape does not matter.
    contract: whether multiplications and additions may be contracted; None if there is nothing to contract.
    value: of memory or an object, the pointer; of a broadcast, the scalar.
    stride: the distance of columns in memory; None if it equals the number of rows.
    volatile: whether the memory is volatile.
    """

    kind: str
    vector: Vector
    shape: Shape | None = None
    parts: tuple[Node, ...] = ()
    contract: bool | None = None
    # Only of some kinds; see above.
    value: Argument = field(default_factory=lambda: Argument(""))
    stride: Argument | None = None
    volatile: bool = False
    operator: str = ""
    component: ComponentType | None = None

    @property
    def reads_memory(self) -> bool:
        """Return whether the tree reads memory that another instruction may write to."""
        return self.kind == "memory" or any(part.reads_memory for part in self.parts)

    @property
    def depth(self) -> int:
        return 1 + max((part.depth for part in self.parts), default=0)


_SPACES = {"ptr": "private", **{f"ptr addrspace({n})": space for n, space in enumerate(("", "global", "constant"))}}
_SPACES |= {"ptr addrspace(3)": "local", "ptr addrspace(4)": "generic"}


def _in_memory(
    component: ComponentType, pointer: Argument, stride: Argument | None, rows: int, volatile: bool
) -> InMemory:
    """Return an operand in memory. Raises KeyError for address spaces that the library's functions do not read."""
    number: int | None = rows
    if stride is not None:
        number = int(stride.value) if re.fullmatch(r"\d+", stride.value) else None
    return InMemory(component, _SPACES[pointer.type], number, False, volatile)


class Builder:
    """A builder of one tree, which collects the inputs of the tree's function and the arguments of its call."""

    def __init__(self) -> None:
        self.inputs: list[InMemory | Input] = []
        self.arguments: list[Argument] = []

    def tree(self, root: Node, out: Node, machine: Machine, contract: bool, separate: bool) -> Tree:
        """Return the tree of the expression `root`, whose value is stored to `out`, an object or memory."""
        shape = root.shape or (root.vector.count, 1)
        component = root.component or COMPONENTS[root.vector.element]
        term = self.term(root, shape)
        if root.kind in ("object", "memory", "broadcast"):
            component = term.element
        target = _in_memory(component, out.value, out.stride, shape[0], out.volatile)
        self.arguments[:0] = self.pointer(out, target)
        return Tree(term, tuple(self.inputs), target, machine, contract, separate)

    def term(self, node: Node, shape: Shape) -> Term:
        component = node.component or COMPONENTS[node.vector.element]
        common = (component, *(node.shape or shape))
        if node.kind in ("object", "memory"):
            memory = _in_memory(component, node.value, node.stride, common[1], node.volatile)
            return trees.Object(*common, self.input(memory, *self.pointer(node, memory)))
        if node.kind == "broadcast":
            return trees.Broadcast(*common, self.input(Input(component), node.value))
        if node.kind == "elementwise":
            left, right = (self.term(part, shape) for part in node.parts)
            return trees.Elementwise(*common, left, right, node.operator)  # type: ignore[arg-type]
        if node.kind == "product":
            left, right = (self.term(part, part.shape or shape) for part in node.parts)
            return trees.Product(*common, left, right)
        (part,) = node.parts
        if node.kind == "transpose":
            return trees.Transposed(*common, self.term(part, (common[2], common[1])))
        return trees.Converted(*common, self.term(part, common[1:]))

    def input(self, item: InMemory | Input, *arguments: Argument) -> int:
        self.inputs.append(item)
        self.arguments += arguments
        return len(self.inputs) - 1

    @staticmethod
    def pointer(node: Node, memory: InMemory) -> list[Argument]:
        pointer = Argument(node.value.type, node.value.value)
        if memory.stride is not None or node.stride is None:
            return [pointer]
        return [pointer, node.stride]
