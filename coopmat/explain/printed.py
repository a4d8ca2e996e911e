"""The output of kernels that call `coop_mat_print` and `coop_mat_print_lanes`, read back as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TITLE = re.compile(r".* \[(\d+) x (\d+) \w+ (?:A|B|accumulator)\]")
_LANE = re.compile(r"\d+ \d+ \d+ \d+ [-+.\w]+")
_LANE_HEADS = ("lane", "slot", "row", "column", "value")


@dataclass(frozen=True, slots=True)
class Printed:
    """A part of an output.

    lines: the lines of the part.
    title: the title of a printed matrix; "" for the lines of `coop_mat_print_lanes`.
    heads: the heads of the columns.
    rows: the cells of each row, sorted by lane and slot; empty if the lines are no whole matrix.
    """

    lines: tuple[str, ...]
    title: str = ""
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def read(lines: Sequence[str]) -> Iterator[Printed]:
    """Yield the parts of an output, whose lines together are `lines`."""
    at = 0
    while at < len(lines):
        part = _matrix(lines, at) or _lanes(lines, at) or Printed((lines[at],))
        yield part
        at += len(part.lines)


def _matrix(lines: Sequence[str], at: int) -> Printed | None:
    """Return the matrix whose title is at `at`, None if its rows are not complete."""
    match = _TITLE.fullmatch(lines[at])
    if match is None:
        return None
    count, columns = int(match[1]), int(match[2])
    rows = [tuple(line.split()) for line in lines[at + 1 : at + 1 + count]]
    if len(rows) < count or any(len(row) != columns for row in rows):
        return None
    heads = ("", *map(str, range(columns)))
    numbered = tuple((str(number), *row) for number, row in enumerate(rows))
    return Printed(tuple(lines[at : at + 1 + count]), lines[at], heads, numbered)


def _lanes(lines: Sequence[str], at: int) -> Printed | None:
    end = next((n for n in range(at, len(lines)) if not _LANE.fullmatch(lines[n])), len(lines))
    if end == at:
        return None
    rows = sorted((tuple(line.split()) for line in lines[at:end]), key=lambda row: [int(text) for text in row[:4]])
    return Printed(tuple(lines[at:end]), "", _LANE_HEADS, tuple(rows))
