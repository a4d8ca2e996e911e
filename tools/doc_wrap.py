"""Wrap the paragraphs of pages that have lines of more than 120 characters: `python tools/doc_wrap.py PAGE...`.

Code, links, tables, headings and lists stay. A paragraph whose lines are all short stays, too.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from doc_lint import COLUMNS

_ITEM = re.compile(r"(\s*)((?:[-*+]|\d+[.)])\s+)?(.*)", re.DOTALL)
_FENCE = re.compile(r"\s*(```|~~~)")
# Lines that are no part of a paragraph.
_OTHER = re.compile(r"#|\s*\||>|    (?!.*\S.*$)|<|\[[^\]]+\]: |\s*$|(?:---|===)")
# Code, or the rest of a link's text with its target, or a word.
_TOKEN = re.compile(r"(?:`[^`]*`|\]\([^)]*\)|[^\s`])+")
# A word that would begin a list, a heading, a quotation or a table at the beginning of a line.
_MARKER = re.compile(r"(?:[-*+=#>|]|-{2,}|={2,}|\d+[.)]|#+)$|[#>|]")


def wrapped(text: str) -> str:
    """Return a page with its paragraphs wrapped."""
    result: list[str] = []
    block: list[str] = []
    fence = ""

    def end() -> None:
        if any(len(line) > COLUMNS for line in block):
            result.extend(_wrapped(block))
        else:
            result.extend(block)
        block.clear()

    for line in text.split("\n"):
        match = _FENCE.match(line)
        is_item = bool(re.match(r"\s*(?:[-*+]|\d+[.)])\s", line))
        is_code = line.startswith("    ") and not block
        if fence or match or is_code or _OTHER.match(line) or is_item:
            end()
        if match and (not fence or match[1] == fence):
            fence = "" if fence else match[1]
            result.append(line)
        elif fence or is_code or _OTHER.match(line):
            result.append(line)
        else:
            block.append(line)
    end()
    return "\n".join(result)


def _wrapped(block: list[str]) -> list[str]:
    """Return the lines of a paragraph, or of an item of a list, wrapped with the indentation that they have."""
    match = _ITEM.fullmatch("\n".join(block))
    assert match is not None
    first = match[1] + (match[2] or "")
    rest = " " * len(first)
    lines, line = [], first
    for word in _tokens(match[3]):
        if len(line) + 1 + len(word) > COLUMNS and line.strip() and line != first:
            lines.append(line)
            line = rest + word
        else:
            line = line + word if line in (first, rest) else f"{line} {word}"
    return [*lines, line]


def _tokens(text: str) -> list[str]:
    """Return the parts between which a line may end."""
    tokens: list[str] = []
    for match in _TOKEN.finditer(" ".join(text.split())):
        if tokens and _MARKER.match(match[0]):
            tokens[-1] += f" {match[0]}"
        else:
            tokens.append(match[0])
    return tokens


def main(names: list[str]) -> None:
    for path in map(Path, names):
        path.write_text(wrapped(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
