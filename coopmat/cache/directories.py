"""The cache's files: private directories, the limit of size, the eviction of entries, and code that devices refused.

The compiler trusts the contents of the cache: a driver runs the code in it, and the OpenCL loader loads the libraries
that its files name. So a directory that another user owns or can access is not used.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

CACHE_DIRECTORY = "COOPMAT_CACHE_DIR"
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_SAFE = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class NotPrivate(PermissionError):
    """Raised for a directory that another user owns or can access; str() says which, and how to repair it."""


def cache_directory() -> Path:
    """Return the directory of this user's cached files: COOPMAT_CACHE_DIR, or the platform's cache directory."""
    named = os.environ.get(CACHE_DIRECTORY)
    # Path.expanduser raises an error for an unknown user; os.path.expanduser returns the path unchanged.
    return Path(os.path.expanduser(named)) if named else _own_directory()  # noqa: PTH111


def _own_directory() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("coopmat", appauthor=False))


def private_directory(path: Path) -> Path:
    """Create the directory if it is missing, and return it. Raises NotPrivate, or OSError if creation fails."""
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    require_private(path)
    return path


def require_private(path: Path) -> None:
    """Raise NotPrivate if a directory is another user's or accessible to others, OSError if it is no directory."""
    if not stat.S_ISDIR(path.stat().st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "not a directory", str(path))
    if not hasattr(os, "geteuid"):
        return  # Windows: a user's directories are private by default
    user, status = os.geteuid(), path.stat()
    if status.st_uid != user or path.lstat().st_uid != user:
        raise NotPrivate(f"{path} belongs to another user")
    if status.st_mode & 0o077:
        if not status.st_mode & 0o022 and path == _own_directory():
            # An earlier version let others read this directory; nobody else can have written to it.
            path.chmod(0o700)
            return
        mode = stat.S_IMODE(status.st_mode)
        raise NotPrivate(f"{path} can be opened by others (mode {mode:03o}): run `chmod 700 {path}`")


def private_temporary_directory() -> Path:
    """Return a private temporary directory: one for all processes of this user, else a new one for this process."""
    if hasattr(os, "getuid"):
        directory = Path(tempfile.gettempdir()) / f"coopmat-{os.getuid()}"
        try:
            private_directory(directory)
        except OSError:
            pass
        else:
            if not directory.is_symlink():
                return directory
    return Path(tempfile.mkdtemp(prefix="coopmat-"))


def read_regular(path: Path, most: int) -> bytes:
    """Return the file's bytes. Raises OSError for a link, a file that is not regular, or more than `most` bytes.

    Reading a file that is not regular, such as a pipe, might block or never end.
    """
    with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
        if os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, f"more than {most} bytes", str(path))
        return file.read(most)


def open_regular(path: Path, flags: int) -> int:
    """Open a regular file like os.open, with mode 0600 for O_CREAT. Raises OSError for links and all other files."""
    if (mode := _mode(path)) is not None and not stat.S_ISREG(mode):
        # Refuse before opening: opening a device may have effects.
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    handle = os.open(path, flags | _NO_FOLLOW | _SAFE, 0o600)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return handle


def _mode(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return None


# --- entries ---------------------------------------------------------------------------------------


CACHE_SIZE = "COOPMAT_CACHE_SIZE"
DEFAULT_SIZE = 512 << 20
ENTRIES, LOCKS, REFUSED = "entries", "locks", "refused"
# The number of the newest rejected programs that are kept.
MOST_REFUSED = 20
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_SIZE = re.compile(r"(\d{1,15})([KMGT]?)(?:i?B)?", re.IGNORECASE)
# The prefix of files that are being written; the age in seconds at which the writer of such a file must have died.
_NEW, _ABANDONED_AFTER = ".new-", 3600.0


@dataclass(frozen=True, slots=True)
class Inventory:
    """A list of files.

    paths: the files by time of last use, the oldest first.
    size: their total size in bytes.
    """

    paths: tuple[Path, ...]
    size: int

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Inventory:
        rows = []
        for path in paths:
            with suppress(OSError):
                status = path.lstat()
                rows.append((status.st_mtime_ns, str(path), status.st_size))
        rows.sort()
        return cls(tuple(Path(path) for _, path, _ in rows), sum(size for _, _, size in rows))


def size_limit() -> int:
    """Return the bytes that all entries may take: COOPMAT_CACHE_SIZE, such as 200M; if invalid, the default."""
    match = _SIZE.fullmatch(os.environ.get(CACHE_SIZE, "").strip())
    return int(match[1]) << _UNITS[match[2].upper()] if match else DEFAULT_SIZE


def entries(directory: Path) -> Inventory:
    """Return the inventory of the entries; files that are being written are left out."""
    return Inventory.of(path for path in _files(directory / ENTRIES) if not path.name.startswith(_NEW))


# cache directory -> bytes that this process has written to it since its last call of `evict`
_written: dict[Path, int] = {}


def evict_if_due(directory: Path, limit: int, written: int) -> None:
    """Count `written` bytes; evict at this process's first entry, and whenever it has written a 64th of the limit.

    Listing all entries at each write would take longer than most builds. The cache may exceed the limit by a 64th
    for each process that writes.
    """
    before = _written.get(directory)
    _written[directory] = written if before is None else before + written
    if before is None or 64 * _written[directory] > limit:
        _written[directory] = 0
        evict(directory, limit)


def evict(directory: Path, limit: int) -> None:
    """Remove the least recently used entries until the rest take at most `limit` bytes, and abandoned partial files."""
    files = list(_files(directory / ENTRIES))
    for path in files:
        with suppress(OSError):
            if path.name.startswith(_NEW) and path.lstat().st_mtime < time.time() - _ABANDONED_AFTER:
                path.unlink()
    inventory = entries(directory)
    size = inventory.size
    for path in inventory.paths:
        if size <= limit:
            return
        with suppress(OSError):
            file_size = path.lstat().st_size
            path.unlink()
            size -= file_size


def _files(directory: Path) -> Iterable[Path]:
    for folder, _, names in os.walk(directory):
        yield from (Path(folder) / name for name in names)


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file atomically: under `path`, readers find either the old or the new contents. Raises OSError."""
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
    """Write code that a device refused to a file for inspection, remove the oldest, return the path. Raises OSError."""
    folder = _refused_directory()
    path = folder / f"coopmat-{hashlib.blake2b(code, digest_size=8).hexdigest()}{suffix}"
    write_whole(path, code)
    for old in refused(folder.parent).paths[:-MOST_REFUSED]:
        with suppress(OSError):
            old.unlink()
    return path


def refused(directory: Path) -> Inventory:
    return Inventory.of(_files(directory / REFUSED))


def _refused_directory() -> Path:
    try:
        return private_directory(private_directory(cache_directory()) / REFUSED)
    except OSError:
        return private_directory(private_temporary_directory() / REFUSED)


# --- the whole -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class State:
    """The state of a cache.

    directory: its path.
    fault: why the cache is not used; empty if it is.
    entries: the number of entries.
    size: the total size of the entries in bytes.
    limit: the largest total size of the entries in bytes.
    refused: the number of programs that a driver rejected, which are kept for inspection (`keep_refused`).
    refused_size: the total size of the rejected programs in bytes.
    """

    directory: str
    fault: str
    entries: int
    size: int
    limit: int
    refused: int
    refused_size: int


def state(directory: Path) -> State:
    """Return the state of a cache. An unreadable directory counts as empty; no error is raised."""
    try:
        require_private(directory)
        fault = ""
    except FileNotFoundError:
        fault = ""  # the first write creates the directory
    except NotPrivate as error:
        fault = str(error)
    except OSError as error:
        fault = error.strerror or str(error)
    files, codes = entries(directory), refused(directory)
    return State(str(directory), fault, len(files.paths), files.size, size_limit(), len(codes.paths), codes.size)


def clear(directory: Path) -> None:
    """Remove entries, lock files and rejected programs. Raises OSError if the directory is not private."""
    import shutil

    with suppress(FileNotFoundError):
        require_private(directory)
        for name in (ENTRIES, LOCKS, REFUSED):
            shutil.rmtree(directory / name, ignore_errors=True)
