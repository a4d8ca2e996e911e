"""The schema of the syntax tree and of the typed AST: it defines which fields of a node hold its children, and the
traversals that follow from that.

A node is a dataclass, which `Schema` makes of its annotations. A field whose type is a node, or a list or tuple of
nodes, holds children, in the order of the fields. A field whose type is a `Reference` does not: a name refers to its
variable, which is a child of its declaration.
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
        """Stand in for the decorator that `typing` has from Python 3.11 on; only type checkers use it."""
        return lambda kind: kind


def _values(node: object) -> list[tuple[str, object]]:
    return [(item.name, getattr(node, item.name)) for item in fields(node)]  # type: ignore[arg-type]


def _equal(self: object, other: object) -> bool:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


@dataclass_transform(field_specifiers=(field,))
class Schema(type):
    """`Schema` makes each kind of node a dataclass with slots. With `eq=False` a node is equal to itself only."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], *, eq: bool = True) -> Any:
        if "__slots__" not in namespace and eq:
            namespace |= {"__eq__": _equal, "__hash__": None}
        kind = super().__new__(cls, name, bases, namespace)
        # `dataclass` makes the class again, with slots. It compiles the text of each method, which is most of what a
        # short compilation would wait for: those that are alike for all kinds of nodes are here.
        return kind if "__slots__" in namespace else dataclass(eq=False, repr=False, match_args=False, slots=True)(kind)


class Node(metaclass=Schema, eq=False):
    """A `Node` is a part of a tree; `span` is the place of its text."""

    span: Span

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in _values(self))})"


_FIELDS: dict[type, tuple[str, ...]] = {}


def child_fields(kind: type[Node]) -> tuple[str, ...]:
    """Return the names of the fields that hold children, in order."""
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
    """Return the names that stand for kinds of nodes in the annotations of a module."""
    kinds = {subclass.__name__ for subclass in _subclasses(Node)}
    return frozenset(kinds | {name for name, value in vars(sys.modules[module]).items() if _are_nodes(value)})


def _are_nodes(value: object) -> bool:
    """Return whether a value is an alias for several kinds of nodes, such as `Initializer`."""
    return isinstance(value, UnionType) and all(issubclass(kind, Node) for kind in value.__args__)


def _subclasses(kind: type[Node]) -> Iterator[type[Node]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def children(node: Node) -> list[Node]:
    """Return the children of a node, in order."""
    child_nodes: list[Node] = []
    for name in child_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            child_nodes.append(value)
        elif value is not None:
            # The parts of an aggregate are pairs of a position and a node.
            child_nodes += [item[1] if isinstance(item, tuple) else item for item in value]
    return child_nodes


def walk(*roots: Node | None) -> Iterator[Node]:
    """Yield the nodes of trees, each before its children."""
    # An explicit stack, so that a chain of 20,000 operators is no deeper than one.
    work = [root for root in reversed(roots) if root is not None]
    while work:
        node = work.pop()
        yield node
        work += reversed(children(node))


def dump(root: Node, depth: int, head: Callable[[object], str | None]) -> Iterator[str]:
    """Yield the lines of an indented tree. `head` returns the text of a node's own line; for a list of children it
    returns the line that stands for all of them, or None if each has lines of its own."""
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


def copied(node: Any, **changes: Any) -> Any:
    """Return the node with other values of some fields: what dataclasses.replace does, at a fraction of its time."""
    cls: Any = type(node)
    result = cls.__new__(cls)
    for item in _field_names(cls):
        setattr(result, item, changes[item] if item in changes else getattr(node, item))
    return result


@cache
def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(item.name for item in fields(cls))


def with_children(node: Any, new: list[Any], t: object) -> Any:
    """Return the node with other children, in the order of `children`, and of type `t` (None: it has none). If nothing
    changes, return the node itself."""
    changes: dict[str, Any] = {} if t is None or t is node.type else {"type": t}
    rest = iter(new)
    for name in child_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            child = next(rest)
            if child is not value:
                changes[name] = child
        elif value:
            # The parts of an aggregate are pairs of a position and a node.
            items = [(item[0], next(rest)) if isinstance(item, tuple) else next(rest) for item in value]
            if any(a is not b for a, b in zip(items, value, strict=True)):
                changes[name] = items
    return copied(node, **changes) if changes else node
