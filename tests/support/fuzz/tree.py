"""A program as a tree: nodes whose parts are text and further nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

STATEMENT, LIST, CONDITION = "statement", "list", "condition"
Part: TypeAlias = "str | Node"
# All names of random programs end so, and no others do.
NAME = re.compile(r"\b[A-Za-z]+_\d+\b")


@dataclass(frozen=True, eq=False)
class Node:
    """`kind`: what it is, a type for an expression; one node may stand for another of its kind. Each part of a LIST may
    be left out. `declares`: the names that are not there without it."""

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
        """The tree with another part in one place; itself where the part is not in it."""
        parts = tuple(
            new if part is old else part.replaced(old, new) if isinstance(part, Node) else part for part in self.parts
        )
        if all(part is mine for part, mine in zip(parts, self.parts, strict=True)):
            return self
        return Node(self.kind, parts, self.declares)

    def consistent(self) -> bool:
        """Whether everything that is named is also declared, and there is a kernel."""
        declared = {name for node in self.walk() for name in node.declares}
        return set(NAME.findall(str(self))) <= declared and "k_0" in declared


def listed(parts: list[Node]) -> Node:
    """Statements or declarations, each on lines of its own."""
    return Node(LIST, tuple(Node(part.kind, (*part.parts, "\n"), part.declares) for part in parts))
