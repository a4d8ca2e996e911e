"""The type of the rows of the table of error codes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """An error code, its meaning, and an example.

    code: the code, as printed in brackets.
    example: a source that causes the error, compiled with `options`.
    shown: the text for the documentation, if the example is too long or not text.
    files: name -> text of included files.
    bare: whether the text before the family's examples is left out.
    """

    code: str
    meaning: str
    example: str | bytes
    options: tuple[str, ...] = ()
    shown: str = ""
    files: tuple[tuple[str, str], ...] = ()
    bare: bool = False
