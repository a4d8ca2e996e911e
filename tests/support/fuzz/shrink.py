"""Reduction of a program to a smaller one with the same fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from .kinds import Kind, Record
from .tree import CONDITION, LIST, STATEMENT, Node, Part


def shrink(tree: Node, fails: Callable[[Node], bool], seconds: float = 60.0) -> Node:
    """Return the smallest program found in `seconds`; `fails` returns whether a program still has the fault."""
    end = time.monotonic() + seconds
    changed = True
    while changed and time.monotonic() < end:
        changed = False
        position = 0
        while time.monotonic() < end:
            nodes = sorted(tree.walk(), key=_size, reverse=True)
            if position >= len(nodes):
                break
            for smaller in _smaller(nodes[position]):
                candidate = tree.replaced(nodes[position], smaller)
                if _size(candidate) < _size(tree) and candidate.consistent() and fails(candidate):
                    tree, changed = candidate, True
                    break
                if time.monotonic() > end:
                    break
            else:
                position += 1
    return tree


def _size(node: Node) -> int:
    return len(str(node))


def _smaller(node: Node) -> Iterator[Part]:
    """Yield replacements for a node, the boldest first."""
    if node.kind is LIST:
        yield from _shorter(node)
    elif node.kind is STATEMENT:
        for inner in _outermost(node, LIST):
            yield Node(STATEMENT, ("{\n", inner, "}\n"))
        for inner in _outermost(node, STATEMENT):
            yield inner
    elif node.kind is CONDITION:
        yield from (Node(CONDITION, (text,)) for text in ("1", "0") if str(node) not in ("0", "1"))
    elif node.kind == "index":
        yield from (Node("index", (text,)) for text in ("0", "1") if str(node) not in ("0", "1"))
    elif isinstance(node.kind, Kind):
        for text in (f"({node.kind})0", f"({node.kind})1"):
            if _size(node) > len(text):
                yield Node(node.kind, (text,))
    if isinstance(node.kind, (Kind, Record)) or node.kind is CONDITION:
        yield from _outermost(node, node.kind)


def _shorter(node: Node) -> Iterator[Node]:
    """Yield the list without half of its parts, a quarter, ..., one."""
    count = len(node.parts)
    length = count
    while length >= 1:
        for start in range(0, count, length):
            yield Node(LIST, node.parts[:start] + node.parts[start + length :])
        length //= 2


def _outermost(node: Node, kind: object) -> Iterator[Node]:
    """Yield the descendants of a kind that are not inside another such descendant."""
    for child in node.children:
        if child.kind == kind:
            yield child
        else:
            yield from _outermost(child, kind)
