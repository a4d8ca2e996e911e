"""Diagnostics as data: messages with their source ranges, a collector, and the renderers.

Every stage reports through a `Diagnostics` collector, and no stage prints. Lines and columns count from 1. Columns
count Unicode characters of the physical source line. The end of a span is exclusive.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from . import warning_options
from .reporting import ShortTraceback

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Severity(Enum):
    """The severity of a diagnostic.

    `ERROR` and `FATAL` make a compilation fail. A `REMARK` is issued only if an option such as -Rpass requests it.
    """

    NOTE = "note"
    REMARK = "remark"
    WARNING = "warning"
    ERROR = "error"
    FATAL = "fatal error"

    @property
    def is_error(self) -> bool:
        return self in (Severity.ERROR, Severity.FATAL)


class Span(NamedTuple):
    """A half-open range of source text: from (line, column) up to, not including, (end_line, end_column)."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def to(self, other: Span) -> Span:
        """Return the span from the start of this span to the end of `other`.

        If `other` is in another file, or does not end after the start of this span, return this span.
        """
        if other.file != self.file:
            return self
        if (other.end_line, other.end_column) <= (self.line, self.column):
            return self
        return Span(self.file, self.line, self.column, other.end_line, other.end_column)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary source range of a diagnostic.

    A range on the line of the diagnostic is underlined there. Any other range is rendered as a note with `text`.
    """

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """An additional message of a diagnostic, with a span if the message concerns another place."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class FixIt:
    """A suggested replacement of the text of `span`, which is empty for an insertion."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message with its severity, code, place and additions.

    code: a stable kebab-case name such as `undeclared-identifier`. For a warning, also the name in `-W<code>` and
        `-Wno-<code>`.
    span: the source range that the message concerns, or None.
    """

    severity: Severity
    code: str
    message: str
    span: Span | None = None
    labels: tuple[Label, ...] = ()
    notes: tuple[Note, ...] = ()
    fixits: tuple[FixIt, ...] = ()

    def __str__(self) -> str:
        return render_text([self]).rstrip()


class Details(TypedDict, total=False):
    """The optional parts of a diagnostic, as keyword arguments of `Diagnostics.error` and `warning`."""

    labels: Iterable[Label]
    notes: Iterable[Note]
    fixits: Iterable[FixIt]


def _diagnostic(severity: Severity, code: str, message: str, span: Span | None, details: Details) -> Diagnostic:
    labels, notes = tuple(details.get("labels", ())), tuple(details.get("notes", ()))
    return Diagnostic(severity, code, message, span, labels, notes, tuple(details.get("fixits", ())))


class CompileError(ShortTraceback):
    """An exception that reports errors in the user's input.

    diagnostics: the list of diagnostics.
    sources: the texts of the files in their spans, or None.

    str() is the rendered text of the diagnostics.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic], sources: SourceMap | None = None) -> None:
        self.diagnostics = list(diagnostics)
        self.sources = sources
        super().__init__(render_text(self.diagnostics, sources))

    def __reduce__(self) -> tuple[type[CompileError], tuple[list[Diagnostic], SourceMap | None]]:
        # Worker processes send their errors by pickle.
        return type(self), (self.diagnostics, self.sources)


class TooManyErrors(Exception):
    """An exception that the collector raises after `error_limit` errors, and that the compiler driver catches."""


class InternalError(Exception):
    """An exception that reports a fault of the compiler: a broken invariant or a crashed backend (exit status 70)."""

    def __init__(self, message: str, details: str = "") -> None:
        self.message, self.details = message, details
        super().__init__(message + (f"\n{details}" if details else ""))

    def __reduce__(self) -> tuple[type[InternalError], tuple[str, str]]:
        return type(self), (self.message, self.details)


@dataclass(slots=True)
class SourceMap:
    """A map from the file names in spans to the texts of all files that were read."""

    files: dict[str, str] = field(default_factory=dict)
    _lines: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, text: str) -> None:
        self.files[name] = text
        self._lines.pop(name, None)

    def line(self, name: str, number: int) -> str | None:
        """Return physical line `number`, counted from 1, without its terminator; None if the line is unknown."""
        if name not in self._lines:
            if name not in self.files:
                return None
            self._lines[name] = self.files[name].split("\n")
        lines = self._lines[name]
        return lines[number - 1].rstrip("\r") if 1 <= number <= len(lines) else None


# Action of `#pragma clang diagnostic` -> equivalent values of -W; {} is the name of the warning.
_PRAGMAS = {"ignored": ("no-{}",), "warning": ("{}", "no-error={}"), "error": ("error={}",)}


class Diagnostics:
    """A collector of the diagnostics of all stages.

    The options -w, -W and -ferror-limit take effect when a diagnostic is added.

    error_limit: the number of errors after which `add` raises TooManyErrors; 0 for no limit.
    no_warnings: whether all warnings are off (-w).
    warnings: the values of the -W options in order, as `warning_options.resolve` expects them.
    system_dirs: the directories whose files get no warnings.
    """

    def __init__(
        self,
        *,
        error_limit: int = 20,
        no_warnings: bool = False,
        warnings: Sequence[str] = (),
        system_dirs: Sequence[str] = (),
    ) -> None:
        self.items: list[Diagnostic] = []
        self.sources = SourceMap()
        self.error_count = 0
        self._limit = error_limit
        self._silent = no_warnings
        self._system = tuple(os.path.join(os.path.normpath(name), "") for name in system_dirs)  # noqa: PTH118
        self._words = tuple(warnings)
        choices = warning_options.resolve(self._words)
        self._warnings: dict[str, bool] = {} if no_warnings else choices.states
        self._unknown = choices.unknown
        # File -> pairs of a place and the states of the warnings from that place on, in source order, from pragmas.
        self._regions: dict[str, list[tuple[tuple[int, int], dict[str, bool]]]] = {}
        # The values of -W that each `#pragma clang diagnostic pop` restores.
        self._pushed: list[tuple[str, ...]] = []
        self._enabled_codes = set(self._warnings)
        self._keys: set[tuple[str, Span | None, str]] = set()
        self._macros: set[tuple[str, int, int]] = set()
        # Called with each added diagnostic and the source map.
        self.listener: Callable[[Diagnostic, SourceMap], None] | None = None

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.items)

    @property
    def has_errors(self) -> bool:
        return self.error_count > 0

    def error(self, code: str, message: str, span: Span | None = None, **details: Unpack[Details]) -> None:
        self.add(_diagnostic(Severity.ERROR, code, message, span, details))

    def warning(self, code: str, message: str, span: Span | None = None, **details: Unpack[Details]) -> None:
        as_error = self._states_at(span).get(code)
        if as_error is not None:
            self.add(_diagnostic(Severity.ERROR if as_error else Severity.WARNING, code, message, span, details))

    def check_options(self) -> None:
        """Warn about each -W option that names no warning. Raises TooManyErrors as `add` does."""
        for word in self._unknown:
            self.warning("unknown-warning-option", f"unknown warning option '-W{word}'")

    def wants(self, *codes: str) -> bool:
        """Return whether an option, or a pragma so far, enables any of these warnings."""
        return not self._enabled_codes.isdisjoint(codes)

    def pragma(self, words: Sequence[str], span: Span) -> bool:
        """Apply `#pragma clang diagnostic WORDS` from `span` on, and return whether the words are valid.

        The name of an unknown warning is valid, and reported as a warning.
        """
        previous = self._words
        if list(words) == ["push"]:
            self._pushed.append(previous)
            return True
        if list(words) == ["pop"] and self._pushed:
            self._words = self._pushed.pop()
        elif len(words) == 2 and words[0] in _PRAGMAS and words[1].startswith('"-W') and words[1].endswith('"'):
            name = words[1][3:-1]
            if name not in warning_options.MEMBERS:
                self.warning("unknown-warning-option", f"unknown warning option '-W{name}'", span)
                return True
            self._words = (*previous, *(form.format(name) for form in _PRAGMAS[words[0]]))
        else:
            return False
        if not self._silent:
            states = warning_options.resolve(self._words).states
            self._enabled_codes |= states.keys()
            self._regions.setdefault(span.file, []).append(((span.line, span.column), states))
        return True

    def _states_at(self, span: Span | None) -> dict[str, bool]:
        """Return code -> whether the warning is an error, for the warnings that are enabled at `span`."""
        if span is not None and self._system and span.file.startswith(self._system):
            return {}
        if span is None or span.file not in self._regions:
            return self._warnings
        regions = self._regions[span.file]
        at = bisect_right(regions, (span.line, span.column), key=lambda region: region[0])
        return regions[at - 1][1] if at else self._warnings

    def add(self, item: Diagnostic) -> None:
        """Add a finished diagnostic, and pass it to `listener`.

        A repetition of a diagnostic is dropped. Raises TooManyErrors at the error limit.
        """
        # Macros and error recovery may produce the same message at the same place twice.
        key = (item.code, item.span, item.message)
        if key in self._keys:
            return
        self._keys.add(key)
        if any((fixit.span.file, fixit.span.line, fixit.span.column) in self._macros for fixit in item.fixits):
            item = replace(item, fixits=())
        self.items.append(item)
        if self.listener is not None:
            self.listener(item, self.sources)
        if item.severity.is_error:
            self.error_count += 1
            if self._limit and self.error_count >= self._limit:
                limit = f"too many errors, stopping now (-ferror-limit={self._limit})"
                self.items.append(Diagnostic(Severity.FATAL, "error-limit", limit))
                raise TooManyErrors

    def keep_text(self, span: Span) -> None:
        """Protect the start of `span` from fix-its: a macro is used there, and the tokens to edit are elsewhere.

        A diagnostic with a fix-it that begins there loses all its fix-its.
        """
        self._macros.add((span.file, span.line, span.column))

    def kept_texts(self) -> list[tuple[str, int, int]]:
        """Return the protected places, for `keep_texts` of another collector."""
        return list(self._macros)

    def keep_texts(self, places: Iterable[tuple[str, int, int]]) -> None:
        """Protect the places that `kept_texts` of another collector returned."""
        self._macros.update(places)

    @property
    def is_plain(self) -> bool:
        """Whether there are no errors so far, and no pragmas that change or save the set of enabled warnings."""
        return not (self.error_count or self._regions or self._pushed)

    def in_order(self) -> list[Diagnostic]:
        """Return the diagnostics of all stages in source order.

        Files are in the order of their first diagnostics. Diagnostics without a span come last.
        """
        files = {name: i for i, name in enumerate(dict.fromkeys(item.span.file for item in self.items if item.span))}

        def place(item: Diagnostic) -> tuple[int, int, int]:
            span = item.span
            return (files[span.file], span.line, span.column) if span else (len(files), 0, 0)

        return sorted(self.items, key=place)

    def raise_if_errors(self) -> None:
        if self.has_errors:
            raise CompileError(self.in_order(), self.sources)


# --- rendering -----------------------------------------------------------------------------------

_MAX_SHOWN = 160
_MAX_MESSAGE = 400
_RED = "\x1b[1;31m"
_COLOURS = {
    Severity.NOTE: "\x1b[1;36m",
    Severity.REMARK: "\x1b[1;34m",
    Severity.WARNING: "\x1b[1;35m",
    Severity.ERROR: _RED,
    Severity.FATAL: _RED,
}
_BOLD, _GREEN, _RESET = "\x1b[1m", "\x1b[1;32m", "\x1b[0m"


def render_text(items: Iterable[Diagnostic], sources: SourceMap | None = None, *, color: bool = False) -> str:
    """Render diagnostics as text.

    Each begins with `file:line:col: error: message [code]`. The source line with caret and underlined ranges, the
    fix-its and the notes follow. If `sources` lacks the file, the source line is omitted. `color` adds ANSI escape
    sequences.
    """
    out: list[str] = []
    for item in items:
        out.extend(_render_one(item, sources, color))
    return "\n".join(out) + ("\n" if out else "")


def _render_one(item: Diagnostic, sources: SourceMap | None, color: bool) -> Iterator[str]:
    yield _headline(item.severity, f"{item.message} [{item.code}]", item.span, color)
    if item.span is not None:
        ranges = [label.span for label in item.labels if _same_line(label.span, item.span)]
        fixits = [fixit for fixit in item.fixits if _same_line(fixit.span, item.span)]
        yield from _excerpt(item.span, ranges, fixits, sources, color)
    for label in item.labels:
        if item.span is None or not _same_line(label.span, item.span):
            yield _headline(Severity.NOTE, label.text or "see here", label.span, color)
            yield from _excerpt(label.span, [], [], sources, color)
    for note in item.notes:
        yield _headline(Severity.NOTE, note.message, note.span or item.span, color)
        if note.span is not None:
            yield from _excerpt(note.span, [], [], sources, color)


def _headline(severity: Severity, text: str, span: Span | None, color: bool) -> str:
    place = f"{span}: " if span is not None else "coopmat: "
    if len(text) > _MAX_MESSAGE:
        # A message may quote a name of the source, which can be very long.
        text = f"{text[: _MAX_MESSAGE // 2]}...{text[-_MAX_MESSAGE // 2 :]}"
    if not color:
        return f"{place}{severity.value}: {text}"
    return f"{_BOLD}{place}{_COLOURS[severity]}{severity.value}:{_RESET} {_BOLD}{text}{_RESET}"


def _same_line(a: Span, b: Span) -> bool:
    return a.file == b.file and a.line == b.line


def _excerpt(
    span: Span, extra: list[Span], fixits: list[FixIt], sources: SourceMap | None, color: bool
) -> Iterator[str]:
    """Yield the source line of `span`, the marker line with caret and ranges, and the fix-its below it."""
    text = sources.line(span.file, span.line) if sources is not None else None
    if text is None:
        return
    start = 0
    if len(text) > _MAX_SHOWN:
        # Of a very long line, only a window around the caret is shown.
        start = max(0, min(span.column - 1 - _MAX_SHOWN // 2, len(text) - _MAX_SHOWN))
    window = text[start : start + _MAX_SHOWN]
    marks = [" "] * (len(window) + 1)
    for other in (*extra, span):
        end = other.end_column if other.end_line == other.line else len(text) + 1
        for column in range(max(other.column, start + 1), min(end, start + len(marks) + 1)):
            marks[column - 1 - start] = "~"
    caret = span.column - 1 - start
    if 0 <= caret < len(marks):
        marks[caret] = "^"
    # The marker line repeats the tabs of the source line, so that the caret is aligned for any tab width.
    gutter = "".join("\t" if i < len(window) and window[i] == "\t" and m == " " else m for i, m in enumerate(marks))
    yield _printable(window)
    yield (_GREEN + gutter.rstrip() + _RESET) if color else gutter.rstrip()
    for fixit in fixits:
        at = fixit.span.column - 1 - start
        if 0 <= at <= len(window):
            yield "".join("\t" if c == "\t" else " " for c in window[:at]) + fixit.replacement


def _printable(text: str) -> str:
    """Replace unprintable characters, which could control the terminal."""
    return "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in text)


def to_json(items: Iterable[Diagnostic]) -> str:
    """Return the diagnostics as JSON text.

    The text is an array of {severity, code, message, file, line, column, end_line, end_column, notes, fixits}. Without
    a span, the fields of the place are null. `notes` includes the labels that have a text.
    """
    return json.dumps([_as_dict(item) for item in items], indent=2)


def _place(span: Span | None) -> dict[str, object]:
    return dict.fromkeys(Span._fields) if span is None else span._asdict()


def _as_dict(item: Diagnostic) -> dict[str, object]:
    notes = [Note(label.text, label.span) for label in item.labels if label.text] + list(item.notes)
    return {
        "severity": item.severity.value,
        "code": item.code,
        "message": item.message,
        **_place(item.span),
        "notes": [{"message": note.message, **_place(note.span)} for note in notes],
        "fixits": [{"replacement": fixit.replacement, **_place(fixit.span)} for fixit in item.fixits],
    }
