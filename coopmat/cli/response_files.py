"""`@FILE` on a command line: the arguments in that file, as compilers read them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from coopmat import budgets
from coopmat.options import UsageError


def expand(arguments: Sequence[str]) -> list[str]:
    """Return the arguments, with those in response files in the place of `@FILE`.

    The arguments in a file are separated by white space and quoted as in a shell; they may name further files, relative
    to the working directory. An argument whose file does not exist is unchanged. Raises UsageError for a file whose
    contents are no arguments, or that includes itself.
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
        raise UsageError(f"the response file {path} is larger than {budgets.phrase('source-bytes')}")
    try:
        words = shlex.split(path.read_text(encoding="utf-8"))
    except ValueError as error:  # an open quotation mark, or no text at all
        raise UsageError(f"the response file {path} holds no arguments: {error}") from None
    for word in words:
        yield from _words(word, (*within, path.resolve()))
