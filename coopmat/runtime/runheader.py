"""The run header of a kernel file: which kernel to launch, with which data, and the expected results.

    // run: kernel=gemm_f16 global=(N/16*sg, M/16) local=(sg, 1) M=256 N=256 K=256 -DK=256
    //      a=f16[M,K]:uniform(-1,1) b=f16[K,N]:uniform(-1,1) c=f32[M,N]:zeros
    // check: c ~ a.astype(f32) @ b.astype(f32)   atol=1e-2

A line that starts with `//` and two or more spaces continues the previous line. A file may have several runs. A check
belongs to the last run before the check. The fields of a run are:

    kernel=NAME, global=SIZES, local=SIZES    the launch; SIZES is an integer or a tuple of up to three
    flop=NUMBER, op=NUMBER                    the work of one launch: floating-point or other operations
    NAME=INTEGER                              a symbol for later expressions
    NAME=TYPE[SHAPE]:FILL                     an array argument, row-major, filled by FILL (see data.py)
    NAME=TYPE[SHAPE]                          the size of an argument in local memory
    NAME=TYPE:VALUE                           a scalar argument
    -OPTION                                   an option for the compiler

The check `TARGET ~ EXPRESSION [atol=X] [rtol=X]` requires |target - expression| <= atol + rtol * |expression|. The
check `TARGET == EXPRESSION` requires that all elements are equal. The names of arguments denote their values: on the
left after the launch, on the right before the launch. `sg` is the kernel's subgroup size.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from coopmat.diagnostics import CompileError, Diagnostic, Severity, SourceMap, Span

from .evaluator import TYPES


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the header's text that records its place in the file.

    text: the characters.
    file: the name of the file.
    places: the (line, column) of every character.
    """

    text: str
    file: str
    places: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: str, file: str, line: int = 1, column: int = 1) -> Piece:
        """Return the piece for a text on one line, whose first character is at `line` and `column`."""
        return cls(text, file, tuple((line, column + i) for i in range(len(text))))

    def part(self, start: int, end: int | None = None) -> Piece:
        """Return the characters from `start` to `end`, without leading and trailing blanks."""
        end = len(self.text) if end is None else end
        text = self.text[start:end]
        start += len(text) - len(text.lstrip())
        end = start + len(text.strip())
        return Piece(self.text[start:end], self.file, self.places[start:end])

    def span(self, start: int = 0, end: int | None = None) -> Span | None:
        """Return the span of the characters from `start` to `end`; None for an empty piece."""
        if not self.places:
            return None
        end = len(self.places) if end is None else min(end, len(self.places))
        first = self.places[min(start, len(self.places) - 1)]
        last = self.places[max(end - 1, 0)] if end > start else first
        return Span(self.file, *first, last[0], last[1] + 1)


@dataclass(frozen=True, slots=True)
class Argument:
    """A kernel argument in a run header.

    An array has `shape` and `fill`, a size in local memory has only `shape`, and a scalar has only `fill`.
    """

    name: Piece
    type: str
    shape: Piece | None
    fill: Piece | None


@dataclass(frozen=True, slots=True)
class Check:
    """A check in a run header: `target` must be equal to `expected`, or close to it.

    whole: the text of the check.
    target: an expression over the values after the launch.
    expected: an expression over the values before the launch.
    exact: whether all elements must be equal.
    atol, rtol: the absolute and the relative tolerance.
    """

    whole: Piece
    target: Piece
    expected: Piece
    exact: bool
    atol: Piece | None = None
    rtol: Piece | None = None


WORK = {"flop": "GFLOP/s", "op": "GOP/s"}
"""Name of the work of a launch in a header -> unit of its speed."""


@dataclass(frozen=True, slots=True)
class Run:
    """A launch as the header states it: sizes and values are expressions that are not evaluated yet.

    `work` contains pairs of a name in `WORK` and an expression.
    """

    whole: Piece
    kernel: Piece | None
    global_size: Piece | None
    local_size: Piece | None
    symbols: tuple[tuple[str, Piece], ...]
    arguments: tuple[Argument, ...]
    options: tuple[str, ...]
    checks: tuple[Check, ...] = ()
    work: tuple[tuple[str, Piece], ...] = ()


def parse_header(source: str, file: str) -> list[Run]:
    """Return the runs of a kernel file, in order.

    Raises CompileError at the part of the header that is wrong.
    """
    try:
        runs: list[Run] = []
        for kind, piece in _directives(source, file):
            if kind == "run":
                runs.append(parse_run(piece))
            elif not runs:
                raise header_error("a check must follow a run", piece)
            else:
                runs[-1] = replace(runs[-1], checks=(*runs[-1].checks, parse_check(piece)))
    except CompileError as error:
        raise with_source(error, file, source) from None
    return runs


def header_error(message: str, piece: Piece | None = None, start: int = 0, end: int | None = None) -> CompileError:
    """Return a CompileError at the characters from `start` to `end` of a piece.

    Without a piece, the error has no place.
    """
    span = piece.span(start, end) if piece is not None else None
    return CompileError([Diagnostic(Severity.ERROR, "run-header", message, span)])


def with_source(error: CompileError, file: str, source: str) -> CompileError:
    """Return the same error with the source's text, so that its rendering shows the source line."""
    sources = error.sources or SourceMap()
    sources.files.setdefault(file, source)
    return CompileError(error.diagnostics, sources)


_DIRECTIVE = re.compile(r"\s*// ?(run|check):")
_CONTINUATION = re.compile(r"\s*//  +\S")


def _directives(source: str, file: str) -> Iterator[tuple[str, Piece]]:
    """Yield the kind ("run" or "check") and the text of each directive, joined with its continuation lines."""
    groups: list[tuple[str, list[Piece]]] = []
    goes_on = False
    for number, line in enumerate(source.split("\n"), 1):
        line = line.rstrip("\r")
        more = _CONTINUATION.match(line) if goes_on else None
        if start := _DIRECTIVE.match(line):
            groups.append((start.group(1), [Piece.of(line[start.end() :], file, number, start.end() + 1)]))
        elif more is not None:
            groups[-1][1].append(Piece.of(" " + line[more.end() - 1 :], file, number, more.end() - 1))
        goes_on = bool(start or more)
    for kind, pieces in groups:
        text = "".join(piece.text for piece in pieces)
        yield kind, Piece(text, file, tuple(place for piece in pieces for place in piece.places)).part(0)


# --- run lines -----------------------------------------------------------------------------------

_FIELD = re.compile(r"([A-Za-z_]\w*)=")
_TYPED = re.compile(r"([a-z]+\d+)\s*(?=[\[:])")
_OPENING, _CLOSING = "([", ")]"


def parse_run(piece: Piece) -> Run:
    """Parse the fields of one run line.

    Raises CompileError.
    """
    named: dict[str, Piece] = {}
    arguments: dict[str, Argument] = {}
    symbols: dict[str, Piece] = {}
    options: list[str] = []
    for field in _fields(piece):
        if field.text.startswith("-"):
            options.append(field.text)
            continue
        match = _FIELD.match(field.text)
        if match is None:
            raise header_error("expected NAME=VALUE or an option that starts with '-'", field)
        name, value = match.group(1), field.part(match.end())
        if name in named or name in arguments or name in symbols:
            raise header_error(f"'{name}' is given twice", field)
        if not value.text:
            raise header_error(f"'{name}' has no value", field)
        if name in ("kernel", "global", "local", *WORK):
            named[name] = value
        elif name == "sg" or name in TYPES:
            raise header_error(f"'{name}' is a reserved name", field)
        elif typed := _TYPED.match(value.text):
            arguments[name] = _argument(field.part(0, match.end() - 1), typed.group(1), value, typed.end())
        else:
            symbols[name] = value
    return Run(
        piece,
        named.get("kernel"),
        named.get("global"),
        named.get("local"),
        tuple(symbols.items()),
        tuple(arguments.values()),
        tuple(options),
        work=tuple((name, named[name]) for name in WORK if name in named),
    )


def parse_argument(piece: Piece) -> Argument:
    """Parse a single `NAME=TYPE...`, as an argument of the command line.

    Raises CompileError.
    """
    run = parse_run(piece)
    if len(run.arguments) != 1 or run.arguments[0].name.text + "=" != piece.text[: len(run.arguments[0].name.text) + 1]:
        raise header_error("expected NAME=TYPE[SHAPE]:FILL or NAME=TYPE:VALUE", piece)
    return run.arguments[0]


def _depths(text: str) -> Iterator[int]:
    """Yield, for each character, the number of parentheses and brackets that are open after the character."""
    return itertools.accumulate((c in _OPENING) - (c in _CLOSING) for c in text)


def _fields(piece: Piece) -> Iterator[Piece]:
    """Yield the parts of a line between blanks that are outside of parentheses and brackets.

    Raises CompileError if parentheses or brackets are not balanced.
    """
    depth = start = 0
    for i, depth in enumerate(_depths(piece.text)):
        if depth < 0:
            raise header_error(f"unmatched '{piece.text[i]}'", piece, i, i + 1)
        if depth == 0 and piece.text[i].isspace():
            if start < i:
                yield piece.part(start, i)
            start = i + 1
    if depth:
        raise header_error("a parenthesis or bracket is never closed", piece, start)
    if start < len(piece.text):
        yield piece.part(start)


def _argument(name: Piece, type_name: str, value: Piece, after_type: int) -> Argument:
    """Parse the value TYPE[SHAPE]:FILL of an argument, from offset `after_type` on. Raises CompileError."""
    if type_name not in TYPES:
        raise header_error(f"unknown type '{type_name}'; the types are {' '.join(TYPES)}", value, 0, len(type_name))
    shape: Piece | None = None
    position = after_type
    if value.text[position] == "[":
        closing = _matching(value, position)
        shape = value.part(position + 1, closing)
        if not shape.text:
            raise header_error("the shape is empty", value, position, closing + 1)
        position = closing + 1
    rest = value.part(position)
    if not rest.text and shape is not None:
        return Argument(name, type_name, shape, None)
    if not rest.text.startswith(":") or not rest.part(1).text:
        what = "a fill such as ':zeros'" if shape is not None else "a value after ':'"
        raise header_error(f"expected {what}", rest if rest.text else value)
    return Argument(name, type_name, shape, rest.part(1))


def _matching(piece: Piece, opening: int) -> int:
    """Return the offset of the bracket that closes the one at `opening`. Raises CompileError."""
    for i, depth in enumerate(_depths(piece.text[opening:]), opening):
        if depth == 0:
            return i
    raise header_error("a parenthesis or bracket is never closed", piece, opening)


# --- check lines ---------------------------------------------------------------------------------

_TOLERANCE = re.compile(r"\s(atol|rtol)=(\S+)\s*$")


def parse_check(piece: Piece) -> Check:
    """Parse one check line.

    A `~` needs a tolerance, so that the header always states it. Raises CompileError.
    """
    rest = piece
    tolerances: dict[str, Piece] = {}
    while match := _TOLERANCE.search(rest.text):
        if match.group(1) in tolerances:
            raise header_error(f"'{match.group(1)}' is given twice", rest, match.start(1))
        tolerances[match.group(1)] = rest.part(match.start(2), match.end(2))
        rest = rest.part(0, match.start())
    for i, operator in _operators(rest.text):
        target, expected = rest.part(0, i), rest.part(i + len(operator))
        if not target.text or not expected.text:
            break
        exact = operator == "=="
        if exact and tolerances:
            raise header_error("'==' is exact; use '~' with a tolerance", piece)
        if not exact and not tolerances:
            raise header_error("'~' needs atol=X or rtol=X", piece)
        return Check(piece, target, expected, exact, tolerances.get("atol"), tolerances.get("rtol"))
    raise header_error("expected TARGET ~ EXPRESSION or TARGET == EXPRESSION", piece)


def _operators(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of the first `~` or `==` outside of parentheses, if any."""
    for i, depth in enumerate(_depths(text)):
        for word in ("~", "=="):
            if depth == 0 and text.startswith(word, i):
                yield i, word
                return
