"""The output of a kernel's `coop_mat_print` and `coop_mat_print_lanes` as tables, for `coopmat run` in a terminal."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile

from .worker import Report

_TITLE = re.compile(r".* \[(\d+) x (\d+) \w+ (?:A|B|accumulator)\]")
_LANE = re.compile(r"\d+ \d+ \d+ \d+ [-+.\w]+")
_LANE_HEADS = ("lane", "slot", "row", "column", "value")


@contextmanager
def printed_as_tables() -> Iterator[Callable[[Callable[[Report], int]], Callable[[Report], int]]]:
    """Yield a wrapper for the work of a worker process; at the end, its output is shown with tables of the matrices.

    If standard output is no terminal, or workers are not forked, the output is left as the kernel prints it.
    """
    if sys.platform != "linux" or not sys.stdout.isatty():
        yield lambda work: work
        return
    with TemporaryFile() as file:
        try:
            yield lambda work: lambda report: _redirected(file.fileno(), work, report)
        finally:
            file.seek(0)
            show(file.read().decode("utf-8", "replace").splitlines())


def _redirected(output: int, work: Callable[[Report], int], report: Report) -> int:
    """Call `work` in the worker process with its standard output redirected to the file `output`."""
    os.dup2(output, 1)
    try:
        return work(report)
    finally:
        sys.stdout.flush()
        ctypes.CDLL(None).fflush(None)


def show(lines: Sequence[str]) -> None:
    """Print lines; those of complete matrices as tables, if the terminal is wide enough."""
    at = 0
    while at < len(lines):
        title = _TITLE.fullmatch(lines[at])
        if title is not None:
            rows = [line.split() for line in lines[at + 1 : at + 1 + int(title[1])]]
            is_whole = len(rows) == int(title[1]) and all(len(row) == int(title[2]) for row in rows)
            count = 1 + len(rows) if is_whole else 1
            numbered = [[str(number), *row] for number, row in enumerate(rows)] if is_whole else []
            heads = ("", *map(str, range(int(title[2]))))
        else:
            count = next((n for n, line in enumerate(lines[at:]) if not _LANE.fullmatch(line)), len(lines) - at)
            numbered = [line.split() for line in lines[at : at + count]]
            numbered.sort(key=lambda row: [int(text) for text in row[:4]])
            count, heads = max(1, count), _LANE_HEADS
        _show(lines[at : at + count], lines[at] if title else None, heads, numbered)
        at += count


def _show(lines: Sequence[str], title: str | None, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows as a table, or `lines` if there are no rows or the table is wider than the terminal."""
    from rich.console import Console
    from rich.markup import escape
    from rich.measure import Measurement
    from rich.table import Table

    console = Console()
    table = Table(row_styles=("", "dim"))
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    width = Measurement.get(console, console.options.update(max_width=10_000), table).maximum
    if rows and width <= console.width:
        if title is not None:
            console.print(escape(title), highlight=False)
        console.print(table)
    else:
        sys.stdout.write("\n".join([*lines, ""]))
