"""Preprocessing tokens with exact positions: the scanner that makes them; the values of numbers, characters and
strings; clang's warnings about comments; and `TokenStream`, the preprocessor's result, with its text for -E.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ..diagnostics import Diagnostics, Span

if TYPE_CHECKING:
    from .expansion import Macro


ID, INTEGER, FLOAT = "IDENTIFIER", "INTEGER", "FLOAT"
STRING, CHAR = "STRING", "CHAR"
PRAGMA, PUNCTUATOR = "PRAGMA", "PUNCTUATOR"
#: A character, or an unterminated literal or comment, that starts no token.
BAD = "BAD"
# An identifier with other characters than letters, digits and underscores of ASCII.
_EXTENDED = "EXTENDED"
#: `##`.
PASTE = "PASTE"


#: The span of the tokens of a macro that is not expanded yet, and of text that is in no file.
NOWHERE = Span("", 0, 0, 0, 0)


class Token:
    """A `Token` is a preprocessing token: `type` (category), `value` (text), `span`, and whether blanks precede it.

    `span` is its place in the user's source; a token from a macro's body has the span of the macro's use. A `painted`
    identifier is not replaced, even if it names a macro (C11 6.10.3.4).
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
# A preprocessing number that is no plain integer is FLOAT. Blanks go with what follows them: half as many matches.
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
# The same by the groups' numbers; None for what is no token.
_TYPE_OF_GROUP = [None, *map(_TYPES.get, _SCAN.groupindex)]
_NEWLINE, _COMMENT = _SCAN.groupindex["newline"], _SCAN.groupindex["comment"]
# Other spellings of punctuators, and those of another type.
_SPELLINGS = {text: (PASTE if value == "##" else PUNCTUATOR, value) for text, value in _DIGRAPHS.items()}
_SPELLINGS["##"] = (PASTE, "##")

# Up to the end of the line before the next conditional directive. What is read is bounded: each repetition is
# remembered.
_SPACE = r"(?:[ \t\v\f\r]|/\*[^*]*(?:\*(?!/)[^*]*)*\*/)*"
_SKIPPED = re.compile(
    rf"(?:[^\"'/\n]+|{_STRING}|{_CHAR}|//[^\n]*|/\*.*?\*/|/\*.*|[\"'][^\n]*|/"
    rf"|\n(?!{_SPACE}(?:\#|%:){_SPACE}(?:if|el|endif))){{1,5000}}",
    re.DOTALL,
)


def pastes(left: str, right: str) -> bool:
    """Return whether two texts side by side would not be scanned as the same two tokens."""
    match = _SCAN.match(left + right)
    return match is None or match.end() != len(left)


class _Spliced:
    """`_Spliced` maps offsets in a text whose trigraphs were replaced, and whose line splices were removed, to physical
    lines and columns. `joins` are the offsets at which lines were joined, `trigraphs` pairs of the offset of a trigraph
    in the text and in the file."""

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
        """Return a token's place, where the text's first line has the number `first`."""
        (line, column), (end_line, end_column) = self.locate(start), self.locate(end - 1)
        return Span(file, line + first - 1, column, end_line + first - 1, end_column + 1)


class Scanner:
    """A `Scanner` reads the tokens of a file, or of its lines from number `line` on. While it is `skipping`, it passes
    over all but conditional directives, without making tokens of it."""

    def __init__(self, text: str, file: str, line: int = 1) -> None:
        self.text, self.file, self.line = text, file, line
        self.skipping = False

    def parts(self) -> Iterator[tuple[bool, list[Token]]]:
        """Yield the logical lines that begin with `#`, and between them what other lines have, all in one list, each
        with whether it is a directive; comments and blanks become `spaced` flags."""
        file, text = self.file, self.text
        spliced = _Spliced(text) if _SPLICE.search(text) or "??" in text else None
        # Where lines were joined, then never.
        splices = iter([*spliced.joins, len(text) + 1] if spliced else [len(text) + 1])
        splice = next(splices)
        logical = spliced.text if spliced else text
        types, spellings, newline, new = _TYPE_OF_GROUP, _SPELLINGS, _NEWLINE, tuple.__new__
        # Columns are counted from `origin`, the offset before the first one of a line.
        line, origin, at, length = self.line, -1, 0, len(logical)
        spaced = directive = False
        fresh = True
        tokens: list[Token] = []
        while at < length:
            for match in _SCAN.finditer(logical, at):
                group = match.lastindex or 0
                start, end = match.span(group)
                # A physical line begins where two were joined.
                while splice <= start:
                    line, origin = line + 1, splice - 1
                    splice = next(splices)
                kind = types[group]
                if kind is not None:
                    value = match[group]
                    if spliced is not None and (end > splice or kind is BAD or spliced.trigraphs):
                        span = spliced.span(file, start, end, self.line)
                    else:
                        column = start - origin
                        span = new(Span, (file, line, column, line, column + end - start))
                    if kind is PUNCTUATOR and value in spellings:
                        kind, value = spellings[value]
                    elif kind is _EXTENDED:
                        kind, value = _extended(value)
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
                            at = _skipped(logical, start)
                            while splice <= at:
                                line, splice = line + 1, next(splices)
                            line += logical.count("\n", start, at)
                            # Scanning goes on at a newline: this one, where nothing was skipped.
                            break
                    line, origin, spaced, fresh = line + 1, end - 1, False, True
                else:
                    spaced = True
                    if group == _COMMENT:
                        newlines = logical.count("\n", start, end)
                        if newlines:
                            line, origin = line + newlines, logical.rfind("\n", start, end)
                        while splice < end:
                            line, origin = line + 1, max(origin, splice - 1)
                            splice = next(splices)
            else:
                at = length
        if tokens:
            yield directive, tokens


def _extended(text: str) -> tuple[str, str]:
    """Return the type and the value of an identifier with `$`, other characters than ASCII's, or their universal
    names."""
    value = re.sub(_UCN, _character, text)
    return (ID if value.replace("$", "_").isidentifier() else BAD), value


def _character(name: re.Match[str]) -> str:
    number = int(name[0][2:], 16)
    # Names of ASCII's characters and of surrogates are invalid.
    return chr(number) if 0xA0 <= number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF else "\ufffd"


def _skipped(text: str, start: int) -> int:
    """Return the offset of the newline before the next conditional directive after the newline at `start`."""
    while match := _SKIPPED.match(text, start):
        start = match.end()
    return start


def scan_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments of a text, line splices included, each with its offset."""
    for match in _SCAN.finditer(text):
        group = match.lastgroup
        if group == "line_comment" or group == "comment":
            yield match.start(group), match[group]


def scanned(text: str, span: Span = NOWHERE) -> list[Token]:
    """Return the tokens of a text that is in no file; all get the same span."""
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
    """Return the spelling of tokens of one line, with single blanks."""
    return "".join(" " * token.spaced + token.value for token in tokens).strip()


# --- translation units -----------------------------------------------------------------------------


# Macros whose replacement depends on where, and when, they are used.
_OF_PLACES = frozenset({"__FILE__", "__DATE__", "__TIME__"})


@dataclass(slots=True)
class TokenStream:
    """A `TokenStream` holds all tokens of a translation unit. `end` is the end of the main file, where `complete` was
    reached.

    `dependencies` names the files that were read, the main one first, without those held in memory. `absent` are the
    names under which includes were searched for and not found.
    """

    tokens: list[Token]
    end: Span
    dependencies: list[str]
    complete: bool
    absent: list[str] = field(default_factory=list)
    #: The macros that are defined at the end, by name.
    macros: Mapping[str, Macro] = field(default_factory=dict, repr=False, compare=False)
    #: Whether the tokens of its preamble are there.
    is_whole: bool = True

    def to_text(self) -> str:
        """Return the text that `-E` prints: with line markers, and such that it is scanned as the same tokens."""
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
    """Return the text between the quotes of a file's name or a pragma's text."""
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
    """Warn of every `/*` inside of a block comment, and of a `//` comment that a backslash continues on the next line,
    unless that is a `//` comment, too. `switches` are the lines after which text is compiled, or is not, in order;
    skipped text causes no warning. `place` returns the presumed file and line of a physical line.

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


def check_trigraphs(
    text: str, place: Callable[[int], tuple[str, int]], diagnostics: Diagnostics, switches: Sequence[tuple[int, bool]]
) -> None:
    """Warn of every trigraph outside of comments and of skipped text; the parameters are those of `check_comments`."""
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
        for match in _CONTINUED.finditer(text, start, start + len(comment) + 2):
            if match.start() < start + len(comment) and not _NEXT.match(text, match.end()):
                yield match.start(), "multi-line-comment", "a '//' comment that goes on on the next line"
                break


# --- literals --------------------------------------------------------------------------------------


class LiteralError(Exception):
    """Raised for a malformed constant: `code` and `message` for the diagnostic, `offset` into the text."""

    def __init__(self, code: str, message: str, offset: int = 0) -> None:
        self.code, self.message, self.offset = code, message, offset
        super().__init__(message)


class IntegerValue(NamedTuple):
    """An integer constant; `suffix` is "", "u", "l", "ul", "ll" or "ull"; `decimal` affects the choice of type (C99,
    6.4.4.1)."""

    value: int
    suffix: str
    decimal: bool


@dataclass(frozen=True, slots=True)
class FloatValue:
    """A floating constant; `value` is rounded once, to double; `exact` is an integer ratio. `suffix`: "", "f", "h" or
    "l"."""

    value: float
    suffix: str
    exact: tuple[int, int]


_INTEGER = re.compile(
    r"(0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|(?P<dec>(?!0[xXbB])[0-9]+))(?P<suffix>[A-Za-z_][\w.]*)?\Z"
)
_DECIMAL = re.compile(
    r"(?P<digits>[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE](?P<exponent>[+-]?[0-9]+))?(?P<suffix>[A-Za-z_]\w*)?\Z"
)
_HEX = re.compile(
    r"0[xX](?P<digits>[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)"
    r"[pP](?P<exponent>[+-]?[0-9]+)(?P<suffix>[A-Za-z_]\w*)?\Z"
)
_INTEGER_SUFFIXES = {"", "u", "l", "ul", "lu", "ll", "ull", "llu"}
#: Longer numbers than this do not fit any type, and int() of them would be slow.
_MOST_DIGITS = 400
_LARGEST_EXPONENT = 5000


def decode_integer(text: str) -> IntegerValue:
    """Return the value of an integer constant of any base; the caller chooses the type. Raises LiteralError."""
    if text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0") and len(text) < 19:
        return IntegerValue(int(text), "", True)
    match = _INTEGER.match(text)
    if match is None:
        raise LiteralError("invalid-literal", f"'{_short(text)}' is not a valid number")
    suffix = match["suffix"]
    if suffix is None:
        suffix = ""
    elif (suffix := suffix.lower()) not in _INTEGER_SUFFIXES or "lL" in text or "Ll" in text:
        raise LiteralError(
            "invalid-suffix", f"invalid suffix '{match['suffix']}' on integer constant", match.start("suffix")
        )
    else:
        suffix = "u" * ("u" in suffix) + "l" * suffix.count("l")
    for group, base in (("hex", 16), ("bin", 2), ("dec", 10)):
        digits = match[group]
        if digits is None:
            continue
        decimal = base == 10 and (digits == "0" or not digits.startswith("0"))
        if base == 10 and not decimal:
            base = 8
            bad = re.search("[89]", digits)
            if bad:
                raise LiteralError("invalid-literal", f"invalid digit '{bad.group()}' in octal constant", bad.start())
        significant = digits.lstrip("0") or "0"
        if len(significant) > _MOST_DIGITS or int(significant, base) >= 1 << 64:
            raise LiteralError("integer-too-large", "integer constant is too large for any integer type")
        return IntegerValue(int(significant, base), suffix, decimal)
    raise AssertionError("one group always matches")


def decode_float(text: str) -> FloatValue:
    """Return the value of a decimal or hexadecimal floating constant. Raises LiteralError."""
    match = _HEX.match(text) or _DECIMAL.match(text)
    if match is None:
        message = f"'{_short(text)}' is not a valid number"
        if text[:2] in ("0x", "0X") and "." in text and "p" not in text.lower():
            message = "hexadecimal floating constant requires an exponent"
        raise LiteralError("invalid-literal", message)
    suffix = (match["suffix"] or "").lower()
    if suffix not in ("", "f", "h", "l"):
        raise LiteralError(
            "invalid-suffix", f"invalid suffix '{match['suffix']}' on floating constant", match.start("suffix")
        )
    whole, _, fraction = match["digits"].partition(".")
    if len(whole) + len(fraction) > _MOST_DIGITS * 4:
        raise LiteralError("invalid-literal", "floating constant has too many digits")
    exponent = max(-_LARGEST_EXPONENT, min(_LARGEST_EXPONENT, _small_int(match["exponent"] or "0")))
    if match.re is _HEX:
        numerator, base, exponent = int(whole + fraction, 16), 2, exponent - 4 * len(fraction)
    else:
        numerator, base, exponent = int(whole + fraction), 10, exponent - len(fraction)
    denominator = 1
    if exponent >= 0:
        numerator *= base**exponent
    else:
        denominator = base**-exponent
    try:
        value = numerator / denominator
    except OverflowError:
        value = float("inf")
    return FloatValue(value, suffix, (numerator, denominator))


def _small_int(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-").lstrip("0")
    return sign * (int(digits or "0") if len(digits) < 9 else 10**9)


_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63, "e": 27}
_ESCAPE = re.compile(r"\\(?:x(?P<hex>[0-9a-fA-F]*)|(?P<oct>[0-7]{1,3})|(?P<char>.))", re.DOTALL)


def _bytes(text: str) -> bytes:
    """Return the bytes between the quotes of a character or string constant."""
    out, at, end = bytearray(), 1, len(text) - 1
    while at < end:
        if text[at] != "\\":
            stop = text.find("\\", at, end)
            stop = end if stop < 0 else stop
            out += text[at:stop].encode("utf-8", "surrogatepass")
            at = stop
            continue
        match = _ESCAPE.match(text, at, end)
        if match is None:
            raise LiteralError("invalid-escape", "incomplete escape sequence", at)
        out.append(_escape(match, at))
        at = match.end()
    return bytes(out)


def _escape(match: re.Match[str], at: int) -> int:
    if match["hex"] is not None:
        digits = match["hex"].lstrip("0")
        if not match["hex"]:
            raise LiteralError("invalid-escape", "\\x is not followed by hexadecimal digits", at)
        if len(digits) > 2:
            raise LiteralError("invalid-escape", "hexadecimal escape sequence is out of range", at)
        return int(digits or "0", 16)
    if match["oct"] is not None:
        value = int(match["oct"], 8)
        if value > 255:
            raise LiteralError("invalid-escape", "octal escape sequence is out of range", at)
        return value
    if match["char"] not in _ESCAPES:
        raise LiteralError("invalid-escape", f"unknown escape sequence '\\{match['char']}'", at)
    return _ESCAPES[match["char"]]


def decode_char(text: str) -> int:
    """Return a character constant's value, an int; several characters are packed in clang's order."""
    content = _bytes(text)
    if not content:
        raise LiteralError("invalid-literal", "empty character constant")
    if len(content) > 4:
        raise LiteralError("invalid-literal", "character constant is too long")
    if len(content) == 1:
        return content[0] - 256 if content[0] > 127 else content[0]
    value = int.from_bytes(content, "big")
    return value - (1 << 32) if value >= 1 << 31 else value


def decode_string(texts: list[str]) -> bytes:
    """Return adjacent string literals, each with its quotes, as one sequence of bytes without the final zero."""
    return b"".join(_bytes(text) for text in texts)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
