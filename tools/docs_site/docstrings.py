"""The docstrings of the package as reStructuredText.

A docstring describes a field by a line `name: meaning.`, which may continue on indented lines. Other indented lines
after an empty line are code. Text in backquotes is code, too; no other character has a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_FIELD = re.compile(r"(?P<names>[a-z_]\w*(?:, [a-z_]\w*)*): (?P<text>\S.*)", re.DOTALL)
_CODE = re.compile(r"`([^`]+)`(?=(\w?))")
# Characters that reStructuredText would read as markup.
_MARKUP = re.compile(r"([*|\\]|(?<=\w)_(?!\w))")


def process(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Rewrite the lines of a docstring; Sphinx calls this for each."""
    lines[:] = rewritten(lines)


def rewritten(lines: Iterable[str]) -> list[str]:
    """Return the lines of a docstring as reStructuredText."""
    return [line for block in _blocks(lines) for line in [*_block(block), ""]]


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the lines of each paragraph, field and code block. Empty lines separate them; a field also begins one."""
    block: list[str] = []
    for line in [*lines, ""]:
        is_field = bool(_FIELD.fullmatch(line))
        if block and (not line or is_field):
            yield block
            block = []
        if line:
            block.append(line)


def _block(lines: list[str]) -> Iterator[str]:
    field = _FIELD.fullmatch("\n".join(lines))
    if field is not None:
        yield ", ".join(f"``{name}``" for name in field["names"].split(", "))
        yield f"    {_prose(' '.join(field['text'].split()))}"
    elif lines[0].startswith("    "):
        yield from ("::", "", *lines)
    else:
        yield from _prose("\n".join(lines)).split("\n")


def _prose(text: str) -> str:
    """Return a paragraph with code in double backquotes, and without other markup."""
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts += [_MARKUP.sub(r"\\\1", text[end : match.start()]), f"``{match[1].strip()}``", "\\ " * bool(match[2])]
        end = match.end()
    return "".join([*parts, _MARKUP.sub(r"\\\1", text[end:])])


def as_markdown(text: str) -> str:
    """Return a docstring without fields as Markdown: code blocks become fenced blocks."""
    parts = []
    for block in _blocks(text.split("\n")):
        is_code = block[0].startswith("    ")
        lines = "\n".join(line.removeprefix("    ") if is_code else line for line in block)
        parts.append(f"```text\n{lines}\n```" if is_code else re.sub(r"([*<])", r"\\\1", lines))
    return "\n\n".join(parts)
