"""Listings of the stages of a compilation, with the line of the user's source for each of their lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..diagnostics import Span


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a listing; `source` is the line of the user's source that it comes from, 0 if there is none."""

    text: str
    source: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """The text of a stage.

    key, title: the stage.
    lines: the text.
    note: a sentence about the text, or why there is none.
    """

    key: str
    title: str
    lines: tuple[Line, ...] = ()
    note: str = ""

    def groups(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (source line, texts) of each run of lines that come from the same source line."""
        for source, lines in groupby(self.lines, lambda line: line.source):
            yield source, [line.text for line in lines]


# The most characters of a listing: a page must stay small enough for a browser to open it at once.
MOST = 500_000


def limited(lines: Iterable[Line], command: str) -> tuple[tuple[Line, ...], str]:
    """Return the lines up to the limit of size, and a sentence about those left out, "" if there are none."""
    kept, every, size = [], list(lines), 0
    for line in every:
        size += len(line.text) + 1
        if size > MOST:
            break
        kept.append(line)
    missing = len(every) - len(kept)
    note = f"{missing} of {len(every)} lines are left out: `{command}` prints all." if missing else ""
    return tuple(kept), note


def of_spans(items: Iterable[tuple[str, Span | None]], name: str) -> list[Line]:
    """Return the lines of texts that come from spans; `name` is the user's file."""
    return [Line(text, span.line if span is not None and span.file == name else 0) for text, span in items]


_DIRECTIVE = re.compile(r'#line (\d+) "(.*)"')


def of_c(text: str, name: str, source: str) -> tuple[list[Line], list[Line]]:
    """Return the lines of OpenCL C that come from the user's file and its includes, and those of the library.

    `#line` directives give the places. Text before the first of them is the library's. Braces follow the statement
    before them, so that they are linked only to a line of the source with the same brace.
    """
    braces = {number: set(line) & {*"{}"} for number, line in enumerate(source.split("\n"), 1)}
    own: list[Line] = []
    library: list[Line] = []
    file, number, into = "", 0, library
    for line in text.rstrip("\n").split("\n"):
        if directive := _DIRECTIVE.fullmatch(line):
            file, number = re.sub(r"\\(.)", r"\1", directive[2]), int(directive[1])
            into = library if file == LIBRARY else own
            if file in (LIBRARY, name):
                continue
            into.append(Line(line))
        else:
            word = line.strip()
            is_place = file == name and bool(word) and (word not in "{}" or word in braces.get(number, ()))
            into.append(Line(line, number if is_place and number in braces else 0))
            number += 1
    return own, library


LIBRARY = "<matrix library>"


def of_spirv(text: str, sources: Sequence[int]) -> list[Line]:
    """Return the lines of a disassembly; `sources` has the source line of each instruction, or is empty."""
    lines = text.rstrip("\n").split("\n")
    heads = sum(line.startswith(";") for line in lines)
    if len(lines) - heads != len(sources):
        sources = [0] * (len(lines) - heads)
    rest = iter(sources)
    return [Line(line) if line.startswith(";") else Line(line, next(rest)) for line in lines]


_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")
_CALLER = re.compile(r"inlined_at (\d+) (\d+)")
_CALLERS = re.compile(r"@\[ ([^\]@]*?):(\d+)(?::\d+)? ")
_SECTION = re.compile(r'\s*\.section\s+"?\.debug')


def of_assembly(text: str, name: str) -> list[Line]:
    """Return the lines of assembly by clang: `.loc` directives give the places; debug sections are left out."""
    lines = text.rstrip("\n").split("\n")
    files = {match[1]: match[3] or match[2] for match in map(_FILE.match, lines) if match}
    result: list[Line] = []
    source = 0
    for line in lines:
        if _SECTION.match(line):
            break
        if _FILE.match(line):
            continue
        if match := _LOC.match(line):
            places = [(files.get(match[1], ""), match[2])]
            places += [(files.get(file, ""), number) for file, number in _CALLER.findall(line)]
            places += _CALLERS.findall(line)
            source = next((int(number) for file, number in places if file and f"/{name}".endswith(f"/{file}")), 0)
        elif not re.match(r"\s*(\.cfi_|\.?L(?:tmp|func_\w+)\w*:|\$L__tmp\w*:)", line):
            result.append(Line(line, source if line[:1] in "\t " and not line.strip().startswith(".") else 0))
    return result
