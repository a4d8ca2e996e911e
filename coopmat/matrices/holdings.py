"""How a cooperative matrix lies over the lanes of a subgroup: which component a lane holds in which slot.

    holding = Columns(rows=16, columns=24, lanes=16)
    holding.place(lane=3, slot=17)           # (1, 19)
    holding.place(Term("l"), Term("s"))      # the same as OpenCL C, for the library's sections

Each is written once, over integers, numpy's arrays and `Term`s alike: numpy proves that every component is held exactly
once, and the library's text is printed from the same lines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

# A lane, a slot, a row or a column: an int, an array of them, or a Term.
Number = Any


class Term:
    """An OpenCL C expression of int that is not negative, which Python's operators put together."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def _printed(symbol: str, *, reflected: bool = False) -> Callable[[Term, object], Term]:
    def operate(x: Term, y: object) -> Term:
        return Term(f"({y} {symbol} {x})" if reflected else f"({x} {symbol} {y})")

    return operate


for _name, _symbol in {"add": "+", "sub": "-", "mul": "*", "floordiv": "/", "mod": "%"}.items():
    setattr(Term, f"__{_name}__", _printed(_symbol))
    setattr(Term, f"__r{_name}__", _printed(_symbol, reflected=True))


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

    @abstractmethod
    def place(self, lane: Number, slot: Number) -> tuple[Number, Number]:
        """The row and the column of what a lane has in a slot: outside of the matrix where that is nothing."""

    @abstractmethod
    def holder(self, row: Number, column: Number) -> tuple[Number, Number]:
        """The lane that holds a component, and the slot."""

    def length(self, lane: Number) -> Number:
        """Components that a lane holds."""
        return self.slots

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

    def place(self, lane: Number, slot: Number) -> tuple[Number, Number]:
        in_pack = self.columns * self.pack
        return slot // in_pack * self.pack + slot % self.pack, slot % in_pack // self.pack

    def holder(self, row: Number, column: Number) -> tuple[Number, Number]:
        return 0, row // self.pack * (self.columns * self.pack) + column * self.pack + row % self.pack


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
