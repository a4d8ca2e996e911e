"""Directories and files of this user's alone.

What lies in the cache is believed: a driver runs the code in it, and the OpenCL loader the libraries that files in it
name. So a directory that anybody else can open, or that is another user's, is not used.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path

CACHE_DIRECTORY = "COOPMAT_CACHE_DIR"
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_SAFE = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class NotPrivate(PermissionError):
    """A directory that others can open, or that is not this user's; str() says which of them, and what mends it."""


def cache_directory() -> Path:
    """Where this user's cached files go: COOPMAT_CACHE_DIR, or the platform's cache directory."""
    named = os.environ.get(CACHE_DIRECTORY)
    # Not Path.expanduser, which raises where there is no such user.
    return Path(os.path.expanduser(named)) if named else _own_directory()  # noqa: PTH111


def _own_directory() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("coopmat", appauthor=False))


def private_directory(path: Path) -> Path:
    """The directory, made if it is missing. Raises NotPrivate; OSError where it cannot be made."""
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    require_private(path)
    return path


def require_private(path: Path) -> None:
    """Raises NotPrivate, and OSError where the directory is not there."""
    if not stat.S_ISDIR(path.stat().st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "not a directory", str(path))
    if not hasattr(os, "geteuid"):
        return  # Windows: its directories of a user are that user's
    user, status = os.geteuid(), path.stat()
    if status.st_uid != user or path.lstat().st_uid != user:
        raise NotPrivate(f"{path} belongs to another user")
    if status.st_mode & 0o077:
        if not status.st_mode & 0o022 and path == _own_directory():
            # Made by a version that let others look: nobody else can have written there.
            path.chmod(0o700)
            return
        mode = stat.S_IMODE(status.st_mode)
        raise NotPrivate(f"{path} can be opened by others (mode {mode:03o}); `chmod 700 {path}` mends it")


def private_temporary_directory() -> Path:
    """One for all processes of this user, or one of its own where that name is taken."""
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
    """The file's bytes. Raises OSError for what is no regular file (it may never end, or never begin), what is a link,
    and for more than `most` bytes."""
    with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
        if os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, f"more than {most} bytes", str(path))
        return file.read(most)


def open_regular(path: Path, flags: int) -> int:
    """As os.open, for a regular file that no link leads to; with O_CREAT for this user only. Raises OSError."""
    if (known := _mode(path)) is not None and not stat.S_ISREG(known):
        # Opening a device may do something already.
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
