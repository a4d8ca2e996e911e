"""The cache of builds on disk, from which a repeated build is served without the compiler.

An entry is a file, written whole or not at all, with a digest of its contents: a truncated or damaged entry is built
again. Of processes that need the same entry at once, the first builds it and the others wait. COOPMAT_NO_CACHE=1 turns
the cache off, COOPMAT_CACHE_DIR names another place for it, COOPMAT_CACHE_SIZE the bytes that its entries may take; the
least recently used ones are removed first. A directory that others can access is not used (`places`).
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

from . import places
from .places import CACHE_DIRECTORY as CACHE_DIRECTORY, CACHE_SIZE as CACHE_SIZE, cache_directory as cache_directory

try:
    import fcntl
except ImportError:  # not on Windows, where processes may do the same work at the same time
    fcntl = None  # type: ignore[assignment]


NO_CACHE = "COOPMAT_NO_CACHE"

_MAGIC = b"coopmat entry 2\n"
_DIGEST_SIZE = 32
_SIZES, _FILE, _ABSENT = struct.Struct("<QQQ"), struct.Struct(f"<I{_DIGEST_SIZE}s"), bytes(_DIGEST_SIZE)
_LENGTH = struct.Struct("<Q")


class Damaged(ValueError):
    """Raised when a file is not an entry as it was written."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An `Entry` is the result of a build: `facts` are anything that JSON can represent. `dependencies` are the files
    that were included, absolute or relative to the working directory; the entry is valid as long as their contents are
    the same, and there are no files of the names `absent`."""

    payload: bytes
    facts: Any = None
    dependencies: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def key_of(parts: Mapping[str, object]) -> str:
    """Return a key: hexadecimal digits that are equal for equal parts only. Bytes, and what JSON can represent, are
    parts."""
    digest = hashlib.blake2b(digest_size=_DIGEST_SIZE)
    for name in sorted(parts):
        part = parts[name]
        data = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode()
        digest.update(_LENGTH.pack(len(name)) + name.encode() + _LENGTH.pack(len(data)) + data)
    return digest.hexdigest()


def package_files() -> list[Path]:
    """Return this package's own files that the compiler is made of, in the order of their names."""
    root = Path(__file__).resolve().parent.parent
    return sorted(path for pattern in ("*.py", "*.cl", "*.lark", "*.tsv") for path in root.rglob(pattern))


@cache
def package_version() -> str:
    """Return the version of this package and of its LLVM; any change of its files changes it."""
    import llvmlite

    root = Path(__file__).resolve().parent.parent
    rows = ((str(path.relative_to(root)), path.stat()) for path in package_files())
    stats = [(name, status.st_size, status.st_mtime_ns) for name, status in rows]
    own = hashlib.blake2b(repr(stats).encode(), digest_size=16).hexdigest()
    return f"{own} llvmlite {llvmlite.__version__}"


def log(message: str, *values: object, warn: bool = True) -> None:
    """Log to the logger `coopmat.cache`; most processes never import the module."""
    import logging

    logging.getLogger("coopmat.cache").log(logging.WARNING if warn else logging.DEBUG, message, *values)


# Directories that this process has told are not used.
_warned_directories: set[Path] = set()


Check = Callable[[Entry], object]
Files = tuple[tuple[str, bytes], ...]
# The errors that a file from somebody else may cause: its digest is right, and its header is any JSON value.
_ABSURD = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError, MemoryError, struct.error)


@dataclass(frozen=True)
class Cache:
    """A `Cache` keeps entries in `directory`, which is made when it is first written to; None: nothing is kept."""

    directory: Path | None

    @classmethod
    def of_environment(cls) -> Cache:
        return cls(None if os.environ.get(NO_CACHE, "") not in ("", "0") else cache_directory())

    def get(self, key: str, check: Check = lambda entry: None) -> Entry | None:
        """Return the entry, if there is one and all files that it depends on are unchanged; one whose facts make
        `check` raise is damaged. OSError is never raised."""
        directory = self._usable()
        if directory is None:
            return None
        path = _path(directory, key)
        try:
            entry, files = _parse(places.read_regular(path, places.size_limit()))
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
            os.utime(path)  # the time of its last use
        return entry

    def put(self, key: str, entry: Entry) -> None:
        """Keep the entry; if it cannot be written, that is only logged."""
        directory = self._usable(make=True)
        if directory is None:
            return
        try:
            data, limit = _format(entry), places.size_limit()
            if len(data) > limit:
                log("%s: %d bytes are more than all entries may take", key, len(data), warn=False)
                return
            path = _path(directory, key)
            for folder in (path.parent.parent, path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            places.write_whole(path, data)
            places.evict_if_due(directory, limit, len(data))
        except OSError as error:
            log("the cache entry %s could not be written: %s", key, error)

    def get_or_build(self, key: str, build: Callable[[], Entry], check: Check = lambda entry: None) -> Entry:
        """Return the entry, built and kept if there is none. Exceptions of `build` are raised, and nothing is kept."""
        entry = self.get(key, check)
        if entry is not None:
            return entry
        with self._alone(key):
            # Another process or thread has built it meanwhile.
            entry = self.get(key, check)
            if entry is None:
                entry = build()
                self.put(key, entry)
        return entry

    def clear(self) -> None:
        """Remove every entry, lock and refused program. Raises OSError if the directory is not this user's."""
        if self.directory is not None:
            places.clear(self.directory)

    def _usable(self, make: bool = False) -> Path | None:
        """Return the directory, if it exists and is this user's alone; otherwise warn, once."""
        directory = self.directory
        if directory is None:
            return None
        try:
            if make:
                places.private_directory(directory)
            places.require_private(directory)
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
        """Admit one process and thread at a time for a key. The lock is released with the process that holds it, and
        the last of them removes its file."""
        directory = None if fcntl is None else self._usable(make=True)
        if directory is None:
            yield
            return
        path = directory / places.LOCKS / key
        try:
            handle = _lock(path)
        except OSError as error:
            log("the cache cannot be locked: %s", error)
            yield
            return
        try:
            yield
        finally:
            # Removed while it is held: whoever waits for it sees that its name is gone, and takes a new one.
            with suppress(OSError):
                path.unlink()
            os.close(handle)


def _path(directory: Path, key: str) -> Path:
    return directory / places.ENTRIES / key[:2] / key[2:]


def _lock(path: Path) -> int:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    while True:
        handle = places.open_regular(path, os.O_CREAT | os.O_RDWR)
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
    """Return the entry, and the files that it depends on with their digests. Raises Damaged, and the errors of JSON."""
    start = len(_MAGIC) + _DIGEST_SIZE
    if not data.startswith(_MAGIC) or len(data) < start + _SIZES.size:
        raise Damaged("it does not begin like an entry")
    if hashlib.blake2b(data[start:], digest_size=_DIGEST_SIZE).digest() != data[len(_MAGIC) : start]:
        raise Damaged("its digest is another")
    sizes = _SIZES.unpack_from(data, start)
    start += _SIZES.size
    if start + sum(sizes) != len(data):
        raise Damaged("its sizes are others")
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
            raise Damaged("a name is longer than its table")
        yield os.fsdecode(table[at - length : at]), digest


def _hold(files: Files) -> bool:
    """Return whether the files that an entry depends on are unchanged."""
    try:
        return all(
            not os.path.lexists(name) if digest == _ABSENT else _digest_of(name) == digest for name, digest in files
        )
    except (OSError, ValueError):
        return False


def _digest_of(name: str) -> bytes:
    """Return the digest of a file that was included, and may be behind links; a file that is not regular may never end,
    and is refused."""
    if not stat.S_ISREG(Path(name).stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", name)
    return hashlib.blake2b(Path(name).read_bytes(), digest_size=_DIGEST_SIZE).digest()
