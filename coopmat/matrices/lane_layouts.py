"""Lane layouts of a matrix in a subgroup: which component each lane holds in which slot.

    layout = Columns(rows=16, columns=24, lanes=16)
    layout.place(lane=3, slot=17)           # (1, 19)
    layout.place(Term("l"), Term("s"))      # the same as OpenCL C, for the library's sections

Each layout is defined once, for integers, numpy's arrays and `Term`s. With arrays, tests prove that every component is
held exactly once. With `Term`s, the same lines print the library's text.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, ClassVar

# A lane, a slot, a row or a column: an int, an array of ints, or a Term.
Number = Any


class Term:
    """A non-negative OpenCL C expression of type int, which Python's operators combine.

    Operations without effect are omitted, because most digits have the weight or the step 1, and many numbers of tiles
    are 1.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __mod__(self, other: object) -> Number:
        return 0 if other == 1 else Term(f"({self} % {other})")


def _printed(symbol: str, neutral: int, *, reflected: bool = False) -> Callable[[Term, object], Number]:
    """Return the method of `Term` for a binary operator; `neutral` is the right operand without effect."""

    def operate(x: Term, y: object) -> Number:
        if y == neutral and not (reflected and symbol in "-/"):
            return x
        return Term(f"({y} {symbol} {x})" if reflected else f"({x} {symbol} {y})")

    return operate


for _name, (_symbol, _neutral) in {"add": ("+", 0), "sub": ("-", 0), "mul": ("*", 1), "floordiv": ("/", 1)}.items():
    setattr(Term, f"__{_name}__", _printed(_symbol, _neutral))
    setattr(Term, f"__r{_name}__", _printed(_symbol, _neutral, reflected=True))


@dataclass(frozen=True, slots=True)
class LaneLayout(ABC):
    """A lane layout: the distribution of a matrix of `rows` x `columns` over `lanes` lanes.

    The components of a lane are in its first slots.
    name: the prefix of the names of those sections of the library that support only this class of layouts.
    has_vectors: whether `lanes` is 1 and the slots can be accessed as vectors.
    """

    name: ClassVar[str] = ""
    has_vectors: ClassVar[bool] = False
    rows: int
    columns: int
    lanes: int

    @property
    @abstractmethod
    def slots(self) -> int:
        """The number of slots of each lane; a slot holds one component."""

    @property
    def copies(self) -> int:
        """The number of lanes that hold each component; operations that write a component write all of its copies."""
        return 1

    @property
    def is_full(self) -> bool:
        """Whether every slot of every lane holds a component."""
        return self.slots * self.lanes == self.rows * self.columns * self.copies

    @property
    def unit(self) -> int:
        """The number of components that are always accessed as one vector; 1 if each operation chooses."""
        return 1

    @abstractmethod
    def place(self, lane: Number, slot: Number) -> tuple[Number, Number]:
        """Return the row and the column of a lane's slot; if the slot is empty, they are outside of the matrix."""

    @abstractmethod
    def holder(self, row: Number, column: Number) -> tuple[Number, Number]:
        """Return the lane and the slot that hold a component; if there are copies, the first of the lanes."""

    def first_lane(self, lane: Number) -> Number:
        """Return the first of the lanes that hold the same components as `lane`."""
        return lane

    def length(self, lane: Number) -> Number:
        """Return the number of components that a lane holds."""
        return self.slots

    def neighbours(self, count: int, down: bool = False) -> tuple[int, ...] | None:
        """Return the distances in slots from a component to itself and its next neighbours, `count` in all.

        The neighbours are in its row or, with `down`, in its column. `count` is a power of two, and the component's
        column or row a multiple of it. Return None if other lanes hold some of them.
        """
        holders = [self.holder(n, 0) if down else self.holder(0, n) for n in range(count)]
        return tuple(slot for _, slot in holders) if len({lane for lane, _ in holders}) == 1 else None

    def lies_as(self, other: LaneLayout) -> bool:
        """Return whether each component is in the same lane and slot as in `other`, even if their classes differ."""
        return self == other or _lie_alike(self, other)

    def macros(self) -> dict[str, str]:
        """Return the macros by which the library's sections use the layout: name without `CM_` -> body."""
        row, column = self.place(Term("(l)"), Term("(s)"))
        lane, slot = self.holder(Term("(r)"), Term("(c)"))
        test = "1" if self.is_full else "(CM_ROW(l, s) < CM_ROWS && CM_COLUMN(l, s) < CM_COLUMNS)"
        return {
            "SG": str(self.lanes),
            "SLOTS": str(self.slots),
            "HELD": str(self.length(Term("CM_LANE"))),
            "ROW(l, s)": str(row),
            "COLUMN(l, s)": str(column),
            "HOLDS(l, s)": test,
            "HOLDER(r, c)": str(lane),
            "SLOT(r, c)": str(slot),
            "FIRST(l)": str(self.first_lane(Term("(l)"))),
        }


@lru_cache(maxsize=4096)
def _lie_alike(x: LaneLayout, y: LaneLayout) -> bool:
    """Return whether two layouts put each component into the same lane and slot, by comparing all slots."""
    shape = x.lanes, x.slots
    if (x.rows, x.columns, *shape) != (y.rows, y.columns, y.lanes, y.slots):
        return False
    places = itertools.product(range(x.lanes), range(x.slots))
    return all(x.place(lane, slot) == y.place(lane, slot) for lane, slot in places)


class Whole(LaneLayout):
    """A lane layout in which one work-item has the whole matrix, row by row."""

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
    """A lane layout like `Whole`, but with rows in groups of `pack`.

    In a group, the components of a column are adjacent, as in the packed memory layout. The number of rows is a
    multiple of `pack`.
    """

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
    """A digit of a lane's or slot's number: its size, and the rows or columns by which one step of the digit advances.

    A digit with neither counts copies.
    """

    size: int
    row: int = 0
    column: int = 0

    @property
    def counts_copies(self) -> bool:
        """Whether the digit counts copies of the same component."""
        return not (self.row or self.column)


@dataclass(frozen=True, slots=True)
class Tile:
    """The lane layout of an instruction's operand: the digits of the lane's and the slot's number, lowest first.

    Each component is held by `copies` lanes. The constructor raises ValueError if the digits hold a component more or
    less often.
    """

    rows: int
    columns: int
    lanes: tuple[Digit, ...]
    slots: tuple[Digit, ...]
    copies: int = 1

    def __post_init__(self) -> None:
        digits = self.lanes + self.slots
        rows = _count(sorted((digit.row, digit.size) for digit in digits if digit.row))
        columns = _count(sorted((digit.column, digit.size) for digit in digits if digit.column))
        held = self.lane_count * self.components
        if (rows, columns, held) != (self.rows, self.columns, self.rows * self.columns * self.copies):
            raise ValueError(f"{self} does not hold each component {self.copies} times")

    @property
    def lane_count(self) -> int:
        """The number of lanes that hold the tile."""
        return prod(digit.size for digit in self.lanes)

    @property
    def components(self) -> int:
        """The number of components of a lane."""
        return prod(digit.size for digit in self.slots)

    def place(self, lane: Number, slot: Number) -> tuple[Number, Number]:
        """Return the row and the column of a lane's slot in the tile."""
        row: Number = 0
        column: Number = 0
        for number, digits in ((lane, self.lanes), (slot, self.slots)):
            for digit, value in _digits(number, digits):
                row = row + value * digit.row if digit.row else row
                column = column + value * digit.column if digit.column else column
        return row, column

    def holder(self, row: Number, column: Number) -> tuple[Number, Number]:
        """Return the lane and the slot that hold a component of the tile; if there are copies, the first lane."""

        def number(digits: tuple[Digit, ...]) -> Number:
            value: Number = 0
            for digit, weight in zip(digits, _weights(digits), strict=True):
                if not digit.counts_copies:
                    way, step = (row, digit.row) if digit.row else (column, digit.column)
                    value = value + way // step % digit.size * weight
            return value

        return number(self.lanes), number(self.slots)

    def first_lane(self, lane: Number) -> Number:
        """Return the first of the lanes that hold the same components as `lane`."""
        if self.copies == 1:
            return lane
        digits = zip(_digits(lane, self.lanes), _weights(self.lanes), strict=True)
        value: Number = 0
        for (digit, part), weight in digits:
            value = value if digit.counts_copies else value + part * weight
        return value


def _count(digits: list[tuple[int, int]]) -> int:
    """Return the number of rows or columns if the digits enumerate each once, otherwise 0; a digit is (step, size)."""
    count = 1
    for step, size in digits:
        count = count * size if step == count else 0
    return count


def _weights(digits: tuple[Digit, ...]) -> list[int]:
    """Return the weight of each digit: the product of the sizes of the lower digits."""
    return [prod(digit.size for digit in digits[:i]) for i in range(len(digits))]


def _digits(number: Number, digits: tuple[Digit, ...]) -> list[tuple[Digit, Number]]:
    """Return each digit with its value.

    The last digit is the whole quotient, because the number has no further digits.
    """
    cut = [(digit, number // weight) for digit, weight in zip(digits, _weights(digits), strict=True)]
    return [(digit, part % digit.size) for digit, part in cut[:-1]] + cut[-1:]


@dataclass(frozen=True, slots=True)
class Fragments(LaneLayout):
    """A lane layout as operands of an instruction: a matrix is split into tiles, which are ordered down the columns.

    The constructor raises ValueError if the shape is no multiple of the tile's, or the number of lanes differs.
    """

    tile: Tile
    name = "FRAGMENTS"

    def __post_init__(self) -> None:
        tile = self.tile
        if self.rows % tile.rows or self.columns % tile.columns or self.lanes != tile.lane_count:
            raise ValueError(f"{self.rows} x {self.columns} in {self.lanes} lanes cannot be divided into tiles {tile}")

    @property
    def slots(self) -> int:
        return self.rows // self.tile.rows * (self.columns // self.tile.columns) * self.tile.components

    @property
    def copies(self) -> int:
        return self.tile.copies

    @property
    def unit(self) -> int:
        return self.tile.components

    def first_lane(self, lane: Number) -> Number:
        return self.tile.first_lane(lane)

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


class Columns(LaneLayout):
    """A lane layout in which lane l has the columns c with c % lanes == l, in order, for every use."""

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
