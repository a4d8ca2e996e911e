"""Preprocessing tokens with exact positions: the scanner that makes them, clang's warnings about comments, and the
tokens of a translation unit, which is what the preprocessor makes, with their text for -E.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostics, Span

if TYPE_CHECKING:
    from .expansion import Macro

ID, INTEGER, FLOAT = "IDENTIFIER", "INTEGER", "FLOAT"
STRING, CHAR = "STRING", "CHAR"
PRAGMA, PUNCTUATOR = "PRAGMA", "PUNCTUATOR"
#: A character, or an unterminated literal or comment, that starts no token.
BAD = "BAD"
#: `##`.
PASTE = "PASTE"


#: Of the tokens of a macro that is not expanded yet, and of text that is in no file.
NOWHERE = Span("", 0, 0, 0, 0)


class Token:
    """One preprocessing token: `type` (category), `value` (text), `span`, and whether blanks stood before it.

    `span` is where the user wrote it; a token out of a macro's body has the span of the macro's use. A `painted`
    identifier is no macro, whatever its name (C11 6.10.3.4).
    """

    __slots__ = ("painted", "spaced", "span", "type", "value")

    def __init__(self, type: str, value: str, span: Span, spaced: bool = False, painted: bool = False) -> None:
        self.type = type
        self.value = value
        self.span = span
        self.spaced = spaced
        self.painted = painted

    def __repr__(self) -> str:
        return f"Token({self.type}, {self.value!r}, {self.span})"


_PUNCTUATORS = (
    r"\.\.\.|<<=|>>=|%:%:|->|\+\+|--|&&|\|\||<<|>>|<=|>=|==|!=|\+=|-=|\*=|/=|%=|&=|\^=|\|=|##|<:|:>|<%|%>|%:"
    r"|[][(){};,.+\-*/%&|^~!<>=?:#]"
)
_DIGRAPHS = {"<:": "[", ":>": "]", "<%": "{", "%>": "}", "%:": "#", "%:%:": "##"}

_SCAN = re.compile(
    r"(?P<space>[ \t\v\f\r]+)|(?P<newline>\n)"
    r"|(?P<id>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<number>\.?[0-9](?:[eEpP][+-]|[0-9A-Za-z_.])*)"
    r"|(?P<line_comment>//[^\n]*)|(?P<comment>/\*.*?\*/)|(?P<bad_comment>/\*.*)"
    rf"|(?P<punctuator>{_PUNCTUATORS})"
    r'|(?P<string>"(?:[^"\\\n]|\\[^\n])*")'
    r"|(?P<char>'(?:[^'\\\n]|\\[^\n])+')"
    r"""|(?P<bad>["'][^\n]*|[^\x00-\x7f]+|.)""",
    re.DOTALL,
)
_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_TYPES = {"id": ID, "string": STRING, "char": CHAR, "bad": BAD, "bad_comment": BAD}
_PLAIN_INTEGER = re.compile(r"(?:0[xXbB][0-9a-fA-F]+|[0-9]+)[uUlL]*\Z")


def number_type(text: str) -> str:
    """INTEGER for an integer constant, FLOAT for every other preprocessing number."""
    return INTEGER if _PLAIN_INTEGER.match(text) else FLOAT


def pastes(left: str, right: str) -> bool:
    """Whether two texts written side by side would not come back as the same two tokens."""
    match = _SCAN.match(left + right)
    return match is None or match.end() != len(left)


class _Spliced:
    """Offsets in a text whose line splices were removed, back to physical lines and columns."""

    def __init__(self, text: str) -> None:
        self.line_starts = [0] + [match.end() for match in re.finditer("\n", text)]
        self.starts = [0]
        self.shifts = [0]
        pieces, at, removed = [], 0, 0
        for match in _SPLICE.finditer(text):
            pieces.append(text[at : match.start()])
            at = match.end()
            self.starts.append(match.start() - removed)
            removed += match.end() - match.start()
            self.shifts.append(removed)
        self.text = "".join([*pieces, text[at:]])

    def locate(self, offset: int) -> tuple[int, int]:
        physical = offset + self.shifts[bisect_right(self.starts, offset) - 1]
        line = bisect_right(self.line_starts, physical)
        return line, physical - self.line_starts[line - 1] + 1

    def span(self, file: str, start: int, end: int) -> Span:
        end_line, end_column = self.locate(end - 1)
        return Span(file, *self.locate(start), end_line, end_column + 1)


def scan_lines(text: str, file: str) -> Iterator[list[Token]]:
    """The logical lines of a file that have tokens on them; comments and blanks become `spaced` flags."""
    spliced = _Spliced(text) if _SPLICE.search(text) else None
    logical = spliced.text if spliced else text
    line, line_start, spaced = 1, 0, False
    tokens: list[Token] = []
    for match in _SCAN.finditer(logical):
        group = match.lastgroup
        if group == "space" or group == "line_comment":
            spaced = True
            continue
        start, end = match.span()
        if group == "newline":
            if tokens:
                yield tokens
                tokens = []
            line, line_start, spaced = line + 1, end, False
            continue
        if group == "comment":
            spaced = True
            newlines = logical.count("\n", start, end)
            if newlines:
                line, line_start = line + newlines, logical.rfind("\n", start, end) + 1
            continue
        value = match.group()
        if spliced is not None:
            span = spliced.span(file, start, end)
        else:
            column = start - line_start + 1
            span = Span(file, line, column, line, column + end - start)
        tokens.append(Token(_category(group, value), _DIGRAPHS.get(value, value), span, spaced))
        spaced = False
    if tokens:
        yield tokens


def scan_comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a text as it stands, each with its offset."""
    for match in _SCAN.finditer(text):
        if match.lastgroup in ("line_comment", "comment"):
            yield match.start(), match.group()


def _category(group: str | None, value: str) -> str:
    if group == "punctuator":
        return PASTE if value in ("##", "%:%:") else PUNCTUATOR
    if group == "number":
        return number_type(value)
    return _TYPES[group or "bad"]


def scanned(text: str, span: Span = NOWHERE) -> list[Token]:
    """The tokens of a text that is in no file; all get the same span."""
    tokens: list[Token] = []
    spaced = False
    for match in _SCAN.finditer(text):
        group, value = match.lastgroup, match.group()
        if group in ("space", "newline", "line_comment", "comment"):
            spaced = True
            continue
        tokens.append(Token(_category(group, value), _DIGRAPHS.get(value, value), span, spaced))
        spaced = False
    return tokens


def spelled(tokens: Sequence[Token]) -> str:
    """Tokens of one line as they are written, with single blanks."""
    return "".join(" " * token.spaced + token.value for token in tokens).strip()


# --- translation units -----------------------------------------------------------------------------


# Macros whose replacement depends on where, and when, they are used.
_OF_PLACES = frozenset({"__FILE__", "__DATE__", "__TIME__"})


@dataclass(slots=True)
class TokenStream:
    """All tokens of a translation unit. `end` is the end of the main file, where `complete` was reached.

    `dependencies` names the files that were read, the main one first, those held in memory left out. `absent` are the
    names that includes were looked for under, and there was no file.
    """

    tokens: list[Token]
    end: Span
    dependencies: list[str]
    complete: bool
    absent: list[str] = field(default_factory=list)
    #: Those that are defined at the end, by name.
    macros: Mapping[str, Macro] = field(default_factory=dict, repr=False, compare=False)

    def to_text(self) -> str:
        """What `-E` prints: with line markers, and such that it comes back as the same tokens."""
        return "".join(_render(self.tokens, self.end.file))

    def definitions(self) -> str:
        """What `-E -dM` prints: a `#define` for each macro that is defined at the end."""
        shown = (self.macros[name].text for name in sorted(self.macros.keys() - _OF_PLACES))
        return "".join(f"#define {' '.join(text.split())}\n" for text in shown)


def _render(tokens: list[Token], main: str) -> Iterator[str]:
    yield f'# 1 "{quoted(main)}"\n'
    file, line, previous = main, 1, ""
    for token in tokens:
        span = token.span
        if previous and (token.type == PRAGMA or span.line != line or span.file != file):
            yield "\n"
            line, previous = line + 1, ""
        if span.file != file or not 0 <= span.line - line <= 8:
            file, line = span.file, span.line
            yield f'# {line} "{quoted(file)}"\n'
        yield "\n" * (span.line - line)
        line = span.line
        if token.type == PRAGMA:
            yield f"#pragma {token.value}\n"
            line += 1
            continue
        if not previous:
            yield " " * (span.column - 1)
        elif token.spaced or pastes(previous, token.value):
            yield " "
        yield token.value
        previous = token.value
    if previous:
        yield "\n"


def quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def unquoted(text: str) -> str:
    """What stands between the quotes of a file's name or a pragma's text."""
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")


# --- comments --------------------------------------------------------------------------------------


_CONTINUED = re.compile(r"\\[ \t]*\r?\n")
_LINE_CONTINUED = re.compile(r"//[^\n]*\\[ \t]*\r?\n")
_NEXT = re.compile(r"[ \t]*//")
# clang looks at `/*/` as the end that it may be.
_OPENED = re.compile(r"/\*(?!/)")
COMMENT_WARNINGS = ("comment", "multi-line-comment")


def check_comments(
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
        last = bisect_left(lines, line) - 1
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
