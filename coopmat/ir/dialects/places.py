"""Where in the text that a user wrote a line of LLVM's print of it comes from."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...diagnostics import Span

_NAMES = re.compile(r"[%@](?:\"[^\"]*\"|[-\w.$]+)")


def find(source: str, name: str, line: str) -> Span | None:
    """The source's line that reads the same but for blanks; else but for the names of values; else the first that
    names the same function. None where there is no such line."""
    wanted = _squeezed(line)
    if not wanted:
        return None
    lines = source.split("\n")
    functions = [match for match in _NAMES.findall(line) if match[0] == "@"]
    readings: tuple[Callable[[str], bool], ...] = (
        lambda text: _squeezed(text) == wanted,
        lambda text: _nameless(text) == _nameless(line),
        lambda text: bool(functions) and _squeezed(functions[0]) in _squeezed(text),
    )
    for same in readings:
        for number, text in enumerate(lines, start=1):
            if same(text):
                return of_line(name, number, text)
    return None


def of_line(name: str, number: int, text: str) -> Span:
    """All of a line, without the blanks around it."""
    start = len(text) - len(text.lstrip())
    return Span(name, number, start + 1, number, max(len(text.rstrip()), start) + 1)


def _squeezed(line: str) -> str:
    return "".join(re.sub(r"(?<=[%@])\"([-\w.$]+)\"", r"\1", line.partition(";")[0]).split())


def _nameless(line: str) -> str:
    # LLVM's print says an alignment where the text did not.
    return re.sub(r"%(?:\"[^\"]*\"|[-\w.$]+)", "%", re.sub(r",align\d+", "", _squeezed(line)))
