"""The parts that all HTML pages share: one file without network access, in the colors of the reader's system."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .printed import Printed

# The characters that HTML cannot represent, or that would change the direction of the text around them.
_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(value: object) -> str:
    """Return a value as the text of an element or a quoted attribute; U+FFFD replaces unprintable characters."""
    return escape(_NOT_PRINTABLE.sub("\ufffd", str(value)), quote=True)


@cache
def resource(name: str) -> str:
    """Return the text of a file of this package."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def document(title: str, body: Iterable[str], script: str = "", *, classes: str = "") -> str:
    """Return a page with the shared style and script, and a script for this page only.

    The page's policy allows exactly these scripts, and no request to any address.
    """
    code = "\n" + "".join(item for item in (resource("page.js"), script) if item)
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"
    lines = [
        f'<!doctype html>\n<html lang="en" class="{classes}">',
        '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}; form-action \'none\'">',
        f"<title>{text(title)}</title>\n<style>\n{resource('page.css')}</style></head>\n<body>",
        *body,
        f"<script>{code}</script>\n</body></html>\n",
    ]
    return "\n".join(lines)


THEME = (
    '<button type="button" id="theme" aria-label="color theme: as the system" title="light, dark, or as the system" '
    "hidden>\N{CIRCLE WITH RIGHT HALF BLACK} <span>system</span></button>"
)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", classes: str = "grid") -> str:
    """Return a table of texts; the first cell of each row is its head."""
    head = "".join(f'<th scope="col">{text(cell)}</th>' for cell in heads)
    label = text(caption or ", ".join(filter(None, heads)) or "table")
    lines = [f'<div class="wide" role="group" aria-label="{label}" tabindex="0"><table class="{classes}">']
    lines += [f"<caption>{text(caption)}</caption>"] if caption else []
    lines += [f"<thead><tr>{head}</tr></thead>"] if heads else []
    for first, *rest in rows:
        cells = "".join(f"<td>{text(cell)}</td>" for cell in rest)
        lines.append(f'<tr><th scope="row">{text(first)}</th>{cells}</tr>')
    return "\n".join([*lines, "</table></div>"])


def output(parts: Iterable[Printed]) -> str:
    """Return the output of kernels: printed matrices as tables, other lines as text."""
    result: list[str] = []
    plain: list[str] = []
    for part in (*parts, None):
        if part is not None and not part.rows:
            plain += part.lines
            continue
        if any(line.strip() for line in plain):
            result.append("<pre>" + text("\n".join(plain)) + "</pre>")
        plain = []
        if part is not None:
            result.append(table(part.heads, part.rows, part.title or "coop_mat_print_lanes", "grid numbers"))
    return "\n".join(result)
