"""The lint of the pages of docs/: lines of at most 120 characters, sentences of at most 25 words, and clear phrases.

`tools/prose.toml` has, for each page that is older than the check, how many faults it may have: the number must only
decrease. `python tools/doc_lint.py --update` lowers the numbers to what the pages have.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from prose_lint import INSTEAD_PATTERNS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = ROOT / "tools" / "prose.toml"
COLUMNS, WORDS = 120, 25
_FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2\s*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CODE = re.compile(r"`[^`]+`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_ITEM = re.compile(r"(?:[-*+]|\d+\.) ")
_END = re.compile(r"(?<=[.!?:;])(?:\s+|$)|(?<=[.!?:;][)\"'*])(?:\s+|$)")
# A heading, a table, a quotation, an indented block, or the definition of a link: nothing of it is a sentence.
_NO_SENTENCE = re.compile(r"#|\||>|    |\[[^\]]+\]: ")


def pages() -> list[Path]:
    """Return all pages that are linted: those of docs/, and those at the top of the repository."""
    return sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])


def is_generated(text: str) -> bool:
    """Whether a tool writes the page: then its lines and sentences are those of the tables."""
    return "\nMade by `tools/pages" in text


def faults(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, message) for each fault of a page."""
    if is_generated(text):
        return
    blank = _blanked(text)
    for number, line in enumerate(blank.split("\n"), 1):
        if len(line) > COLUMNS and not _cannot_be_wrapped(line):
            yield number, f"{len(line)} characters; lines have at most {COLUMNS}"
        for pattern, instead in INSTEAD_PATTERNS:
            for match in pattern.finditer(_CODE.sub("", line)):
                yield number, f"'{match[0].strip()}': write {instead}"
    for number, paragraph in _paragraphs(blank):
        for sentence in _sentences(paragraph):
            if len(sentence.split()) > WORDS:
                yield number, f"{len(sentence.split())} words; sentences have at most {WORDS}: {sentence[:60]}..."


def _blanked(text: str) -> str:
    """Return a page with blank lines in place of fenced blocks and comments."""
    for pattern in (_FENCE, _COMMENT):
        text = pattern.sub(lambda match: "\n" * match[0].count("\n"), text)
    return text


def _cannot_be_wrapped(line: str) -> bool:
    """Whether a line is a row of a table, or an indented block, or has no blank at which it could be divided."""
    return line.lstrip().startswith(("|", "#")) or line.startswith("    ") or " " not in line.strip()[:COLUMNS]


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of each paragraph and each item of a list."""
    start, words = 0, ""
    for number, line in enumerate([*text.split("\n"), ""], 1):
        stripped = line.strip()
        is_item = bool(_ITEM.match(stripped))
        if words and (not stripped or is_item or _NO_SENTENCE.match(line)):
            yield start, words
            words = ""
        if not stripped or (_NO_SENTENCE.match(line) and not is_item and not words):
            continue
        start, words = (start, f"{words} {stripped}") if words else (number, _ITEM.sub("", stripped, count=1))


def _sentences(paragraph: str) -> list[str]:
    """Return the sentences and the parts that a semicolon or a colon ends; code is one word."""
    text = _LINK.sub(r"\1", _CODE.sub("code", paragraph))
    return [part for part in _END.split(text) if part and part.strip()]


def allowed() -> dict[str, int]:
    return tomllib.loads(ALLOWED.read_text(encoding="utf-8")) if ALLOWED.exists() else {}


def update(counts: dict[str, int]) -> None:
    """Write the numbers of faults; a number does not become greater."""
    old = allowed()
    rows = {name: min(count, old.get(name, count)) for name, count in counts.items()}
    lines = [f'"{name}" = {count}' for name, count in sorted(rows.items()) if count]
    head = "# Page -> the number of faults that tools/doc_lint.py allows in it. A number must only decrease.\n\n"
    ALLOWED.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Print the faults of the pages that have more than they may; return 1 if there are any."""
    found = {path.relative_to(ROOT).as_posix(): list(faults(path.read_text(encoding="utf-8"))) for path in pages()}
    if arguments == ["--update"]:
        update({name: len(items) for name, items in found.items()})
        return 0
    limits = allowed()
    status = 0
    for name, items in found.items():
        if len(items) > limits.get(name, 0):
            status = 1
            print("".join(f"{name}:{line}: {message}\n" for line, message in sorted(items)), end="")
            print(f"{name}: {len(items)} faults; at most {limits.get(name, 0)} (tools/prose.toml)")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
