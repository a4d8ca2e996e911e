"""What the cache takes on disk: its limit, what goes first, and the code that devices refused."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .places import NotPrivate, cache_directory, private_directory, private_temporary_directory, require_private

CACHE_SIZE = "COOPMAT_CACHE_SIZE"
DEFAULT_SIZE = 512 << 20
ENTRIES, LOCKS, REFUSED = "entries", "locks", "refused"
# The newest of the refused programs that are kept.
MOST_REFUSED = 20
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_SIZE = re.compile(r"(\d{1,15})([KMGT]?)(?:i?B)?", re.IGNORECASE)
# What a process that was killed was writing.
_NEW, _ABANDONED_AFTER = ".new-", 3600.0


@dataclass(frozen=True, slots=True)
class Held:
    """`paths` by use, the oldest first; `size` in bytes."""

    paths: tuple[Path, ...]
    size: int

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Held:
        found = []
        for path in paths:
            with suppress(OSError):
                status = path.lstat()
                found.append((status.st_mtime_ns, str(path), status.st_size))
        found.sort()
        return cls(tuple(Path(path) for _, path, _ in found), sum(size for _, _, size in found))


def size_limit() -> int:
    """Bytes that the entries may take: COOPMAT_CACHE_SIZE, such as 200M. What cannot be read stands for the default."""
    match = _SIZE.fullmatch(os.environ.get(CACHE_SIZE, "").strip())
    return int(match[1]) << _UNITS[match[2].upper()] if match else DEFAULT_SIZE


def entries(directory: Path) -> Held:
    """Without what is being written."""
    return Held.of(path for path in _files(directory / ENTRIES) if not path.name.startswith(_NEW))


def evict(directory: Path, limit: int) -> None:
    """Removes entries until they are no larger than `limit` bytes, those first that were not used for longest; and
    what was left behind half written."""
    files = list(_files(directory / ENTRIES))
    for path in files:
        with suppress(OSError):
            if path.name.startswith(_NEW) and path.lstat().st_mtime < time.time() - _ABANDONED_AFTER:
                path.unlink()
    held = entries(directory)
    size = held.size
    for path in held.paths:
        if size <= limit:
            return
        with suppress(OSError):
            taken = path.lstat().st_size
            path.unlink()
            size -= taken


def _files(directory: Path) -> Iterable[Path]:
    for folder, _, names in os.walk(directory):
        yield from (Path(folder) / name for name in names)


def write_whole(path: Path, data: bytes) -> None:
    """Under that name stands the whole of it, or what was there before. Raises OSError."""
    handle, temporary = tempfile.mkstemp(prefix=_NEW, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


# --- refused programs ------------------------------------------------------------------------------


def keep_refused(code: bytes, suffix: str) -> Path:
    """Writes code that a device refused to a file, for whoever wants to see it; the newest are kept. Raises OSError."""
    folder = _refused_directory()
    path = folder / f"coopmat-{hashlib.blake2b(code, digest_size=8).hexdigest()}{suffix}"
    write_whole(path, code)
    for old in refused(folder.parent).paths[:-MOST_REFUSED]:
        with suppress(OSError):
            old.unlink()
    return path


def refused(directory: Path) -> Held:
    return Held.of(_files(directory / REFUSED))


def _refused_directory() -> Path:
    try:
        return private_directory(private_directory(cache_directory()) / REFUSED)
    except OSError:
        return private_directory(private_temporary_directory() / REFUSED)


# --- the whole -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class State:
    """Of a cache: why it is not used (`fault`, empty where it is), its entries and the refused programs in files and
    bytes, and the bytes that the entries may take."""

    directory: str
    fault: str
    entries: int
    size: int
    limit: int
    refused: int
    refused_size: int


def state(directory: Path) -> State:
    """Raises nothing: what cannot be read counts as empty."""
    try:
        require_private(directory)
        fault = ""
    except FileNotFoundError:
        fault = ""  # it is made when it is first written to
    except NotPrivate as error:
        fault = str(error)
    except OSError as error:
        fault = error.strerror or str(error)
    held, kept = entries(directory), refused(directory)
    return State(str(directory), fault, len(held.paths), held.size, size_limit(), len(kept.paths), kept.size)


def clear(directory: Path) -> None:
    """Removes entries, locks and refused programs. Raises OSError where the directory is not this user's alone."""
    import shutil

    with suppress(FileNotFoundError):
        require_private(directory)
        for name in (ENTRIES, LOCKS, REFUSED):
            shutil.rmtree(directory / name, ignore_errors=True)
