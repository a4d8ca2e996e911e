"""Files in memory, in the place of the disk's: a source and its includes, where they were sent from elsewhere.

with use({"gemm.cl": b"...", "tile.h": b"..."}):
    compile(...)      # finds these files by these names, and no others
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_table: ContextVar[Mapping[str, bytes] | None] = ContextVar("file_table", default=None)


@contextmanager
def use(files: Mapping[str, bytes]) -> Iterator[None]:
    """Let all files be these, by the names under which they are looked for (`os.path.normpath`)."""
    token = _table.set(files)
    try:
        yield
    finally:
        _table.reset(token)


def is_regular(path: str) -> bool:
    """Return whether a name is a regular file's. Raises OSError where there is nothing of that name."""
    files = _table.get()
    if files is None:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    if _key(path) not in files:
        raise FileNotFoundError(2, os.strerror(2), path)
    return True


def read(path: str, most: int) -> bytes | None:
    """Return a file's first `most` + 1 bytes, or None for one that is larger, which is not read. Raises OSError."""
    files = _table.get()
    if files is not None:
        is_regular(path)
        data = files[_key(path)]
        return data if len(data) <= most else None
    with open(path, "rb") as file:  # noqa: PTH123
        if os.fstat(file.fileno()).st_size > most:
            return None
        data = file.read(most + 1)
        return data if len(data) <= most else None


def identity(path: str) -> str:
    """Return a text that is the same for all names of one file, such as links to it; the name of a file in memory."""
    if _table.get() is None:
        try:
            status = os.stat(path)  # noqa: PTH116
        except (OSError, ValueError):
            return path
        return f"{status.st_dev}:{status.st_ino}"
    return _key(path)


def _key(path: str) -> str:
    return os.path.normpath(path)
