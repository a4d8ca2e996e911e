"""The search for a line of the user's text that corresponds to a line of LLVM's print."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...diagnostics import Span
from .text import NAME, Line, unquoted, without_comment

_HEAD = re.compile(r"define\b.*?@(?:\"([^\"]*)\"|([-\w.$]+))\s*\(")
_LABEL = re.compile(r"(?:\"[^\"]*\"|[-\w.$]+):")
_RESULT = re.compile(r"^%(?:\"[^\"]*\"|[-\w.$]+)\s*=\s*")
_NAMES = re.compile(r"[%@](?:\"[^\"]*\"|[-\w.$]+)")


def find_place(source: str, name: str, line: str) -> Span | None:
    """Return the span of the line in `source` that corresponds to a line of LLVM's print; None if there is none.

    The first of these that exists is returned: the instruction at the same position of the same function; a line that
    is equal but for blanks; a line that is equal but for the names of values; the definition of the metadata node; the
    head of the function; the first line that mentions the line's first global name.
    """
    text_without_blanks = _squeezed(line)
    if not text_without_blanks:
        return None
    lines = source.split("\n")
    number = _in_function(lines, line) if isinstance(line, Line) else None
    if number is not None:
        return span_of_line(name, number, lines[number - 1])
    functions = [match for match in _NAMES.findall(line) if match[0] == "@"]
    readings: tuple[Callable[[str], bool], ...] = (
        lambda text: _squeezed(text) == text_without_blanks,
        lambda text: _nameless(text) == _nameless(line),
        lambda text: line.startswith("!") and _squeezed(text).startswith(_squeezed(line.partition("=")[0]) + "="),
        lambda text: line.startswith("define") and _defines(text, unquoted(functions[0])),
        lambda text: bool(functions) and _squeezed(functions[0]) in _squeezed(text),
    )
    for same in readings:
        for number, text in enumerate(lines, start=1):
            if same(text):
                return span_of_line(name, number, text)
    return None


def _in_function(lines: list[str], line: Line) -> int | None:
    """Return the number of the line with the same position, if the source's function has one instruction a line."""
    start = next((n for n, text in enumerate(lines) if _defines(text, line.function)), None)
    if start is None:
        return None
    ordinal, within_switch = -1, False
    for number in range(start + 1, len(lines)):
        text = without_comment(lines[number]).strip()
        if text == "}":
            return None
        if not text or text == "{" or _LABEL.fullmatch(text) or "#dbg_" in text or "@llvm.dbg." in text:
            continue
        ordinal += not within_switch
        within_switch = (within_switch or text.startswith("switch ")) and not text.endswith("]")
        if ordinal == line.ordinal:
            return number + 1 if _opcode(text) == _opcode(line) else None
    return None


def _defines(text: str, function: str) -> bool:
    match = _HEAD.match(text.strip())
    return match is not None and (match[1] or match[2]) == function


def _opcode(text: str) -> str:
    return (_RESULT.sub("", text).split(None, 1) or [""])[0]


def span_of_line(name: str, number: int, text: str) -> Span:
    """Return the span of a line without leading and trailing blanks."""
    start = len(text) - len(text.lstrip())
    return Span(name, number, start + 1, number, max(len(text.rstrip()), start) + 1)


def _squeezed(line: str) -> str:
    return "".join(re.sub(r"(?<=[%@])\"([-\w.$]+)\"", r"\1", without_comment(line)).split())


def _nameless(line: str) -> str:
    # LLVM prints an alignment even if the source has none.
    return NAME.sub("%", re.sub(r",align\d+", "", _squeezed(line)))
