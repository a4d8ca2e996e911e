"""What the preprocessor makes: the tokens of a translation unit, and their text for -E."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..diagnostics import Span
from . import tokens as tk
from .expansion import Macro
from .tokens import Token

# Macros whose replacement depends on where, and when, they are used.
_OF_PLACES = frozenset({"__FILE__", "__DATE__", "__TIME__"})


@dataclass(slots=True)
class TokenStream:
    """All tokens of a translation unit. `end` is the end of the main file, where `complete` was reached.

    `dependencies` names the files that were read, the main one first, those held in memory left out. `absent` are the
    names that includes were looked for under, and there was no file.
    """

    tokens: list[Token]
    end: Span
    dependencies: list[str]
    complete: bool
    absent: list[str] = field(default_factory=list)
    #: Those that are defined at the end, by name.
    macros: Mapping[str, Macro] = field(default_factory=dict, repr=False, compare=False)

    def to_text(self) -> str:
        """What `-E` prints: with line markers, and such that it comes back as the same tokens."""
        return "".join(_render(self.tokens, self.end.file))

    def definitions(self) -> str:
        """What `-E -dM` prints: a `#define` for each macro that is defined at the end."""
        shown = (self.macros[name].text for name in sorted(self.macros.keys() - _OF_PLACES))
        return "".join(f"#define {' '.join(text.split())}\n" for text in shown)


def _render(tokens: list[Token], main: str) -> Iterator[str]:
    yield f'# 1 "{quoted(main)}"\n'
    file, line, previous = main, 1, ""
    for token in tokens:
        span = token.span
        if previous and (token.type == tk.PRAGMA or span.line != line or span.file != file):
            yield "\n"
            line, previous = line + 1, ""
        if span.file != file or not 0 <= span.line - line <= 8:
            file, line = span.file, span.line
            yield f'# {line} "{quoted(file)}"\n'
        yield "\n" * (span.line - line)
        line = span.line
        if token.type == tk.PRAGMA:
            yield f"#pragma {token.value}\n"
            line += 1
            continue
        if not previous:
            yield " " * (span.column - 1)
        elif token.spaced or tk.pastes(previous, token.value):
            yield " "
        yield token.value
        previous = token.value
    if previous:
        yield "\n"


def quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def unquoted(text: str) -> str:
    """What stands between the quotes of a file's name or a pragma's text."""
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
