"""The schema of the syntax tree and of the typed AST: which fields of a node hold its children, and what follows.

A node is a dataclass whose annotations are the schema: a field that may hold a node, or a list or tuple of nodes, holds
children, in the order of the fields. What a node only refers to is a `Reference`: the variable that a name denotes
belongs to its declaration.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from types import UnionType
from typing import Annotated, TypeVar

from ..diagnostics import Span

T = TypeVar("T")
Reference = Annotated[T, "not a child"]


@dataclass(eq=False, slots=True)
class Node:
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
