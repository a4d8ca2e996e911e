"""Lines of OpenCL C: positions in matrices, accesses to memory, vectors of the lengths that there are, names."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace

from .. import spelling
from ..variants import ComponentType
from .terms import InMemory

COLUMNS, ROWS = "columns", "rows"
_SIZES = (16, 8, 4, 3, 2, 1)
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Place:
    """A row's or a column's number: `offset`, and what the variable `base` (a ulong) holds."""

    offset: int = 0
    base: str = ""

    def __add__(self, count: int) -> Place:
        return replace(self, offset=self.offset + count)

    def __str__(self) -> str:
        if not self.base:
            return f"{self.offset}"
        return f"({self.base} + {self.offset})" if self.offset else self.base


@dataclass(frozen=True, slots=True)
class Span:
    """`count` rows or columns, from `first`."""

    first: Place
    count: int

    def __iter__(self) -> Iterator[Place]:
        return (self.first + i for i in range(self.count))


def chunks(count: int, widest: int) -> tuple[tuple[int, int], ...]:
    """(start, length) of vectors that together hold `count` elements: 17 is 16 and 1, 7 is 4 and 3."""
    found, start = [], 0
    while start < count:
        size = next(size for size in _SIZES if size <= min(count - start, widest) and (size != 3 or count - start == 3))
        found.append((start, size))
        start += size
    return tuple(found)


def vector_literal(element: ComponentType, parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({spelling.vector(element, len(parts))})({', '.join(parts)})"


def splat(element: ComponentType, w: int, scalar: str) -> str:
    return scalar if w == 1 else f"({spelling.vector(element, w)})({scalar})"


def component(atom: str, w: int, lane: int) -> str:
    """Element `lane` of the variable `atom`."""
    return atom if w == 1 else f"{atom}.s{lane:x}"


def binary(operator: str, element: ComponentType, w: int, x: str, y: str) -> str:
    """Of two names or calls."""
    names = {"x": x, "y": y}
    return re.sub(r"\b[xy]\b", lambda match: names[match[0]], spelling.binary(operator, element, w))


@dataclass(frozen=True, slots=True)
class Memory:
    """A matrix in memory, by the name of its pointer."""

    name: str
    where: InMemory

    @property
    def along(self) -> str:
        """What lies contiguously."""
        return ROWS if self.where.row_major else COLUMNS

    @property
    def stride(self) -> str:
        return f"{self.name}_stride" if self.where.stride is None else f"{self.where.stride}"

    def address(self, row: Place, column: Place) -> str:
        major, minor = (row, column) if self.where.row_major else (column, row)
        constant, terms = minor.offset, [minor.base] * bool(minor.base)
        if self.where.stride is None:
            if major.base or major.offset:
                ulong = f"{major}UL" if not major.base else str(major)
                terms.append(self.stride if ulong == "1UL" else f"{ulong} * {self.stride}")
        else:
            constant += major.offset * self.where.stride
            if major.base:
                terms.append(f"{major.base} * {self.where.stride}")
        if constant:
            terms.append(f"{constant}")
        return " + ".join([self.name, *terms])


class Code:
    """The text of a function as it grows. Values are names of constants, each for an expression known in its block."""

    def __init__(self, widest: int) -> None:
        self.widest = widest
        self.lines: list[str] = []
        self._depth = 1
        self._names = 0
        # Block within block: what is known there.
        self._known: list[dict[Hashable, str]] = [{}]

    def line(self, text: str) -> None:
        self.lines.append(_INDENT * self._depth + text)

    def fresh(self, prefix: str = "v") -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def named(self, element: ComponentType, w: int, expression: str) -> str:
        """A constant that holds it; the name of the one that does."""
        return self.once((element, w, expression), element, w, lambda: expression)

    def once(self, key: Hashable, element: ComponentType, w: int, expression: Callable[[], str]) -> str:
        for known in reversed(self._known):
            if key in known:
                return known[key]
        text = expression()
        name = self.fresh()
        self.line(f"const {spelling.vector(element, w)} {name} = {text};")
        self._known[-1][key] = name
        return name

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """`head` and braces; what becomes known inside is forgotten behind it."""
        self.line(f"{head} {{" if head else "{")
        self._depth += 1
        self._known.append({})
        yield
        self._known.pop()
        self._depth -= 1
        self.line("}")

    def loop(self, name: str, start: int, end: int, step: int) -> AbstractContextManager[None]:
        return self.block(f"CM_ROLL for (ulong {name} = {start}; {name} < {end}; {name} += {step})")
