"""How a cooperative matrix lies over the lanes of a subgroup: which component a lane holds in which slot.

    holding = Columns(rows=16, columns=24, lanes=16)
    holding.place(lane=3, slot=17)           # (1, 19)
    holding.place(Term("l"), Term("s"))      # the same as OpenCL C, for the library's sections

Each is written once, over integers, numpy's arrays and `Term`s alike: numpy proves that every component is held exactly
once, and the library's text is printed from the same lines.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, ClassVar

# A lane, a slot, a row or a column: an int, an array of them, or a Term.
Number = Any


class Term:
    """An OpenCL C expression of int that is not negative, which Python's operators put together. What changes nothing
    is left out: most digits begin at 1, and many numbers of tiles are 1."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __mod__(self, other: object) -> Number:
        return 0 if other == 1 else Term(f"({self} % {other})")


def _printed(symbol: str, neutral: int, *, reflected: bool = False) -> Callable[[Term, object], Number]:
    def operate(x: Term, y: object) -> Number:
        if y == neutral and not (reflected and symbol in "-/"):
            return x
        return Term(f"({y} {symbol} {x})" if reflected else f"({x} {symbol} {y})")

    return operate


for _name, (_symbol, _neutral) in {"add": ("+", 0), "sub": ("-", 0), "mul": ("*", 1), "floordiv": ("/", 1)}.items():
    setattr(Term, f"__{_name}__", _printed(_symbol, _neutral))
    setattr(Term, f"__r{_name}__", _printed(_symbol, _neutral, reflected=True))


@dataclass(frozen=True, slots=True)
class Holding(ABC):
    """Of a matrix of `rows` x `columns`, over `lanes`. The components that a lane holds come first in its slots.

    `name` is that of the library's sections that are for this holding alone. `has_vectors`: there is one lane, whose
    slots can be accessed as vectors.
    """

    name: ClassVar[str] = ""
    has_vectors: ClassVar[bool] = False
    rows: int
    columns: int
    lanes: int

    @property
    @abstractmethod
    def slots(self) -> int:
        """Components that each lane has room for."""

    @property
    def is_full(self) -> bool:
        """Whether every slot of every lane holds a component."""
        return self.slots * self.lanes == self.rows * self.columns

    @property
    def unit(self) -> int:
        """How many components are accessed as one vector wherever they are: 1 where that is the operation's choice."""
        return 1

    @abstractmethod
    def place(self, lane: Number, slot: Number) -> tuple[Number, Number]:
        """The row and the column of what a lane has in a slot: outside of the matrix where that is nothing."""

    @abstractmethod
    def holder(self, row: Number, column: Number) -> tuple[Number, Number]:
        """The lane that holds a component, and the slot."""

    def length(self, lane: Number) -> Number:
        """Components that a lane holds."""
        return self.slots

    def lies_as(self, other: Holding) -> bool:
        """Whether each component is where the other has it, whatever the two are called."""
        return self == other or _lie_alike(self, other)

    def macros(self) -> dict[str, str]:
        """What the library's sections read of it, `CM_` left out."""
        row, column = self.place(Term("(l)"), Term("(s)"))
        lane, slot = self.holder(Term("(r)"), Term("(c)"))
        held = "1" if self.is_full else "(CM_ROW(l, s) < CM_ROWS && CM_COLUMN(l, s) < CM_COLUMNS)"
        return {
            "SG": str(self.lanes),
            "SLOTS": str(self.slots),
            "HELD": str(self.length(Term("CM_LANE"))),
            "ROW(l, s)": str(row),
            "COLUMN(l, s)": str(column),
            "HOLDS(l, s)": held,
            "HOLDER(r, c)": str(lane),
            "SLOT(r, c)": str(slot),
        }


@lru_cache(maxsize=4096)
def _lie_alike(x: Holding, y: Holding) -> bool:
    shape = x.lanes, x.slots
    if (x.rows, x.columns, *shape) != (y.rows, y.columns, y.lanes, y.slots):
        return False
    places = itertools.product(range(x.lanes), range(x.slots))
    return all(x.place(lane, slot) == y.place(lane, slot) for lane, slot in places)


class Whole(Holding):
    """A work-item alone holds all of it, row by row."""

    __slots__ = ()
    name = "WHOLE"
    has_vectors = True

    @property
    def slots(self) -> int:
        return self.rows * self.columns

    def place(self, lane: Number, slot: Number) -> tuple[Number, Number]:
        return slot // self.columns, slot % self.columns

    def holder(self, row: Number, column: Number) -> tuple[Number, Number]:
        return 0, row * self.columns + column


@dataclass(frozen=True, slots=True)
class Interleaved(Whole):
    """As `Whole`, but rows are `pack` at a time, whose components of a column lie together, as in the packed layout.
    The number of rows is a multiple."""

    pack: int = 1
    name = "INTERLEAVED"

    @property
    def unit(self) -> int:
        return 16 * self.pack

    def place(self, lane: Number, slot: Number) -> tuple[Number, Number]:
        in_pack = self.columns * self.pack
        return slot // in_pack * self.pack + slot % self.pack, slot % in_pack // self.pack

    def holder(self, row: Number, column: Number) -> tuple[Number, Number]:
        return 0, row // self.pack * (self.columns * self.pack) + column * self.pack + row % self.pack


@dataclass(frozen=True, slots=True)
class Digit:
    """Of a lane's number, or of a slot's: its `size`, and how far a step of it leads, by rows or by columns. A digit
    that leads nowhere counts copies."""

    size: int
    row: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Tile:
    """How an operand of an instruction lies: digits of the lane and of the slot, the lowest first."""

    rows: int
    columns: int
    lanes: tuple[Digit, ...]
    slots: tuple[Digit, ...]

    @property
    def components(self) -> int:
        """Of a lane."""
        return prod(digit.size for digit in self.slots)

    def place(self, lane: Number, slot: Number) -> tuple[Number, Number]:
        row: Number = 0
        column: Number = 0
        for number, digits in ((lane, self.lanes), (slot, self.slots)):
            for digit, value in _digits(number, digits):
                row = row + value * digit.row if digit.row else row
                column = column + value * digit.column if digit.column else column
        return row, column

    def holder(self, row: Number, column: Number) -> tuple[Number, Number]:
        def number(digits: tuple[Digit, ...]) -> Number:
            found: Number = 0
            for digit, weight in zip(digits, _weights(digits), strict=True):
                if digit.row or digit.column:
                    way, step = (row, digit.row) if digit.row else (column, digit.column)
                    found = found + way // step % digit.size * weight
            return found

        return number(self.lanes), number(self.slots)


def _weights(digits: tuple[Digit, ...]) -> list[int]:
    return [prod(digit.size for digit in digits[:i]) for i in range(len(digits))]


def _digits(number: Number, digits: tuple[Digit, ...]) -> list[tuple[Digit, Number]]:
    """The last one is what is left: the number has no more."""
    cut = [(digit, number // weight) for digit, weight in zip(digits, _weights(digits), strict=True)]
    return [(digit, part % digit.size) for digit, part in cut[:-1]] + cut[-1:]


@dataclass(frozen=True, slots=True)
class Fragments(Holding):
    """As an instruction's operands, tile by tile, down the columns; the shape is a multiple of the tile's."""

    tile: Tile
    name = "FRAGMENTS"

    @property
    def slots(self) -> int:
        return self.rows // self.tile.rows * (self.columns // self.tile.columns) * self.tile.components

    @property
    def is_full(self) -> bool:
        return True

    @property
    def unit(self) -> int:
        return self.tile.components

    def place(self, lane: Number, slot: Number) -> tuple[Number, Number]:
        tile, down = self.tile, self.rows // self.tile.rows
        number = slot // tile.components
        row, column = tile.place(lane, slot % tile.components)
        return number % down * tile.rows + row, number // down * tile.columns + column

    def holder(self, row: Number, column: Number) -> tuple[Number, Number]:
        tile, down = self.tile, self.rows // self.tile.rows
        lane, slot = tile.holder(row % tile.rows, column % tile.columns)
        number = column // tile.columns * down + row // tile.rows
        return lane, number * tile.components + slot


class Columns(Holding):
    """Lane l holds the columns c with c % lanes == l, one after the other: of A, B and accumulators alike."""

    __slots__ = ()
    name = "COLUMNS"

    @property
    def slots(self) -> int:
        return -(-self.columns // self.lanes) * self.rows

    def place(self, lane: Number, slot: Number) -> tuple[Number, Number]:
        return slot % self.rows, slot // self.rows * self.lanes + lane

    def holder(self, row: Number, column: Number) -> tuple[Number, Number]:
        return column % self.lanes, column // self.lanes * self.rows + row

    def length(self, lane: Number) -> Number:
        return (self.columns + self.lanes - 1 - lane) // self.lanes * self.rows
