"""The log of a variant as HTML: the matrices in it as tables, with the wrong components marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coopmat.explain.html import output
from coopmat.explain.printed import Printed, read

# The title of a matrix that `comparison.fault` prints, whose window of rows and columns need not begin at 0.
_TITLE = re.compile(r"  (?:expected|got), .*?(?: \(rows (\d+) to \d+, columns (\d+) to \d+\))?:")


def render(lines: Sequence[str]) -> str:
    """Return a log as HTML."""
    parts = list(_parts(lines))
    html = output(parts)
    # A star follows each wrong component.
    return re.sub(r"<td>([^<]*)\*</td>", r'<td class="fail">\1 ✗</td>', html) if any(p.rows for p in parts) else html


def _parts(lines: Sequence[str]) -> Iterator[Printed]:
    """Yield the parts of a log: matrices that were compared, those that the kernel printed, and other lines."""
    at = 0
    while at < len(lines):
        title = _TITLE.fullmatch(lines[at])
        end = at + 1
        while title and end < len(lines) and lines[end].startswith("    "):
            end += 1
        rows = [line.split() for line in lines[at + 1 : end]]
        if title and rows and len({len(row) for row in rows}) == 1:
            row, column = int(title[1] or 0), int(title[2] or 0)
            heads = ("", *(str(column + n) for n in range(len(rows[0]))))
            numbered = tuple((str(row + n), *cells) for n, cells in enumerate(rows))
            yield Printed(tuple(lines[at:end]), lines[at].strip().rstrip(":"), heads, numbered)
            at = end
            continue
        end = next((n for n in range(at + 1, len(lines)) if _TITLE.fullmatch(lines[n])), len(lines))
        yield from read(lines[at:end])
        at = end
