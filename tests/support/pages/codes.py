"""Every code of a diagnostic with its meanings, examples and fixes, for the pages of the site, one for each code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from coopmat.warning_options.table import WARNINGS

from . import diagnostics, warnings
from .error_codes import FAMILIES
from .error_codes.others import OTHERS, TITLE as OTHER_TITLE

WARNING_TITLE = "Warnings"


@dataclass
class Code:
    """A code of a diagnostic.

    families: title of a table that has the code -> the meaning of the code there.
    body: the lines of Markdown that follow the meanings.
    """

    name: str
    families: dict[str, str] = field(default_factory=dict)
    body: list[str] = field(default_factory=list)


def titles() -> list[str]:
    """Return the titles of the tables, in order."""
    return [*(title for title, _, _ in FAMILIES), WARNING_TITLE, OTHER_TITLE]


def names() -> list[str]:
    """Return all codes, once each."""
    return list(dict.fromkeys(name for _, name, _, _ in _rows()))


def all_codes() -> list[Code]:
    """Return all codes. Every example is compiled."""
    found: dict[str, Code] = {}
    for title, name, meaning, body in _rows():
        code = found.setdefault(name, Code(name))
        code.families[title] = meaning
        code.body += body
    return list(found.values())


def _rows() -> Iterator[tuple[str, str, str, Iterator[str]]]:
    """Yield (title, code, meaning, lines of Markdown) of the rows of all tables."""
    for title, before, rows in FAMILIES:
        for row in rows:
            yield title, row.code, row.meaning, diagnostics.lines(row, before, with_before=True)
    for warning in WARNINGS:
        yield WARNING_TITLE, warning.name, warning.meaning, warnings.lines(warning, with_before=True)
    for other in OTHERS:
        yield OTHER_TITLE, other.code, other.meaning, iter([other.advice, ""])
