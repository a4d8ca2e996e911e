"""Source files: reading bytes and decoding them to text. Errors become diagnostics."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from .. import budgets, file_table
from ..diagnostics import Diagnostics, Span

LONGEST_LINE = 65_535
_TOO_LONG = re.compile(f"[^\n]{{{LONGEST_LINE + 1}}}")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source text and its name in spans; `virtual` texts have no file."""

    name: str
    text: str
    virtual: bool


@dataclass(frozen=True, slots=True)
class Region:
    """The effect of a #line: from physical line `physical` on, lines are those of file `name` from line `line` on."""

    name: str
    line: int
    physical: int


class IncludeOptions(Protocol):
    @property
    def include_dirs(self) -> tuple[str, ...]: ...
    @property
    def virtual_files(self) -> Mapping[str, str]: ...


def open_source(data: str | bytes, name: str, virtual: bool, diagnostics: Diagnostics) -> SourceFile | None:
    """Decode a text and register it for diagnostics.

    Return None, after an error, if the text cannot be scanned. Raises Exceeded if it is too long.
    """
    problem: int | None = None
    if len(data) > budgets.limit("source-bytes"):
        raise budgets.Exceeded("source-bytes", name)
    if isinstance(data, bytes):
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            problem = len(data[: error.start].decode("utf-8"))
            text = data.decode("utf-8", "replace")
    else:
        text = data
        try:
            data.encode("utf-8")
        except UnicodeEncodeError as error:
            problem = error.start
            text = data.encode("utf-8", "replace").decode("utf-8")
    if text.startswith("\ufeff"):
        text = text[1:]
        problem = problem - 1 if problem else problem
    diagnostics.sources.add(name, text)
    nul = text.find("\0")
    if nul >= 0:
        diagnostics.error("binary-input", "not a text file: it has a NUL character", _place(text, name, nul))
    elif problem is not None:
        diagnostics.error("invalid-utf8", "not valid UTF-8", _place(text, name, problem))
    elif match := _TOO_LONG.search(text):
        message = f"line is longer than {LONGEST_LINE:,} characters"
        diagnostics.error("line-too-long", message, _place(text, name, match.start()))
    else:
        return SourceFile(name, text, virtual)
    return None


def _place(text: str, name: str, offset: int) -> Span:
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    return Span(name, line, column, line, column + 1)


def find_include(
    target: str,
    directory: str | None,
    options: IncludeOptions,
    diagnostics: Diagnostics,
    place: Span | None,
    absent: list[str],
) -> SourceFile | None:
    """Search an include: in memory, in `directory` (that of the including file; None for <...>), then under -I.

    If no file can be read, report an error at `place` and return None. Paths that do not exist are added to `absent`.
    """
    if target in options.virtual_files:
        return open_source(options.virtual_files[target], target, True, diagnostics)
    directories = ([] if directory is None else [directory]) + list(options.include_dirs)
    for folder in directories:
        path = os.path.normpath(os.path.join(folder, target))  # noqa: PTH118 - the name shown is the one searched
        try:
            if not file_table.is_regular(path):
                diagnostics.error("include-unreadable", f"'{path}' is not a regular file", place)
                return None
            data = _read(path)
        except (FileNotFoundError, NotADirectoryError):
            absent.append(path)
            continue
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "invalid name"
            diagnostics.error("include-unreadable", f"'{target}' cannot be read: {reason}", place)
            return None
        except budgets.Exceeded as error:
            diagnostics.error("budget", str(error), place)
            return None
        return open_source(data, path, False, diagnostics)
    diagnostics.error("include-not-found", f"'{target}' file not found", place)
    return None


def _read(path: str) -> bytes:
    """Read a file.

    Raises OSError, or Exceeded, before memory is allocated, if the file is too large.
    """
    data = file_table.read(path, budgets.limit("source-bytes"))
    if data is None:
        raise budgets.Exceeded("source-bytes", f"'{path}'")
    return data


#: The largest total number of lines, with the empty ones before the first, of the texts that `add_presumed` creates:
#: `#line` may set any line number.
_MOST_PRESUMED = 1_000_000


def add_presumed(source: SourceFile, regions: list[Region], diagnostics: Diagnostics) -> None:
    """Register a file's lines under the names and numbers that #line gave them, so that diagnostics can show them."""
    if not regions:
        return
    physical = source.text.split("\n")
    budget = _MOST_PRESUMED
    files: dict[str, list[str]] = {}
    for region, following in zip(regions, [*regions[1:], None], strict=True):
        budget -= region.line
        if budget < 0:
            break
        existing_text = diagnostics.sources.files.get(region.name)
        lines = files.setdefault(region.name, existing_text.split("\n") if existing_text is not None else [])
        lines += [""] * (region.line - 1 - len(lines))
        stop = following.physical - 1 if following is not None else len(physical)
        part = physical[region.physical - 1 : stop]
        lines[region.line - 1 : region.line - 1 + len(part)] = part
    for name, lines in files.items():
        diagnostics.sources.add(name, "\n".join(lines))
