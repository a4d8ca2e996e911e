"""The schema of the syntax tree and of the typed AST: which fields of a node hold its children, and what follows.

A node is a dataclass, which `Schema` makes of its annotations: a field that may hold a node, or a list or tuple of
nodes, holds children, in the order of the fields. What a node only refers to is a `Reference`: the variable that a name
denotes belongs to its declaration.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from ..diagnostics import Span

T = TypeVar("T")
Reference = Annotated[T, "not a child"]


if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[type], type]:
        """For type checkers only; in `typing` from Python 3.11 on."""
        return lambda kind: kind


@dataclass_transform(field_specifiers=(field,))
class Schema(type):
    """Makes each kind of nodes a dataclass with slots. With `eq=False` a node is equal to itself only."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], *, eq: bool = True) -> Any:
        kind = super().__new__(cls, name, bases, namespace)
        # `dataclass` makes the class again, with slots.
        return kind if "__slots__" in namespace else dataclass(eq=eq, slots=True)(kind)


class Node(metaclass=Schema, eq=False):
    """A part of a tree, and where its text stands."""

    span: Span


_FIELDS: dict[type, tuple[str, ...]] = {}


def child_fields(kind: type[Node]) -> tuple[str, ...]:
    """The names of the fields that hold children, in order."""
    names = _FIELDS.get(kind)
    if names is None:
        nodes = _node_names(kind.__module__)
        types = {item.name: str(item.type) for item in fields(kind)}
        names = _FIELDS[kind] = tuple(
            name
            for name, text in types.items()
            if not text.startswith("Reference[") and not nodes.isdisjoint(re.findall(r"\w+", text))
        )
    return names


@cache
def _node_names(module: str) -> frozenset[str]:
    """The names that stand for kinds of nodes in the annotations of a module."""
    kinds = {subclass.__name__ for subclass in _subclasses(Node)}
    return frozenset(kinds | {name for name, value in vars(sys.modules[module]).items() if _are_nodes(value)})


def _are_nodes(value: object) -> bool:
    """Whether this is another name for several kinds of nodes, as `Initializer`."""
    return isinstance(value, UnionType) and all(issubclass(kind, Node) for kind in value.__args__)


def _subclasses(kind: type[Node]) -> Iterator[type[Node]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def children(node: Node) -> list[Node]:
    """The children of a node, in order."""
    found: list[Node] = []
    for name in child_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif value is not None:
            # The parts of an aggregate are pairs of a position and a node.
            found += [item[1] if isinstance(item, tuple) else item for item in value]
    return found


def walk(*roots: Node | None) -> Iterator[Node]:
    """The nodes of trees, each before its children."""
    # An explicit stack, so that a chain of 20,000 operators is no deeper than one.
    work = [root for root in reversed(roots) if root is not None]
    while work:
        node = work.pop()
        yield node
        work += reversed(children(node))


def dump(root: Node, depth: int, head: Callable[[object], str | None]) -> Iterator[str]:
    """The lines of an indented tree. `head` gives the text of a node's own line; of a list of children the line that
    stands for all of them, or None where each has lines of its own."""
    work: list[tuple[int, str, object]] = [(depth, "", root)]
    while work:
        depth, label, value = work.pop()
        line = head(value)
        if line is not None:
            yield "  " * depth + (f"{label}: " if label else "") + line
        if isinstance(value, Node):
            parts = ((name, getattr(value, name)) for name in child_fields(type(value)))
            work += reversed([(depth + 1, name, part) for name, part in parts if part is not None and part != []])
        elif isinstance(value, list) and line is None:
            pairs = [item if isinstance(item, tuple) else (i, item) for i, item in enumerate(value)]
            work += reversed([(depth, f"{label}[{i}]", item) for i, item in pairs])
