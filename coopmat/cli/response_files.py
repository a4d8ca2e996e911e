"""Response files: `@FILE` on a command line is replaced by the arguments in the file, as compilers do."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from coopmat import budgets
from coopmat.options import UsageError


def expand(arguments: Sequence[str]) -> list[str]:
    """Return the arguments, in which each `@FILE` is replaced by the arguments in the file.

    The arguments in a file are separated by white space and quoted as in a shell. They may name further files, relative
    to the working directory. If the file does not exist, the argument is unchanged. Raises UsageError for a file that
    contains no arguments (an open quotation mark, or no text), is too large, or includes itself.
    """
    return [word for argument in arguments for word in _words(argument, ())]


def _words(argument: str, within: tuple[Path, ...]) -> Iterator[str]:
    path = Path(argument[1:])
    if not argument.startswith("@") or not path.is_file():
        yield argument
        return
    if path.resolve() in within:
        raise UsageError(f"the response file {path} includes itself")
    if path.stat().st_size > budgets.limit("source-bytes"):
        raise UsageError(f"the response file {path} is larger than {budgets.phrase('source-bytes')}")
    try:
        words = shlex.split(path.read_text(encoding="utf-8"))
    except ValueError as error:  # an open quotation mark, or no text
        raise UsageError(f"the response file {path} cannot be read as arguments: {error}") from None
    for word in words:
        yield from _words(word, (*within, path.resolve()))
