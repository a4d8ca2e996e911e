"""Parts of the pages in docs/ that tests look at: fenced blocks, headings, links, tables."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block, and the heading that it stands under."""

    heading: str
    language: str
    text: str


def blocks(page: str, language: str) -> Iterator[Block]:
    headings = [(m.start(), m[1]) for m in _HEADING.finditer(_without_blocks(page))]
    for m in _FENCE.finditer(page):
        if m[1] == language:
            yield Block([name for start, name in headings if start < m.start()][-1], m[1], m[2])


def anchors(page: str) -> set[str]:
    """The names by which links reach headings, as GitHub makes them."""
    names = (m[1].lower() for m in _HEADING.finditer(_without_blocks(page)))
    return {re.sub(r"[^\w\- ]", "", name).replace(" ", "-") for name in names}


def broken_links(path: Path) -> list[str]:
    """The links of a page to files or headings that there are not."""
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
    """The cells of the rows of all tables, without heads."""
    lines = page.split("\n")
    for before, line in itertools.pairwise(lines):
        if line.startswith("|") and before.startswith("|") and not re.fullmatch(r"[|\s:-]+", line):
            yield [cell.replace(r"\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def codes(text: str) -> list[str]:
    """What stands in backquotes."""
    return _CODE.findall(_without_blocks(text))


def _without_blocks(page: str) -> str:
    return _FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), page)
