"""The messages of a device's compiler about a text of this package, as diagnostics at the user's source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..diagnostics import Diagnostic, Note, Severity, SourceMap, Span
from ..frontend.reserved import LIBRARY_NAME

CODE = "device-build"
_SEVERITIES = {"fatal error": Severity.FATAL, "error": Severity.ERROR, "warning": Severity.WARNING, "note": None}
_WORDS = "|".join(_SEVERITIES)
# clang, and what is made of it (Intel, Oclgrind): FILE:LINE:COLUMN: error: TEXT. PoCL: error: FILE:LINE:COLUMN: TEXT,
# with `<Spelling=...>` behind the place of a macro's use. Older drivers of Intel's number the file: 1:LINE:COLUMN.
# Oclgrind does not heed #line in what it says.
_NAMELESS = "input.cl"
_PLACE = r"(?P<file>[^\n:]+|<[^>\n]*>):(?P<line>\d+):(?P<column>\d+)"
_FORMS = (
    re.compile(rf"{_PLACE}: (?P<word>{_WORDS}): (?P<text>.*)"),
    re.compile(rf"(?P<word>{_WORDS}): {_PLACE}(?: <Spelling=[^\n]*?>)?: (?P<text>.*)"),
    re.compile(rf"(?P<file>)(?P<line>)(?P<column>)(?P<word>{_WORDS}): (?P<text>.*)"),
)


@dataclass(frozen=True, slots=True)
class _Line:
    """One message; `severity` is None for a note."""

    severity: Severity | None
    text: str
    span: Span | None


def diagnostics(log: str, sources: SourceMap, text: str = "") -> list[Diagnostic]:
    """The messages of a build log; empty where it has none in a form that is known. `text` is what the device got.

    Columns are those of the text that the device was given, so that a whole line of the user's source is marked.
    """
    messages: list[Diagnostic] = []
    for line in _lines(log, sources, text):
        if line.severity is not None:
            messages.append(Diagnostic(line.severity, CODE, line.text, line.span))
        elif messages:
            messages[-1] = replace(messages[-1], notes=(*messages[-1].notes, Note(line.text, line.span)))
    return list(dict.fromkeys(messages))


def _lines(log: str, sources: SourceMap, text: str) -> Iterable[_Line]:
    for raw_line in log.split("\n"):
        match = next((m for form in _FORMS if (m := form.fullmatch(raw_line.strip()))), None)
        if match is not None:
            file, number = match["file"], int(match["line"] or 0)
            if file == _NAMELESS:
                file, number = _presumed(text, number)
            inside = f" (in the matrix library, line {number})" if file == LIBRARY_NAME else ""
            yield _Line(_SEVERITIES[match["word"]], match["text"] + inside, _span(file, number, sources))


def _presumed(text: str, number: int) -> tuple[str, int]:
    """The file and line that a line of the text stands for."""
    file, at = _NAMELESS, 0
    for line in text.split("\n")[:number]:
        directive = re.fullmatch(r'#line (\d+) "(.*)"', line)
        file, at = (re.sub(r"\\(.)", r"\1", directive[2]), int(directive[1]) - 1) if directive else (file, at + 1)
    return file, at


def _span(file: str, number: int, sources: SourceMap) -> Span | None:
    line = sources.line(file, number) if file in sources.files else None
    if line is None or not line.strip():
        return None
    return Span(file, number, len(line) - len(line.lstrip()) + 1, number, len(line.rstrip()) + 1)
