"""A program as a tree: nodes whose parts are text and further nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

STATEMENT, LIST, CONDITION = "statement", "list", "condition"
Part: TypeAlias = "str | Node"
# The pattern of all names in random programs, which no other word matches.
NAME = re.compile(r"\b[A-Za-z]+_\d+\b")


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the tree.

    kind: the kind of the text; for an expression, its type. Nodes of the same kind can replace each other. The parts of
    a LIST can be removed.
    declares: the names that the node declares.
    """

    kind: object
    parts: tuple[Part, ...]
    declares: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    @property
    def children(self) -> Iterator[Node]:
        return (part for part in self.parts if isinstance(part, Node))

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.walk()

    def replaced(self, old: Node, new: Part) -> Node:
        """Return the tree with `old` replaced by `new`; the tree itself if it does not contain `old`."""
        parts = tuple(
            new if part is old else part.replaced(old, new) if isinstance(part, Node) else part for part in self.parts
        )
        if all(part is mine for part, mine in zip(parts, self.parts, strict=True)):
            return self
        return Node(self.kind, parts, self.declares)

    def consistent(self) -> bool:
        """Return whether every used name is declared, and there is a kernel."""
        declared = {name for node in self.walk() for name in node.declares}
        return set(NAME.findall(str(self))) <= declared and "k_0" in declared


def listed(parts: list[Node]) -> Node:
    """Return a LIST of statements or declarations, each on separate lines."""
    return Node(LIST, tuple(Node(part.kind, (*part.parts, "\n"), part.declares) for part in parts))
