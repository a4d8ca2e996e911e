"""A progress bar on standard error for long operations: the count, the rate, and the remaining time."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any


class Bar:
    """A counter of finished items, shown as a progress bar if `display` is not None; `begin` sets the total."""

    def __init__(self, display: Any = None) -> None:
        self._display = display
        self._task = None if display is None else display.add_task("", total=None, rate="")
        self._start = time.monotonic()
        self.count = 0

    def begin(self, total: int) -> None:
        self._start = time.monotonic()
        if self._display is not None:
            self._display.update(self._task, total=total)

    def advance(self, count: int = 1) -> None:
        self.count += count
        if self._display is not None:
            rate = self.count / max(time.monotonic() - self._start, 1e-3)
            self._display.update(self._task, completed=self.count, rate=f"{rate:.1f}/s")

    def show(self, done: float, text: str) -> None:
        """Set how much is finished, and a text in place of the rate."""
        if self._display is not None:
            self._display.update(self._task, completed=done, rate=text)


@contextlib.contextmanager
def progress(is_shown: bool = True) -> Iterator[Bar]:
    """Show a progress bar inside the context, if standard error is a terminal and `is_shown` is true."""
    if not is_shown or not sys.stderr.isatty():
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as display:
        yield Bar(display)
