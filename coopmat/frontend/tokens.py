"""Preprocessing tokens with exact positions, their scanner, and the preprocessor's result, `TokenStream`.

Also clang's warnings about comments and trigraphs, and the text that -E prints.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostics, Span

if TYPE_CHECKING:
    from .expansion import Macro


ID, INTEGER, FLOAT = "IDENTIFIER", "INTEGER", "FLOAT"
STRING, CHAR = "STRING", "CHAR"
PRAGMA, PUNCTUATOR = "PRAGMA", "PUNCTUATOR"
#: The type of a character, or of an unterminated literal or comment, that starts no token.
BAD = "BAD"
# The type of an identifier that contains characters other than ASCII letters, digits and underscores.
_EXTENDED = "EXTENDED"
#: The type of `##`.
PASTE = "PASTE"


#: The span of tokens of a macro that is not expanded yet, and of text that is in no file.
NOWHERE = Span("", 0, 0, 0, 0)


class Token:
    """A preprocessing token.

    type: its category, such as ID.
    value: its text.
    span: its place in the user's source; a token of a macro's replacement has the span of the macro's use.
    spaced: whether white space precedes it.
    painted: whether it must not be replaced, even if it names a macro (C11 6.10.3.4).
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

_BLANKS = r"[ \t\v\f\r]*"
_STRING = r'"(?:[^"\\\n]|\\[^\n])*"'
_CHAR = r"'(?:[^'\\\n]|\\[^\n])+'"
_UCN = r"\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}"
_LETTER = rf"(?:[A-Za-z_$]|[^\x00-\x7f]|{_UCN})"
# A preprocessing number that is no plain integer is FLOAT. White space is part of the match of the next token, which
# halves the number of matches.
_SCAN = re.compile(
    rf"{_BLANKS}(?:(?P<id>[A-Za-z_][A-Za-z_0-9]*(?![A-Za-z_0-9$\\]|[^\x00-\x7f]))"
    rf"|(?P<extended>{_LETTER}(?:{_LETTER}|[0-9])*)"
    rf"|(?P<newline>\n)"
    r"|(?P<integer>(?:0[xXbB][0-9a-fA-F]+|[0-9]+)[uUlL]*(?![0-9A-Za-z_.])(?!(?<=[eEpP])[+-]))"
    r"|(?P<number>\.?[0-9](?:[eEpP][+-]|[0-9A-Za-z_.])*)"
    r"|(?P<line_comment>//[^\n]*)|(?P<comment>/\*.*?\*/)|(?P<bad_comment>/\*.*)"
    rf"|(?P<punctuator>{_PUNCTUATORS})"
    rf"|(?P<string>{_STRING})"
    rf"|(?P<char>{_CHAR})"
    r"""|(?P<bad>["'][^\n]*|[^\x00-\x7f]+|.)|(?P<end>\Z))""",
    re.DOTALL,
)
_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_TRIGRAPHS = dict(zip("=/'()!<>-", "#\\^[]|{}~", strict=True))
_TRIGRAPH = re.compile(r"\?\?[=/'()!<>-]")
_SPLICE_OR_TRIGRAPH = re.compile(r"(?:\\|\?\?/)[ \t]*\r?\n|\?\?[=/'()!<>-]")
_TYPES = {
    **{"id": ID, "integer": INTEGER, "number": FLOAT, "string": STRING, "char": CHAR, "punctuator": PUNCTUATOR},
    **{"bad": BAD, "bad_comment": BAD, "extended": _EXTENDED},
}
# Number of the group in _SCAN -> type of the token, or None for groups that are no tokens.
_TYPE_OF_GROUP = [None, *map(_TYPES.get, _SCAN.groupindex)]
_NEWLINE, _COMMENT = _SCAN.groupindex["newline"], _SCAN.groupindex["comment"]
# Spelling -> (type, value), for punctuators with another spelling or type.
_SPELLINGS = {text: (PASTE if value == "##" else PUNCTUATOR, value) for text, value in _DIGRAPHS.items()}
_SPELLINGS["##"] = (PASTE, "##")

# Text up to the newline before the next conditional directive. The repetition is bounded, since the regular expression
# engine stores a position for each repetition.
_SPACE = r"(?:[ \t\v\f\r]|/\*[^*]*(?:\*(?!/)[^*]*)*\*/)*"
_SKIPPED = re.compile(
    rf"(?:[^\"'/\n]+|{_STRING}|{_CHAR}|//[^\n]*|/\*.*?\*/|/\*.*|[\"'][^\n]*|/"
    rf"|\n(?!{_SPACE}(?:\#|%:){_SPACE}(?:if|el|endif))){{1,5000}}",
    re.DOTALL,
)


def pastes(left: str, right: str) -> bool:
    """Return whether two texts, if adjacent, would not be scanned as the same two tokens."""
    match = _SCAN.match(left + right)
    return match is None or match.end() != len(left)


class _Spliced:
    """A text without trigraphs and line splices, and the map from its offsets to physical lines and columns.

    joins: the offsets at which lines were joined.
    trigraphs: (offset in the text, offset in the file) of each trigraph.
    """

    def __init__(self, text: str) -> None:
        self.line_starts = [0] + [match.end() for match in re.finditer("\n", text)]
        self.starts = [0]
        self.shifts = [0]
        self.joins: list[int] = []
        self.trigraphs: list[tuple[int, int]] = []
        pieces, at, removed = [], 0, 0
        for match in (_SPLICE_OR_TRIGRAPH if "??" in text else _SPLICE).finditer(text):
            pieces.append(text[at : match.start()])
            at, start = match.end(), match.start() - removed
            if match[0][0] == "?":
                self.trigraphs.append((start, match.start()))
            if match[0].endswith("\n"):
                self.joins.append(start)
            else:
                pieces.append(_TRIGRAPHS[match[0][2]])
                removed, start = removed - 1, start + 1
            self.starts.append(start)
            removed += match.end() - match.start()
            self.shifts.append(removed)
        self.text = "".join([*pieces, text[at:]])

    def locate(self, offset: int) -> tuple[int, int]:
        physical = offset + self.shifts[bisect_right(self.starts, offset) - 1]
        line = bisect_right(self.line_starts, physical)
        return line, physical - self.line_starts[line - 1] + 1

    def span(self, file: str, start: int, end: int, first: int) -> Span:
        """Return the span of a token; `first` is the line number of the first line of the text."""
        (line, column), (end_line, end_column) = self.locate(start), self.locate(end - 1)
        return Span(file, line + first - 1, column, end_line + first - 1, end_column + 1)


class Scanner:
    """A scanner for the tokens of a file, or of its lines from number `line` on.

    While `skipping` is set, text up to the next conditional directive is passed over without making tokens.
    """

    def __init__(self, text: str, file: str, line: int = 1) -> None:
        self.text, self.file, self.line = text, file, line
        self.skipping = False

    def parts(self) -> Iterator[tuple[bool, list[Token]]]:
        """Yield (whether it is a directive, tokens) for each line with `#`, and for the text lines between directives.

        All text lines between two directives are in one list. Comments and white space become `spaced` flags.
        """
        text = self.text
        spliced = _Spliced(text) if _SPLICE.search(text) or "??" in text else None
        logical = spliced.text if spliced else text
        # The offsets at which lines were joined, then one past the end of the text.
        joins = iter([*spliced.joins, len(text) + 1] if spliced else [len(text) + 1])
        lines = _Lines(joins, next(joins), self.line)
        at = 0
        while at < len(logical):
            at = yield from self._stretch(logical, at, lines, spliced)

    def _stretch(
        self, logical: str, at: int, lines: _Lines, spliced: _Spliced | None
    ) -> Generator[tuple[bool, list[Token]], None, int]:
        """Yield the parts from offset `at` on, up to skipped text or the end; return the offset to continue at."""
        file, first, new = self.file, self.line, tuple.__new__
        types, spellings, newline = _TYPE_OF_GROUP, _SPELLINGS, _NEWLINE
        line, origin, join = lines.line, lines.origin, lines.join
        spaced = directive = False
        fresh = True
        tokens: list[Token] = []
        for match in _SCAN.finditer(logical, at):  # once for each token, therefore without calls of functions
            group = match.lastindex or 0
            start, end = match.span(group)
            if join <= start:
                line, origin, join = lines.cross(start + 1, line, origin)
            kind = types[group]
            if kind is not None:
                value = match[group]
                if spliced is not None and (end > join or kind is BAD or spliced.trigraphs):
                    span = spliced.span(file, start, end, first)
                else:
                    column = start - origin
                    span = new(Span, (file, line, column, line, column + end - start))
                if (kind is PUNCTUATOR and value in spellings) or kind is _EXTENDED:
                    kind, value = spellings.get(value) or _extended(value)
                if fresh:
                    fresh = False
                    if value == "#":
                        if tokens:
                            yield False, tokens
                            tokens = []
                        directive = True
                tokens.append(Token(kind, value, span, spaced or start != match.start()))
                spaced = False
            elif group == newline:
                if directive:
                    yield True, tokens
                    tokens, directive = [], False
                    if self.skipping:
                        return lines.skip(logical, start, line, origin)
                line, origin, spaced, fresh = line + 1, end - 1, False, True
            else:
                spaced = True
                if group == _COMMENT:
                    line, origin, join = lines.comment(logical, start, end, line, origin)
        if tokens:
            yield directive, tokens
        return len(logical)


@dataclass(slots=True)
class _Lines:
    """The count of physical lines of a logical text.

    joins: the following offsets at which lines were joined, in order.
    join: the next such offset.
    origin: the offset before the first column of `line`.
    """

    joins: Iterator[int]
    join: int
    line: int
    origin: int = -1

    def cross(self, end: int, line: int, origin: int) -> tuple[int, int, int]:
        """Return the line, the origin and the next join after all joins before offset `end`."""
        while self.join < end:
            line, origin = line + 1, max(origin, self.join - 1)
            self.join = next(self.joins)
        return line, origin, self.join

    def comment(self, text: str, start: int, end: int, line: int, origin: int) -> tuple[int, int, int]:
        """Return the line, its origin, and the next join of continued lines after a block comment."""
        newlines = text.count("\n", start, end)
        if newlines:
            line, origin = line + newlines, text.rfind("\n", start, end)
        return self.cross(end, line, origin)

    def skip(self, text: str, start: int, line: int, origin: int) -> int:
        """Count the lines of the text that is skipped after the newline at offset `start`.

        Return the offset of the newline at which scanning continues, which is `start` if nothing is skipped.
        """
        at = _skipped(text, start)
        self.line, self.origin, _ = self.cross(at + 1, line, origin)
        self.line += text.count("\n", start, at)
        return at


def _extended(text: str) -> tuple[str, str]:
    """Return the type and the value of an identifier with `$`, non-ASCII characters, or universal character names."""
    value = re.sub(_UCN, _character, text)
    return (ID if value.replace("$", "_").isidentifier() else BAD), value


def _character(name: re.Match[str]) -> str:
    number = int(name[0][2:], 16)
    # Universal character names of ASCII characters and of surrogates are invalid.
    return chr(number) if 0xA0 <= number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF else "\ufffd"


def _skipped(text: str, start: int) -> int:
    """Return the offset of the newline before the next conditional directive after the newline at offset `start`."""
    while match := _SKIPPED.match(text, start):
        start = match.end()
    return start


def scan_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, text) of each comment of a text, line splices included."""
    for match in _SCAN.finditer(text):
        group = match.lastgroup
        if group == "line_comment" or group == "comment":
            yield match.start(group), match[group]


def scanned(text: str, span: Span = NOWHERE) -> list[Token]:
    """Return the tokens of a text that is in no file; all tokens get the span `span`."""
    tokens: list[Token] = []
    spaced = False
    for match in _SCAN.finditer(text):
        group = match.lastindex or 0
        kind, value = _TYPE_OF_GROUP[group], match[group]
        if kind is None:
            spaced = True
            continue
        if value in _SPELLINGS:
            kind, value = _SPELLINGS[value]
        elif kind is _EXTENDED:
            kind, value = _extended(value)
        tokens.append(Token(kind, value, span, spaced or match.start() != match.start(group)))
        spaced = False
    return tokens


def spelled(tokens: Sequence[Token]) -> str:
    """Return the spelling of the tokens of one line, separated by single blanks where they are spaced."""
    return "".join(" " * token.spaced + token.value for token in tokens).strip()


# --- translation units -----------------------------------------------------------------------------


# Macros whose replacement depends on the place or the time of their use.
_OF_PLACES = frozenset({"__FILE__", "__DATE__", "__TIME__"})


@dataclass(slots=True)
class TokenStream:
    """The tokens of a translation unit.

    end: the end of the main file.
    dependencies: the files that were read, the main file first, without those held in memory.
    complete: whether no text is missing: the end was reached, and every include was found.
    absent: the paths at which includes were searched but do not exist.
    macros: name -> macro, for the macros defined at the end.
    is_whole: whether the tokens of the preamble are included.
    """

    tokens: list[Token]
    end: Span
    dependencies: list[str]
    complete: bool
    absent: list[str] = field(default_factory=list)
    macros: Mapping[str, Macro] = field(default_factory=dict, repr=False, compare=False)
    is_whole: bool = True

    def to_text(self) -> str:
        """Return the text that `-E` prints: it has line markers and is scanned as the same tokens."""
        return "".join(_render(self.tokens, self.end.file))

    def definitions(self) -> str:
        """Return the text that `-E -dM` prints: a `#define` for each macro that is defined at the end."""
        texts = (self.macros[name].text for name in sorted(self.macros.keys() - _OF_PLACES))
        return "".join(f"#define {' '.join(text.split())}\n" for text in texts)


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
    """Return the text between the quotes of a file name or of a pragma's string."""
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")


# --- comments --------------------------------------------------------------------------------------


_LINE_CONTINUED = re.compile(rf"//[^\n]*{_SPLICE.pattern}")
_NEXT = re.compile(r"[ \t]*//")
# clang does not report the `/*` in `/*/`, since its last two characters may end the comment.
_OPENED = re.compile(r"/\*(?!/)")
COMMENT_WARNINGS = ("comment", "multi-line-comment")


def check_comments(
    text: str, place: Callable[[int], tuple[str, int]], diagnostics: Diagnostics, switches: Sequence[tuple[int, bool]]
) -> None:
    """Warn of `/*` in a block comment and of a `//` comment that a backslash continues on the next line.

    If the next line is also a `//` comment, there is no warning. `place` returns the presumed file and line of a
    physical line. `switches` are (line, whether the text after the line is compiled), in order; skipped text causes no
    warning.

    Files without either, which are nearly all, are not scanned.
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


def check_trigraphs(
    text: str, place: Callable[[int], tuple[str, int]], diagnostics: Diagnostics, switches: Sequence[tuple[int, bool]]
) -> None:
    """Warn of every trigraph outside of comments and skipped text; the parameters are those of `check_comments`."""
    if _TRIGRAPH.search(text) is None:
        return
    spliced = _Spliced(text)
    comments = [(start, start + len(comment)) for start, comment in scan_comments(spliced.text)]
    lines = [line for line, _ in switches]
    for start, at in spliced.trigraphs:
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        last = bisect_left(lines, line) - 1
        within = bisect_right(comments, (start, len(text))) - 1
        if (last < 0 or switches[last][1]) and (within < 0 or comments[within][1] <= start):
            file, line = place(line)
            message = f"the trigraph '{text[at : at + 3]}' is replaced by '{_TRIGRAPHS[text[at + 2]]}'"
            diagnostics.warning("trigraphs", message, Span(file, line, column, line, column + 3))


def _findings(text: str) -> Iterator[tuple[int, str, str]]:
    for start, comment in scan_comments(text):
        if comment.startswith("/*"):
            for match in _OPENED.finditer(comment, 2):
                yield start + match.start(), "comment", "'/*' inside of a comment"
            continue
        for match in _SPLICE.finditer(text, start, start + len(comment) + 2):
            if match.start() < start + len(comment) and not _NEXT.match(text, match.end()):
                yield match.start(), "multi-line-comment", "a backslash continues this '//' comment on the next line"
                break
