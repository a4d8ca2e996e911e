"""The typed AST as text, for golden tests and compiler developers."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum

from ..diagnostics import Span
from .typed import DeclStmt, Expr, FunctionDecl, Stmt, Unit, VarDecl
from .types import PLAIN, AddressSpace, Qualifiers


def dump(unit: Unit) -> str:
    """An indented tree of the unit: one node a line, with its type."""
    lines: list[str] = []
    for variable in unit.variables:
        _dump_node(variable, 0, "", lines)
    for function in unit.functions:
        head = "kernel " if function.is_kernel else ""
        attributes = "".join(f" {k}={v}" for k, v in sorted(function.attributes.items()))
        lines.append(f"{head}function {function.name}: {function.type}{attributes}")
        for parameter in function.parameters:
            _dump_node(parameter, 1, "", lines)
        if function.body is not None:
            _dump_node(function.body, 1, "", lines)
    return "\n".join(lines) + "\n"


def _dump_node(root: object, depth: int, label: str, lines: list[str]) -> None:
    work: list[tuple[int, str, object]] = [(depth, label, root)]
    while work:
        depth, label, node = work.pop()
        indent = "  " * depth + (f"{label}: " if label else "")
        if isinstance(node, list):
            # The parts of an aggregate say their own positions.
            parts = [item if isinstance(item, tuple) else (i, item) for i, item in enumerate(node)]
            work.extend(reversed([(depth, f"{label}[{i}]", item) for i, item in parts]))
            continue
        if not isinstance(node, (Expr, Stmt, VarDecl)):
            lines.append(f"{indent}{node}")
            continue
        plain, nested = _dump_fields(node)
        lines.append(f"{indent}{type(node).__name__}{plain}")
        work.extend(reversed([(depth + 1, name, value) for name, value in nested]))


def _dump_fields(node: Expr | Stmt | VarDecl) -> tuple[str, list[tuple[str, object]]]:
    plain = ""
    nested: list[tuple[str, object]] = []
    for item in fields(node):
        value = getattr(node, item.name)
        if isinstance(value, (Span, FunctionDecl)) or value is None or value == []:
            plain += f" {value.name}" if isinstance(value, FunctionDecl) else ""
        elif isinstance(value, VarDecl) and not isinstance(node, DeclStmt):
            plain += f" {value.name}"
        elif isinstance(value, (Expr, Stmt, VarDecl)) or (isinstance(value, list) and not isinstance(value[0], int)):
            nested.append((item.name, value))
        elif isinstance(value, Qualifiers):
            words = [str(value.space)] if value.space is not AddressSpace.PRIVATE else []
            words += [w for w in ("const", "volatile", "restrict") if getattr(value, w)]
            plain += f" {{{' '.join(words)}}}" if value != PLAIN else ""
        elif item.name == "type":
            plain += f" '{value}'"
        elif item.name == "parameters":
            plain += f" ({', '.join(map(str, value))})"
        elif isinstance(value, Enum):
            plain += f" {value.value}"
        else:
            plain += f" {value}" if item.name in ("name", "op") else f" {item.name}={value}"
    return plain, nested
