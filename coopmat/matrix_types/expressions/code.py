"""Generated lines of OpenCL C: positions in matrices, vectors of the available lengths, names, and the lines' cost."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ...matrices import spelling
from ...matrices.variants import ComponentType
from .machine import Machine

COLUMNS, ROWS = "columns", "rows"
OTHER = {COLUMNS: ROWS, ROWS: COLUMNS}
_SIZES = (16, 8, 4, 3, 2, 1)
_INDENT = "    "
_LOOP_COST = 2.0


@dataclass(frozen=True, slots=True)
class Place:
    """The number of a row or column: `offset` plus the value of the variable `base` (a ulong), if there is one."""

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
    """A range of `count` rows or columns from `first` on."""

    first: Place
    count: int

    def __iter__(self) -> Iterator[Place]:
        return (self.first + i for i in range(self.count))


def position(axis: str, line: Place, along: Place) -> tuple[Place, Place]:
    """Return the (row, column) of a place in a line; lines are columns or rows, by `axis`."""
    return (along, line) if axis == COLUMNS else (line, along)


def chunks(count: int, widest: int) -> tuple[tuple[int, int], ...]:
    """Return (start, length) of the vectors that together hold `count` elements.

    The lengths for 17 elements are 16 and 1, for 7 elements 4 and 3.
    """
    pieces, start = [], 0
    while start < count:
        size = next(size for size in _SIZES if size <= min(count - start, widest) and (size != 3 or count - start == 3))
        pieces.append((start, size))
        start += size
    return tuple(pieces)


def vector_literal(element: ComponentType, parts: list[str]) -> str:
    """Return a literal of a vector with these components."""
    return parts[0] if len(parts) == 1 else f"({spelling.vector(element, len(parts))})({', '.join(parts)})"


def splat(element: ComponentType, w: int, scalar: str) -> str:
    """Return a vector, or a scalar if `w` is 1, with all components equal to `scalar`."""
    return scalar if w == 1 else f"({spelling.vector(element, w)})({scalar})"


def component(atom: str, w: int, lane: int) -> str:
    """Return the expression for element `lane` of the variable `atom`, a vector of `w` elements."""
    return atom if w == 1 else f"{atom}.s{lane:x}"


def binary(operator: str, element: ComponentType, w: int, x: str, y: str) -> str:
    """Return the expression of an operation on two names or components of names."""
    names = {"x": x, "y": y}
    return re.sub(r"\b[xy]\b", lambda match: names[match[0]], spelling.binary(operator, element, w))


class Code:
    """The text of a function during its generation.

    Values are named constants. In a block, each expression has one name. `cost` counts operations on registers, for
    each execution and each register of the vectors.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.lines: list[str] = []
        # purpose -> typedef at the beginning of the function
        self.typedefs: dict[str, str] = {}
        self.cost = 0.0
        self._depth = 1
        self._names = 0
        self._trips = 1
        # A scope for each nested block: (element, width, expression) -> name.
        self._scopes: list[dict[Hashable, str]] = [{}]
        self._registers: dict[str, int] = {}
        # Of each loop: the first line, the last line, and the total number of iterations.
        self._loops: list[tuple[int, int, int]] = []

    def line(self, text: str) -> None:
        """Append a line."""
        self.lines.append(_INDENT * self._depth + text)

    def fresh(self, prefix: str = "v") -> str:
        """Return a new name."""
        self._names += 1
        return f"{prefix}{self._names}"

    def count(self, element: ComponentType, w: int, cost: float = 1.0) -> None:
        """Add `cost` for each register of a vector and each iteration of the enclosing loops."""
        self.cost += cost * self._trips * self._width(element, w)

    def _width(self, element: ComponentType, w: int) -> int:
        """Return the number of registers that a vector of `w` elements takes."""
        return -(-element.bits * w // self.machine.register_bits)

    def declared(self, element: ComponentType, w: int, expression: str, *, constant: bool = True) -> str:
        """Declare a new variable and return its name."""
        name = self.fresh()
        self.line(f"{'const ' * constant}{spelling.vector(element, w)} {name} = {expression};")
        self._registers[name] = self._width(element, w) if w > 1 else 0
        return name

    def named(self, element: ComponentType, w: int, expression: str, cost: float = 1.0) -> str:
        """Return the name of a constant with the value of the expression; declare the constant if there is none yet."""
        key = (element, w, expression)
        for names in reversed(self._scopes):
            if key in names:
                return names[key]
        self.count(element, w, cost)
        name = self._scopes[-1][key] = self.declared(element, w, expression)
        return name

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write `head` and braces; names of values inside are forgotten after the block."""
        self.line(f"{head} {{" if head else "{")
        self._depth += 1
        self._scopes.append({})
        yield
        self._scopes.pop()
        self._depth -= 1
        self.line("}")

    @contextmanager
    def loop(self, name: str, start: int, end: int, step: int) -> Iterator[None]:
        """Write a loop over the ulong `name` from `start` to `end`."""
        trips, first = (end - start) // step, len(self.lines)
        self._trips *= trips
        self.cost += _LOOP_COST * self._trips
        with self.block(f"CM_ROLL for (ulong {name} = {start}; {name} < {end}; {name} += {step})"):
            yield
        self._loops.append((first, len(self.lines), self._trips))
        self._trips //= trips

    # --- registers ---------------------------------------------------------------------------

    def live(self) -> tuple[int, float]:
        """Return the largest number of registers in use at a time, and the cost of spilling.

        The cost is in accesses to memory: for each executed line, 2 (used / available - 1) accesses, at most one.
        """
        most, current, spilled = 0, 0, 0.0
        for number, change in enumerate(self._changes()):
            current += change
            most = max(most, current)
            if current > self.machine.registers:
                trips = max((trips for begin, behind, trips in self._loops if begin < number < behind), default=1)
                spilled += trips * min(1.0, 2 * (current / self.machine.registers - 1))
        return most, spilled

    def _changes(self) -> list[int]:
        """Return for each line the change of the number of registers in use."""
        first: dict[str, int] = {}
        last: dict[str, int] = {}
        for number, line in enumerate(self.lines):
            for name in re.findall(r"\bv\d+\b", line):
                first.setdefault(name, number)
                last[name] = number
        changes = [0] * (len(self.lines) + 1)
        for name, start in first.items():
            end = last[name]
            for begin, behind, _ in self._loops:
                if start < begin < end < behind:
                    end = behind
            changes[start] += self._registers.get(name, 0)
            changes[end] -= self._registers.get(name, 0)
        return changes
