"""The translation of a device compiler's messages about a written text to diagnostics at the user's source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..diagnostics import Diagnostic, Note, Severity, SourceMap, Span
from ..frontend.reserved import LIBRARY_NAME

CODE = "device-build"
_SEVERITIES = {"fatal error": Severity.FATAL, "error": Severity.ERROR, "warning": Severity.WARNING, "note": None}
_WORDS = "|".join(_SEVERITIES)
# clang and compilers based on it (Intel, Oclgrind) write FILE:LINE:COLUMN: error: TEXT. PoCL writes
# error: FILE:LINE:COLUMN: TEXT, with `<Spelling=...>` after the location of a macro's use. Older Intel drivers write a
# number for the file, 1:LINE:COLUMN. Oclgrind ignores #line directives and calls the file input.cl.
_NAMELESS = "input.cl"
_PLACE = r"(?P<file>[^\n:]+|<[^>\n]*>):(?P<line>\d+):(?P<column>\d+)"
_FORMS = (
    re.compile(rf"{_PLACE}: (?P<word>{_WORDS}): (?P<text>.*)"),
    re.compile(rf"(?P<word>{_WORDS}): {_PLACE}(?: <Spelling=[^\n]*?>)?: (?P<text>.*)"),
    re.compile(rf"(?P<file>)(?P<line>)(?P<column>)(?P<word>{_WORDS}): (?P<text>.*)"),
)


@dataclass(frozen=True, slots=True)
class _Line:
    """One message of a log; `severity` is None for a note."""

    severity: Severity | None
    text: str
    span: Span | None


def diagnostics(log: str, sources: SourceMap, text: str = "") -> list[Diagnostic]:
    """Return the messages of a build log, or an empty list if no known form matches.

    `text` is the text that was compiled. Columns refer to that text, so each span marks a whole line of the user's
    source.
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
    """Return the (file, line) that #line directives assign to line `number` of the text."""
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
