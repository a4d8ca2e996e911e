"""The typed AST as text, for golden tests and compiler developers."""

from __future__ import annotations

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
    lines: list[str] = []
    for variable in unit.variables:
        lines += nodes.dump(variable, 0, _head)
    for function in unit.functions:
        head = "kernel " if function.is_kernel else ""
        attributes = "".join(f" {k}={v}" for k, v in sorted(function.attributes.items()))
        lines.append(f"{head}function {function.name}: {function.type}{attributes}")
        for parameter in function.parameters:
            lines += nodes.dump(parameter, 1, _head)
        if function.body is not None and (library or not is_library(function.span.file)):
            lines += nodes.dump(function.body, 1, _head)
    return "\n".join(lines) + "\n"


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
