"""Builds kept on disk: whoever asks for one again gets it without the compiler.

An entry is a file, written whole or not at all, with a digest of everything in it: one that was cut off or damaged is
built again. Processes that want the same entry at once wait for the first of them. COOPMAT_NO_CACHE=1 turns the cache
off, COOPMAT_CACHE_DIR names another place for it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows, where processes may do the same work at the same time
    fcntl = None  # type: ignore[assignment]

NO_CACHE, CACHE_DIRECTORY = "COOPMAT_NO_CACHE", "COOPMAT_CACHE_DIR"
logger = logging.getLogger("coopmat.cache")

_MAGIC = b"coopmat entry 1\n"
_DIGEST_SIZE = 32
_LENGTH = struct.Struct("<Q")


class Damaged(ValueError):
    """The file is not an entry as it was written."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What was built: `facts` are anything that JSON holds. `dependencies` are the files that were included, absolute
    or relative to the working directory; as long as their contents are the same, and
    there are no files of the names `absent`, the entry holds."""

    payload: bytes
    facts: Any = None
    dependencies: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def key_of(parts: Mapping[str, object]) -> str:
    """A key: hexadecimal digits that say the same of the same parts only. Bytes, and what JSON holds, are parts."""
    digest = hashlib.blake2b(digest_size=_DIGEST_SIZE)
    for name in sorted(parts):
        part = parts[name]
        data = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode()
        digest.update(_LENGTH.pack(len(name)) + name.encode() + _LENGTH.pack(len(data)) + data)
    return digest.hexdigest()


@cache
def package_version() -> str:
    """Of this package and what it compiles with; any change of its files counts."""
    import llvmlite

    root = Path(__file__).resolve().parent
    files = (path for pattern in ("*.py", "*.cl", "*.lark", "*.tsv") for path in root.rglob(pattern))
    stats = sorted((str(path.relative_to(root)), path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    own = hashlib.blake2b(repr(stats).encode(), digest_size=16).hexdigest()
    return f"{own} llvmlite {llvmlite.__version__}"


def cache_directory() -> Path:
    """Where this user's cached files go: COOPMAT_CACHE_DIR, or the platform's cache directory."""
    import platformdirs

    named = os.environ.get(CACHE_DIRECTORY)
    return Path(named).expanduser() if named else Path(platformdirs.user_cache_dir("coopmat", appauthor=False))


@dataclass(frozen=True)
class Cache:
    """`directory` is made when it is first written to; None: nothing is kept."""

    directory: Path | None

    @classmethod
    def of_environment(cls) -> Cache:
        return cls(None if os.environ.get(NO_CACHE, "") not in ("", "0") else cache_directory())

    def get(self, key: str) -> Entry | None:
        """The entry, if there is one and all files that it depends on are as they were. OSError never comes out."""
        if self.directory is None:
            return None
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        try:
            header, payload = _parse(data)
        except Damaged as error:
            logger.warning("%s is damaged (%s): it is built again", path, error)
            with suppress(OSError):
                path.unlink()
            return None
        if not _holds(header):
            logger.debug("%s: an included file has changed", key)
            return None
        return Entry(payload, header["facts"], tuple(name for name, _ in header["files"]), tuple(header["absent"]))

    def put(self, key: str, entry: Entry) -> None:
        """Keeps the entry; where it cannot be written, that is logged and nothing else happens."""
        if self.directory is None:
            return
        try:
            data = _format(entry)
            path = self._path(key)
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                Path(temporary).replace(path)
            except BaseException:
                with suppress(OSError):
                    Path(temporary).unlink()
                raise
        except OSError as error:
            logger.warning("the cache entry %s could not be written: %s", key, error)

    def get_or_build(self, key: str, build: Callable[[], Entry]) -> Entry:
        """The entry, built and kept if it is not there. What `build` raises comes out, and nothing is kept."""
        entry = self.get(key)
        if entry is not None:
            return entry
        with self._alone(key):
            # Whoever was here before has built it.
            entry = self.get(key)
            if entry is None:
                entry = build()
                self.put(key, entry)
        return entry

    def clear(self) -> None:
        """Removes every entry."""
        import shutil

        if self.directory is not None:
            shutil.rmtree(self.directory / "entries", ignore_errors=True)

    def _path(self, key: str) -> Path:
        assert self.directory is not None
        return self.directory / "entries" / key[:2] / key[2:]

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        """One process and thread at a time for a key. The lock goes with the process that holds it, and its file with
        the last of them."""
        if self.directory is None or fcntl is None:
            yield
            return
        path = self.directory / "locks" / key
        try:
            handle = _lock(path)
        except OSError as error:
            logger.warning("the cache cannot be locked: %s", error)
            yield
            return
        try:
            yield
        finally:
            # Removed while it is held: whoever waits for it sees that its name is gone, and takes a new one.
            with suppress(OSError):
                path.unlink()
            os.close(handle)


def _lock(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


# --- entries as files ------------------------------------------------------------------------------


def _format(entry: Entry) -> bytes:
    files = [(name, _digest_of(name)) for name in entry.dependencies]
    header = json.dumps({"facts": entry.facts, "files": files, "absent": entry.absent}).encode()
    rest = _LENGTH.pack(len(header)) + header + entry.payload
    return _MAGIC + hashlib.blake2b(rest, digest_size=_DIGEST_SIZE).digest() + rest


def _parse(data: bytes) -> tuple[dict[str, Any], bytes]:
    start = len(_MAGIC) + _DIGEST_SIZE
    if not data.startswith(_MAGIC) or len(data) < start + _LENGTH.size:
        raise Damaged("it does not begin like an entry")
    rest = data[start:]
    if hashlib.blake2b(rest, digest_size=_DIGEST_SIZE).digest() != data[len(_MAGIC) : start]:
        raise Damaged("its digest is another")
    (length,) = _LENGTH.unpack_from(rest)
    try:
        header = json.loads(rest[_LENGTH.size : _LENGTH.size + length])
        files, absent = header["files"], header["absent"]
        known = "facts" in header and all(
            isinstance(name, str) for name in absent + [part for f in files for part in f]
        )
    except (ValueError, LookupError, TypeError):
        known = False
    if not known:
        raise Damaged("its header is another")
    return header, rest[_LENGTH.size + length :]


def _holds(header: Mapping[str, Any]) -> bool:
    try:
        return all(_digest_of(name) == digest for name, digest in header["files"]) and not any(
            os.path.lexists(name) for name in header["absent"]
        )
    except OSError:
        return False


def _digest_of(name: str) -> str:
    return hashlib.blake2b(Path(name).read_bytes(), digest_size=_DIGEST_SIZE).hexdigest()
