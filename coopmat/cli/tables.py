"""The output of a kernel's `coop_mat_print` and `coop_mat_print_lanes` as tables, for `coopmat run` in a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from .worker import Report

if TYPE_CHECKING:
    from coopmat.explain.printed import Printed


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
    return work(report)


def show(lines: Sequence[str]) -> None:
    """Print lines; those of complete matrices as tables, if the terminal is wide enough."""
    from coopmat.explain.printed import read

    for part in read(lines):
        _show(part)


def _show(part: Printed) -> None:
    """Print rows as a table, or lines if there are no rows or the table is wider than the terminal."""
    from rich.console import Console
    from rich.markup import escape
    from rich.measure import Measurement
    from rich.table import Table

    console = Console()
    table = Table(row_styles=("", "dim"))
    for head in part.heads:
        table.add_column(head, justify="right", no_wrap=True)
    for row in part.rows:
        table.add_row(*row)
    width = Measurement.get(console, console.options.update(max_width=10_000), table).maximum
    if part.rows and width <= console.width:
        if part.title:
            console.print(escape(part.title), highlight=False)
        console.print(table)
    else:
        sys.stdout.write("\n".join([*part.lines, ""]))
