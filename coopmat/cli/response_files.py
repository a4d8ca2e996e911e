"""`@FILE` on a command line: the arguments that the file holds, as compilers read them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from coopmat import budgets
from coopmat.options import UsageError


def expand(arguments: Sequence[str]) -> list[str]:
    """The arguments with those of response files in the place of `@FILE`.

    A file holds arguments with white space between, quoted as in a shell, and may name further ones, relative to the
    working directory. An argument whose file does not exist stays as it is. Raises UsageError for a file that holds
    no arguments, or itself.
    """
    return [word for argument in arguments for word in _words(argument, ())]


def _words(argument: str, within: tuple[Path, ...]) -> Iterator[str]:
    path = Path(argument[1:])
    if not argument.startswith("@") or not path.is_file():
        yield argument
        return
    if path.resolve() in within:
        raise UsageError(f"the response file {path} holds itself")
    if path.stat().st_size > budgets.limit("source-bytes"):
        raise UsageError(f"the response file {path} is larger than {budgets.told('source-bytes')}")
    try:
        words = shlex.split(path.read_text(encoding="utf-8"))
    except ValueError as error:  # an open quotation mark, or no text at all
        raise UsageError(f"the response file {path} holds no arguments: {error}") from None
    for word in words:
        yield from _words(word, (*within, path.resolve()))
