"""The builtins that docs/builtins-on-devices.md says are unequal, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from cases import KINDS, OURS
from overload_list import identified
from scheduling import Finding

from coopmat.frontend.builtins import Builtin, Overload
from coopmat.frontend.types import PointerType, Type, element_type

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "builtins-on-devices.md"
_LINE = re.compile(
    r"\| (?P<names>`[^|]*`) \| (?P<elements>[^|]*) \| (?P<kind>\w+) \| (?P<seen>\w+) \| (?P<reason>.*) \|"
)
ALWAYS, SOMETIMES = "always", "sometimes"


@dataclass(frozen=True)
class Listed:
    """One line of the table: rows by name (`*` stands for anything), the element types of the first parameter (`any`:
    all), who is unequal (`cases.KINDS`), whether on every processor, and the reason."""

    names: tuple[str, ...]
    elements: tuple[str, ...]
    kind: str
    seen: str
    reason: str

    def about(self, row: Builtin) -> bool:
        return any(fnmatchcase(row.name, name) for name in self.names)

    def explains(self, finding: Finding) -> bool:
        overload = identified(finding.overload)
        fits = self.elements == ("any",) or element_of(overload) in self.elements
        return finding.kind == self.kind and fits and self.about(overload.row)


def element_of(overload: Overload) -> str:
    """The element type of the first parameter, or of the result where there is none."""

    def strip(t: Type) -> Type:
        return element_type(t.pointee if isinstance(t, PointerType) else t)

    return str(strip(overload.parameters[0] if overload.parameters else overload.result))


def listed(document: Path = DOCUMENT) -> tuple[Listed, ...]:
    found = []
    for match in map(_LINE.fullmatch, document.read_text().splitlines()):
        if match is not None:
            names = tuple(re.findall(r"`([^`]+)`", match["names"]))
            found.append(Listed(names, tuple(match["elements"].split()), match["kind"], match["seen"], match["reason"]))
    wrong = [
        line for line in found if line.kind not in KINDS or line.kind == OURS or line.seen not in (ALWAYS, SOMETIMES)
    ]
    assert not wrong, wrong
    return tuple(found)


def unexplained(findings: Iterable[Finding], lines: Sequence[Listed]) -> list[Finding]:
    return [finding for finding in findings if not any(line.explains(finding) for line in lines)]


def become_equal(rows: Iterable[Builtin], findings: Sequence[Finding], lines: Sequence[Listed]) -> list[str]:
    """Of rows that were swept completely: the lines that say `always` and that nothing was found for any more."""
    return [
        f"'{row.name}' ({' '.join(line.elements)}, {line.kind}) is equal now: {line.reason}"
        for row in rows
        for line in lines
        if line.seen == ALWAYS
        and line.about(row)
        and not any(line.explains(f) for f in findings if identified(f.overload).row == row)
    ]
