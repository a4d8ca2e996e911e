"""Nodes of the typed AST made anew, from the bottom up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from types import MappingProxyType
from typing import Any

from ..frontend import typed
from ..frontend.nodes import Node, child_fields, children
from ..frontend.types import Type


def copied(node: Any, **changes: Any) -> Any:
    """The node with other values of some fields: what dataclasses.replace does, at a fraction of its time."""
    cls: Any = type(node)
    result = cls.__new__(cls)
    for item in _names(cls):
        setattr(result, item, changes[item] if item in changes else getattr(node, item))
    return result


@cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(item.name for item in fields(cls))


def with_children(node: Any, new: list[Any], t: Type | None) -> Any:
    """The node with other children, in the order of `children`, and of type `t` (None: it has none); itself where
    nothing changes."""
    changes: dict[str, Any] = {} if t is None or t is node.type else {"type": t}
    rest = iter(new)
    for name in child_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            made = next(rest)
            if made is not value:
                changes[name] = made
        elif value:
            # The parts of an aggregate are pairs of a position and a node.
            items = [(item[0], next(rest)) if isinstance(item, tuple) else next(rest) for item in value]
            if any(a is not b for a, b in zip(items, value, strict=True)):
                changes[name] = items
    return copied(node, **changes) if changes else node


#: What becomes of a node: it is called with the node as it was and with the node that has its new children.
Handler = Callable[[Any, Any], Any]
#: The expressions below a node that is not made of its children; its handler gets what becomes of them, as a list, or
#: None for a node that is like any other.
Parts = Callable[[Any], "list[Any] | None"]


class Rewriter:
    """Makes trees anew from the bottom up. `handlers` and `parts` are by the class of a node, `map_type` gives every
    node's type."""

    def __init__(
        self,
        handlers: Mapping[type, Handler],
        map_type: Callable[[Type], Type],
        parts: Mapping[type, Parts] = MappingProxyType({}),
    ) -> None:
        self._handlers = handlers
        self._map_type = map_type
        self._parts = parts

    def rewrite(self, root: Any) -> Any:
        """Deep trees, which generated code has, are not recursed on."""
        done: list[Any] = []
        work: list[tuple[Any, int, bool]] = [(root, -1, False)]
        while work:
            node, count, apart = work.pop()
            if count < 0:
                parts = self._parts.get(type(node))
                own = None if parts is None else parts(node)
                below = children(node) if own is None else own
                work.append((node, len(below), own is not None))
                work.extend([(child, -1, False) for child in reversed(below)])
                continue
            new = done[len(done) - count :]
            del done[len(done) - count :]
            done.append(self._handlers[type(node)](node, new) if apart else self._finished(node, new))
        return done[0]

    def _finished(self, node: Any, new: list[Any]) -> Any:
        handler = self._handlers.get(type(node))
        t = self._map_type(node.type) if isinstance(node, typed.Expr) else None
        made = with_children(node, new, t)
        return made if handler is None else handler(node, made)
