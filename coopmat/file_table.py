"""Files in memory that replace the files on disk: a source and its includes that another process sent.

    with use({"gemm.cl": b"...", "tile.h": b"..."}):
        compile(...)      # finds only these files

Outside of the context, the functions read files on disk.
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
    """Replace all files on disk by `files` inside the context.

    `files` maps names, as `os.path.normpath` returns them, to contents.
    """
    token = _table.set(files)
    try:
        yield
    finally:
        _table.reset(token)


def is_regular(path: str) -> bool:
    """Return whether `path` names a regular file.

    A file in memory is always regular. Raises OSError if no file has that name.
    """
    files = _table.get()
    if files is None:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    if _key(path) not in files:
        raise FileNotFoundError(2, os.strerror(2), path)
    return True


def read(path: str, most: int) -> bytes | None:
    """Return the contents of a file; None if the file has more than `most` bytes.

    A larger file is not read completely. Raises OSError if the file cannot be read.
    """
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
    """Return a text that is equal for all names of one file, such as links to the file.

    The text is "DEVICE:INODE", or `path` if the file has no status. For a file in memory it is the normalized path.
    """
    if _table.get() is None:
        try:
            status = os.stat(path)  # noqa: PTH116
        except (OSError, ValueError):
            return path
        return f"{status.st_dev}:{status.st_ino}"
    return _key(path)


def _key(path: str) -> str:
    return os.path.normpath(path)
