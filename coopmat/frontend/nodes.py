"""The schema of the syntax tree and of the typed AST: which fields hold child nodes, and generic traversals.

A node is an instance of a dataclass, which `Schema` makes from the annotations of a class. If a field's type is a node
class, or a list or tuple of nodes, the field holds children, in the order of the fields. A field of type `Reference`
holds no child: a name refers to its variable, which is a child of the variable's declaration.
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
        """Replace the decorator of the same name, which `typing` has from Python 3.11 on; only type checkers use it."""
        return lambda kind: kind


def _values(node: object) -> list[tuple[str, object]]:
    return [(item.name, getattr(node, item.name)) for item in fields(node)]  # type: ignore[arg-type]


def _equal(self: object, other: object) -> bool:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


@dataclass_transform(field_specifiers=(field,))
class Schema(type):
    """The metaclass of all node classes: it makes each class a dataclass with slots.

    With `eq=False`, a node is equal to itself only.
    """

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], *, eq: bool = True) -> Any:
        if "__slots__" not in namespace and eq:
            namespace |= {"__eq__": _equal, "__hash__": None}
        kind = super().__new__(cls, name, bases, namespace)
        # `dataclass` makes the class again, with slots. It compiles the source of each method it adds, which would be
        # most of the time of a short compilation. Methods that are alike for all node classes are therefore defined
        # here.
        return kind if "__slots__" in namespace else dataclass(eq=False, repr=False, match_args=False, slots=True)(kind)


class Node(metaclass=Schema, eq=False):
    """A node of a tree; `span` is the place of its source text."""

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
    """Return the names that denote node classes, or unions of them, in the annotations of a module."""
    kinds = {subclass.__name__ for subclass in subclasses(Node)}
    return frozenset(kinds | {name for name, value in vars(sys.modules[module]).items() if _are_nodes(value)})


def _are_nodes(value: object) -> bool:
    """Return whether a value is a union of node classes, such as `Initializer`."""
    return isinstance(value, UnionType) and all(issubclass(kind, Node) for kind in value.__args__)


def subclasses(kind: type[Node]) -> Iterator[type[Node]]:
    """Yield all direct and indirect subclasses; those that `dataclass` made again may also occur without slots."""
    for subclass in kind.__subclasses__():
        yield subclass
        yield from subclasses(subclass)


def children(node: Node) -> list[Node]:
    """Return the children of a node, in order."""
    child_nodes: list[Node] = []
    for name in child_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            child_nodes.append(value)
        elif value is not None:
            # An aggregate's items are pairs of an index and a node.
            child_nodes += [item[1] if isinstance(item, tuple) else item for item in value]
    return child_nodes


def walk(*roots: Node | None) -> Iterator[Node]:
    """Yield the nodes of the trees in pre-order."""
    # An explicit stack instead of recursion, so that the recursion depth does not depend on the tree (a chain of 20,000
    # operators).
    work = [root for root in reversed(roots) if root is not None]
    while work:
        node = work.pop()
        yield node
        work += reversed(children(node))


def dump(root: Node, depth: int, head: Callable[[object], str | None]) -> Iterator[str]:
    """Yield the lines of an indented tree.

    `head` returns the text of a node's line. For a list of children, `head` returns one line for the whole list, or
    None if each child has its own lines.
    """
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
    """Return a copy of the node with some fields changed, like dataclasses.replace, but in a fraction of the time."""
    cls: Any = type(node)
    result = cls.__new__(cls)
    for item in _field_names(cls):
        setattr(result, item, changes[item] if item in changes else getattr(node, item))
    return result


@cache
def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(item.name for item in fields(cls))


def with_children(node: Any, new: list[Any], t: object) -> Any:
    """Return the node with the children replaced by `new`, in the order of `children`, and its type by `t`.

    `t` is None for a node without a type. If nothing changes, return the node itself; otherwise a copy.
    """
    changes: dict[str, Any] = {} if t is None or t is node.type else {"type": t}
    rest = iter(new)
    for name in child_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            child = next(rest)
            if child is not value:
                changes[name] = child
        elif value:
            # An aggregate's items are pairs of an index and a node.
            items = [(item[0], next(rest)) if isinstance(item, tuple) else next(rest) for item in value]
            if any(a is not b for a, b in zip(items, value, strict=True)):
                changes[name] = items
    return copied(node, **changes) if changes else node
