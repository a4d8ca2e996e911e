"""The report of a run of tuning: for each component type and shape, the old and the new tile and their times."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coopmat.linalg.parameters import Tiling


@dataclass(frozen=True)
class Row:
    """What tuning found for a component type and a shape. Times are medians of turns, in seconds.

    old: the tiling that the library used; old_seconds is its time, and None if it could not be measured.
    new: the faster tiling; None if none was found.
    trials, failed: the number of trials of tilings, and how many of them failed.
    failure: why the old tiling could not be measured, or not compared with others; empty if it could.
    """

    kind: str
    shape: tuple[int, int, int, int]
    shape_class: str
    old: Tiling
    new: Tiling | None
    old_seconds: float | None
    new_seconds: float | None
    trials: int
    failed: int
    failure: str = ""

    @property
    def gain(self) -> float:
        """The old time divided by the new time; 1 if there is no faster tiling."""
        return self.old_seconds / self.new_seconds if self.old_seconds and self.new and self.new_seconds else 1.0

    def cells(self) -> list[str]:
        """Return the texts of the columns of the report."""
        batch, *sizes = self.shape
        words = "x".join(map(str, sizes if batch == 1 else self.shape))
        times = [f"{1e6 * seconds:.1f}" if seconds else "" for seconds in (self.old_seconds, self.new_seconds)]
        new = _text(self.new) if self.new else "as before"
        return [self.kind, self.shape_class, words, _text(self.old), new, *times, f"{self.gain:.2f}", str(self.trials)]


_HEAD = ["type", "class", "shape", "old tile", "new tile", "old us", "new us", "gain", "trials"]


@dataclass(frozen=True)
class Report:
    """The result of a run. table: the file of the user's table. is_written: whether this run has changed the table."""

    device: str
    route: str
    rows: tuple[Row, ...]
    table: Path
    is_written: bool

    def to_record(self) -> dict[str, Any]:
        """Return the report as values that JSON can represent."""
        rows = [{**asdict(row), "gain": row.gain} for row in self.rows]
        return {**asdict(self), "rows": rows, "table": str(self.table)}

    def __str__(self) -> str:
        lines = [_HEAD, *(row.cells() for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        texts = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        failures = [f"{row.kind} {row.shape_class}: {row.failure}" for row in self.rows if row.failure]
        end = f"written to {self.table}" if self.is_written else "no faster tile was found; no table was written"
        return "\n".join([f"{self.device}, route {self.route}", *map(str.rstrip, texts), *failures, end])


def _text(tiling: Tiling) -> str:
    """Return a tiling as a text: its tile, the panels, and the block."""
    text = "x".join(map(str, tiling.tile))
    text += f" panels {','.join(tiling.panels)}" if tiling.panels else ""
    return text + (f" block {'x'.join(map(str, tiling.block))}" if tiling.block else "")
