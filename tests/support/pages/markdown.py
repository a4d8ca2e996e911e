"""Parts of the pages in docs/ that tests check: fenced blocks, headings, links, tables."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block, and the heading above it."""

    heading: str
    language: str
    text: str


def blocks(page: str, language: str) -> Iterator[Block]:
    headings = [(m.start(), m[1]) for m in _HEADING.finditer(_without_blocks(page))]
    for m in FENCE.finditer(page):
        if m[1] == language:
            yield Block([name for start, name in headings if start < m.start()][-1], m[1], m[2])


def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    names = (m[1].lower() for m in _HEADING.finditer(_without_blocks(page)))
    return {re.sub(r"[^\w\- ]", "", name).replace(" ", "-") for name in names}


def broken_links(path: Path) -> list[str]:
    """Return the links of a page to files or headings that do not exist."""
    broken = []
    for link in _LINK.findall(_without_blocks(path.read_text(encoding="utf-8"))):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        missing = not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8")))
        broken += [link] if missing else []
    return broken


def rows(page: str) -> Iterator[list[str]]:
    """Yield the cells of each row of all tables, without the table heads."""
    lines = page.split("\n")
    for before, line in itertools.pairwise(lines):
        if line.startswith("|") and before.startswith("|") and not re.fullmatch(r"[|\s:-]+", line):
            yield [cell.replace(r"\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def codes(text: str) -> list[str]:
    """Return the texts in backquotes."""
    return _CODE.findall(_without_blocks(text))


def _without_blocks(page: str) -> str:
    return FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), page)
