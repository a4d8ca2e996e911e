"""The cache of builds on disk, from which a repeated build is served without the compiler.

An entry is a file with a digest of its contents; the file is written completely or not at all. A truncated or damaged
entry is built again. If several processes need the same entry at once, the first builds it and the others wait.

COOPMAT_NO_CACHE=1: turns the cache off.
COOPMAT_CACHE_DIR: the directory of the cache.
COOPMAT_CACHE_SIZE: the bytes that all entries may take; the least recently used entries are removed first.

A directory that other users can access is not used (`directories`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from . import directories
from .directories import (
    CACHE_DIRECTORY as CACHE_DIRECTORY,
    CACHE_SIZE as CACHE_SIZE,
    cache_directory as cache_directory,
    write_whole as write_whole,
)

try:
    import fcntl
except ImportError:  # Windows has no fcntl: there, several processes may build the same entry
    fcntl = None  # type: ignore[assignment]


NO_CACHE = "COOPMAT_NO_CACHE"

_MAGIC = b"coopmat entry 2\n"
_DIGEST_SIZE = 32
_SIZES, _FILE, _ABSENT = struct.Struct("<QQQ"), struct.Struct(f"<I{_DIGEST_SIZE}s"), bytes(_DIGEST_SIZE)
_LENGTH = struct.Struct("<Q")


class Damaged(ValueError):
    """Raised for a file that is not a complete, unchanged entry."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A result of a build.

    payload: the bytes of the result.
    facts: any further values that JSON can represent.
    dependencies: the included files, absolute or relative to the working directory. A change of their contents makes
        the entry invalid.
    absent: names under which an include was searched for and not found. A new file of such a name makes the entry
        invalid.
    """

    payload: bytes
    facts: Any = None
    dependencies: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def key_of(parts: Mapping[str, object]) -> str:
    """Return a key as hexadecimal digits; different parts have different keys.

    A part is bytes, or a value that JSON can represent.
    """
    digest = hashlib.blake2b(digest_size=_DIGEST_SIZE)
    for name in sorted(parts):
        part = parts[name]
        data = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode()
        digest.update(_LENGTH.pack(len(name)) + name.encode() + _LENGTH.pack(len(data)) + data)
    return digest.hexdigest()


def package_files() -> list[Path]:
    """Return the files of this package that determine the compiler's results, sorted by path."""
    root = Path(__file__).resolve().parent.parent
    return sorted(path for pattern in ("*.py", "*.cl", "*.lark", "*.tsv") for path in root.rglob(pattern))


@cache
def package_version() -> str:
    """Return a text that identifies this package's files (by size and time of change) and llvmlite."""
    import llvmlite

    root = Path(__file__).resolve().parent.parent
    rows = ((str(path.relative_to(root)), path.stat()) for path in package_files())
    stats = [(name, status.st_size, status.st_mtime_ns) for name, status in rows]
    own = hashlib.blake2b(repr(stats).encode(), digest_size=16).hexdigest()
    return f"{own} llvmlite {llvmlite.__version__}"


def log(message: str, *values: object, warn: bool = True) -> None:
    """Log to the logger `coopmat.cache`, as a warning or for debugging; import `logging` only here, to start faster."""
    import logging

    logging.getLogger("coopmat.cache").log(logging.WARNING if warn else logging.DEBUG, message, *values)


# Unusable directories of which this process has warned already.
_warned_directories: set[Path] = set()


Check = Callable[[Entry], object]
Files = tuple[tuple[str, bytes], ...]
# The errors that parsing may raise if another program wrote the file: its digest is right, its header any JSON value.
_ABSURD = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError, MemoryError, struct.error)


@dataclass(frozen=True)
class Cache:
    """A cache of entries in `directory`, which is created by the first write; without a directory, no entry is kept."""

    directory: Path | None

    @classmethod
    def of_environment(cls) -> Cache:
        return cls(None if os.environ.get(NO_CACHE, "") not in ("", "0") else cache_directory())

    def get(self, key: str, check: Check = lambda entry: None) -> Entry | None:
        """Return the entry of `key`, or None if there is none, or a file that it depends on has changed.

        An entry for whose facts `check` raises an exception counts as damaged and is removed. Never raises OSError.
        """
        directory = self._usable()
        if directory is None:
            return None
        path = _path(directory, key)
        try:
            entry, files = _parse(directories.read_regular(path, directories.size_limit()))
            check(entry)
        except OSError:
            return None
        except _ABSURD as error:
            log("%s is damaged (%s): it is built again", path, error)
            with suppress(OSError):
                path.unlink()
            return None
        if not _hold(files):
            log("%s: an included file has changed", key, warn=False)
            return None
        with suppress(OSError):
            os.utime(path)  # the time of last use, by which `directories.evict` orders entries
        return entry

    def put(self, key: str, entry: Entry) -> None:
        """Write the entry to the disk; a failure is only logged."""
        directory = self._usable(make=True)
        if directory is None:
            return
        try:
            data, limit = _format(entry), directories.size_limit()
            if len(data) > limit:
                log("%s: %d bytes are more than all entries may take", key, len(data), warn=False)
                return
            path = _path(directory, key)
            for folder in (path.parent.parent, path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            directories.write_whole(path, data)
            directories.evict_if_due(directory, limit, len(data))
        except OSError as error:
            log("the cache entry %s could not be written: %s", key, error)

    def get_or_build(self, key: str, build: Callable[[], Entry], check: Check = lambda entry: None) -> Entry:
        """Return the entry of `key`; if there is none, build and keep it. An exception of `build` is raised."""
        entry = self.get(key, check)
        if entry is not None:
            return entry
        with self._alone(key):
            # Meanwhile another process or thread may have built the entry.
            entry = self.get(key, check)
            if entry is None:
                entry = build()
                self.put(key, entry)
        return entry

    def clear(self) -> None:
        """Remove all entries, lock files and rejected programs. Raises OSError if the directory is not private."""
        if self.directory is not None:
            directories.clear(self.directory)

    def _usable(self, make: bool = False) -> Path | None:
        """Return the directory if it is private, else None, and warn once; `make` creates a missing directory."""
        directory = self.directory
        if directory is None:
            return None
        try:
            if make:
                directories.private_directory(directory)
            directories.require_private(directory)
        except FileNotFoundError:
            return None
        except OSError as error:
            if directory not in _warned_directories:
                _warned_directories.add(directory)
                log("the cache is not used: %s", error)
            return None
        return directory

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        """Hold the lock of a key, so that one thread of one process builds its entry.

        The system releases the lock when its process ends. The holder removes the lock's file.
        """
        directory = None if fcntl is None else self._usable(make=True)
        if directory is None:
            yield
            return
        path = directory / directories.LOCKS / key
        try:
            handle = _lock(path)
        except OSError as error:
            log("the cache cannot be locked: %s", error)
            yield
            return
        try:
            yield
        finally:
            # Remove the file before the lock is released: a waiting process then sees that the name is gone, and
            # locks a new file.
            with suppress(OSError):
                path.unlink()
            os.close(handle)


def _path(directory: Path, key: str) -> Path:
    return directory / directories.ENTRIES / key[:2] / key[2:]


def _lock(path: Path) -> int:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    while True:
        handle = directories.open_regular(path, os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(handle), path.lstat()):
                return handle
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


# --- entries as files ------------------------------------------------------------------------------
#
# All numbers are little-endian, as a reader in C declares them:
#
#     char magic[16]; uint8_t digest[32];           BLAKE2b of all that follows
#     uint64_t files_size, facts_size, payload_size;
#     files: for each, uint32_t length; uint8_t digest[32]; char name[length];   a digest of zeros: no such file
#     facts: JSON; payload


def _format(entry: Entry) -> bytes:
    files = [(name, _digest_of(name)) for name in entry.dependencies] + [(name, _ABSENT) for name in entry.absent]
    table = b"".join(_FILE.pack(len(data := os.fsencode(name)), digest) + data for name, digest in files)
    facts = json.dumps(entry.facts).encode()
    rest = _SIZES.pack(len(table), len(facts), len(entry.payload)) + table + facts + entry.payload
    return _MAGIC + hashlib.blake2b(rest, digest_size=_DIGEST_SIZE).digest() + rest


def _parse(data: bytes) -> tuple[Entry, Files]:
    """Return the entry of a file's bytes, and its dependencies with digests. Raises Damaged and JSON's errors."""
    start = len(_MAGIC) + _DIGEST_SIZE
    if not data.startswith(_MAGIC) or len(data) < start + _SIZES.size:
        raise Damaged("the header is not that of an entry")
    if hashlib.blake2b(data[start:], digest_size=_DIGEST_SIZE).digest() != data[len(_MAGIC) : start]:
        raise Damaged("its digest does not match its contents")
    sizes = _SIZES.unpack_from(data, start)
    start += _SIZES.size
    if start + sum(sizes) != len(data):
        raise Damaged("its sizes do not match the file")
    facts = start + sizes[0]
    files = tuple(_files(data[start:facts]))
    names = tuple(tuple(name for name, digest in files if (digest == _ABSENT) is absent) for absent in (False, True))
    payload = facts + sizes[1]
    return Entry(data[payload:], json.loads(data[facts:payload]), *names), files


def _files(table: bytes) -> Iterator[tuple[str, bytes]]:
    at = 0
    while at < len(table):
        length, digest = _FILE.unpack_from(table, at)
        at += _FILE.size + length
        if at > len(table):
            raise Damaged("a file name exceeds the table of files")
        yield os.fsdecode(table[at - length : at]), digest


def _hold(files: Files) -> bool:
    """Return whether all dependencies still have their digests, and all absent files are still absent."""
    try:
        return all(
            not os.path.lexists(name) if digest == _ABSENT else _digest_of(name) == digest for name, digest in files
        )
    except (OSError, ValueError):
        return False


def _digest_of(name: str) -> bytes:
    """Return the digest of an included file; follow links. Raises OSError for a file that is not regular (a pipe)."""
    if not stat.S_ISREG(Path(name).stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", name)
    return hashlib.blake2b(Path(name).read_bytes(), digest_size=_DIGEST_SIZE).digest()
