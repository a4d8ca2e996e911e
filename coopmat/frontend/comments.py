"""Warnings about comments that readers and the compiler may end at different places, as clang has them."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterator, Sequence

from ..diagnostics import Diagnostics, Span
from .tokens import scan_comments

_CONTINUED = re.compile(r"\\[ \t]*\r?\n")
_LINE_CONTINUED = re.compile(r"//[^\n]*\\[ \t]*\r?\n")
_NEXT = re.compile(r"[ \t]*//")
# clang looks at `/*/` as the end that it may be.
_OPENED = re.compile(r"/\*(?!/)")
NAMES = ("comment", "multi-line-comment")


def check(
    text: str, place: Callable[[int], tuple[str, int]], diagnostics: Diagnostics, switches: Sequence[tuple[int, bool]]
) -> None:
    """Tells of every `/*` inside of a block comment, and of a `//` comment that a backslash carries on to the next one,
    unless that is a `//` comment, too. `switches` are the lines after which text counts, or does not, in order: where
    it does not, nothing is told. `place` gives the file and line that a line is said to be.

    Files without a trace of either, which is nearly all, are not scanned.
    """
    if text.count("/*") <= text.count("*/") and not _LINE_CONTINUED.search(text):
        return
    lines = [line for line, _ in switches]
    for at, name, message in _findings(text):
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        last = bisect.bisect_left(lines, line) - 1
        if last < 0 or switches[last][1]:
            file, line = place(line)
            diagnostics.warning(name, message, Span(file, line, column, line, column + 1 + (name == "comment")))


def _findings(text: str) -> Iterator[tuple[int, str, str]]:
    for start, comment in scan_comments(text):
        if comment.startswith("/*"):
            for match in _OPENED.finditer(comment, 2):
                yield start + match.start(), "comment", "'/*' inside of a comment"
            continue
        for match in _CONTINUED.finditer(text, start, start + len(comment) + 2):
            if match.start() < start + len(comment) and not _NEXT.match(text, match.end()):
                yield match.start(), "multi-line-comment", "a '//' comment that goes on on the next line"
                break
