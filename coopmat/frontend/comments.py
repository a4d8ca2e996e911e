"""Warnings about comments that readers and the compiler may end at different places."""

from __future__ import annotations

import re

from ..diagnostics import Diagnostics, Span
from .tokens import scan_comments

_CONTINUED = re.compile(r"//[^\n]*\\[ \t]*\r?\n")


def check(text: str, file: str, diagnostics: Diagnostics) -> None:
    """Tells of `/*` inside of a block comment, and of a `//` comment that a backslash carries on to the next line.

    Files without a trace of either, which is nearly all, are not scanned.
    """
    if text.count("/*") <= text.count("*/") and not _CONTINUED.search(text):
        return
    for start, comment in scan_comments(text):
        if comment.startswith("/*"):
            inner = comment.find("/*", 2)
            if inner >= 0:
                _tell(diagnostics, text, file, start + inner, "'/*' inside of a comment")
        elif comment.rstrip(" \t\r").endswith("\\"):
            _tell(diagnostics, text, file, start, "a '//' comment that goes on on the next line")


def _tell(diagnostics: Diagnostics, text: str, file: str, at: int, message: str) -> None:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    diagnostics.warning("comment", message, Span(file, line, column, line, column + 2))
