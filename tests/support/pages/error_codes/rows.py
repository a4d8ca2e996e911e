"""What a row of the table of error codes is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """`code` as it stands in brackets, what it means, and an `example` that earns it, compiled with `options`.

    `shown` is what the documentation shows of an example that is too long or no text; `files` are what it includes, by
    name. `bare`: without what the examples of its family begin with.
    """

    code: str
    meaning: str
    example: str | bytes
    options: tuple[str, ...] = ()
    shown: str = ""
    files: tuple[tuple[str, str], ...] = ()
    bare: bool = False
