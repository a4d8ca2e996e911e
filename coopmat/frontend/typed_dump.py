"""The typed AST as text, for golden tests and compiler developers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from typing import cast

from ..diagnostics import Span
from . import nodes
from .nodes import Node, child_fields
from .reserved import is_library
from .typed import FunctionDecl, Unit, VarDecl
from .types import PLAIN, AddressSpace, Qualifiers, Type


def dump(unit: Unit, *, library: bool = True) -> str:
    """Return an indented tree of the unit: one node a line, with its type.

    library: whether functions of the matrix library are shown with their bodies.
    """
    return "\n".join(text for text, _ in lines(unit, library=library)) + "\n"


def lines(unit: Unit, *, library: bool = True) -> Iterator[tuple[str, Span]]:
    """Yield each line of `dump`, with the place of its node's source text."""
    for variable in unit.variables:
        yield from _tree(variable, 0)
    for function in unit.functions:
        head = "kernel " if function.is_kernel else ""
        attributes = "".join(f" {k}={v}" for k, v in sorted(function.attributes.items()))
        yield f"{head}function {function.name}: {function.type}{attributes}", function.span
        for parameter in function.parameters:
            yield from _tree(parameter, 1)
        if function.body is not None and (library or not is_library(function.span.file)):
            yield from _tree(function.body, 1)


def _tree(root: Node, depth: int) -> Iterator[tuple[str, Span]]:
    span = root.span

    def head(node: object) -> str | None:
        nonlocal span
        if isinstance(node, Node):
            span = node.span
        return _head(node)

    for text in nodes.dump(root, depth, head):
        yield text, span


def _head(node: object) -> str | None:
    if isinstance(node, list):
        return None
    assert isinstance(node, Node)
    of_children = child_fields(type(node))
    texts = (_field(item.name, getattr(node, item.name)) for item in fields(node) if item.name not in of_children)
    return type(node).__name__ + "".join(f" {text}" for text in texts if text)


def _field(name: str, value: object) -> str:
    if isinstance(value, Span) or value is None or value == []:
        return ""
    if isinstance(value, (FunctionDecl, VarDecl)):
        return value.name
    if isinstance(value, Qualifiers):
        words = [str(value.space)] if value.space is not AddressSpace.PRIVATE else []
        words += [w for w in ("const", "volatile", "restrict") if getattr(value, w)]
        return f"{{{' '.join(words)}}}" if value != PLAIN else ""
    if name == "type":
        return f"'{value}'"
    if name == "parameters":
        return f"({', '.join(map(str, cast('tuple[Type, ...]', value)))})"
    if isinstance(value, Enum):
        return str(value.value)
    return f"{value}" if name in ("name", "op") else f"{name}={value}"
