"""A small FileCheck: the lines of a text against CHECK lines, as LLVM's tests have them.

`CHECK: pattern` searches the lines after the last match, `CHECK-NEXT:` takes the next line only, and no line up to the
next match (or the end) may match a `CHECK-NOT:`. In a pattern, `{{...}}` is a regular expression, `[[X:...]]` one whose
match is kept as X, and `[[X]]` what was kept; everything else stands for itself. A run of blanks is one blank.
"""

from __future__ import annotations

import re

_CHECK = re.compile(r"^\s*;\s*CHECK(-NEXT|-NOT|):\s*(.*\S)\s*$", re.MULTILINE)
_PART = re.compile(r"\{\{(.+?)\}\}|\[\[(\w+)(?::(.+?))?\]\]")


class Mismatch(AssertionError):
    """A CHECK line that does not hold; the text names it and the line where the search began."""


def file_check(text: str, checks: str) -> None:
    """Raise Mismatch if a text does not have the lines that `checks` describes, or if there is no CHECK line."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    kept: dict[str, str] = {}
    forbidden: list[str] = []
    at, found = 0, _CHECK.findall(checks)
    if not any(suffix != "-NOT" for suffix, _ in found):
        raise Mismatch("there is no CHECK line")
    for suffix, pattern in found:
        if suffix == "-NOT":
            forbidden.append(pattern)
            continue
        expression = re.compile(_expression(pattern, kept))
        span = range(at, min(at + 1, len(lines)) if suffix == "-NEXT" else len(lines))
        line = next((number for number in span if expression.search(lines[number])), None)
        if line is None:
            raise Mismatch(
                f"CHECK{suffix}: {pattern}\nis not found from line {at + 1} on:\n{chr(10).join(lines[at : at + 20])}"
            )
        _refuse(forbidden, lines[at:line], kept)
        match = expression.search(lines[line])
        kept.update(match.groupdict() if match else {})
        at, forbidden = line + 1, []
    _refuse(forbidden, lines[at:], kept)


def _refuse(forbidden: list[str], lines: list[str], kept: dict[str, str]) -> None:
    for pattern in forbidden:
        if line := next((line for line in lines if re.search(_expression(pattern, kept), line)), None):
            raise Mismatch(f"CHECK-NOT: {pattern}\nmatches: {line}")


def _expression(pattern: str, kept: dict[str, str]) -> str:
    def part(match: re.Match[str]) -> str:
        regex, name, new = match.groups()
        return f"(?:{regex})" if regex else f"(?P<{name}>{new})" if new else re.escape(kept[name]) + r"\b"

    ends = [0, *(end for match in _PART.finditer(pattern) for end in match.span()), len(pattern)]
    texts = [pattern[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True)]
    parts = [part(match) for match in _PART.finditer(pattern)]
    return "".join(re.escape(text) + more for text, more in zip(texts, [*parts, ""], strict=True))
