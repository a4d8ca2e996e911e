"""A process that is started on first use and answers requests on its pipes."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Iterator
from typing import BinaryIO

_LONGEST = 2000
# What ends a process that did something wrong. By other signals, somebody else ends it.
_CRASHES = {
    getattr(signal, name, None) for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS", "SIGTRAP")
}


def is_crash(status: int | None) -> bool:
    """Return whether a process that ended with this status did so on its own: by a signal, or by its own exit."""
    return status is not None and (status > 0 or -status in _CRASHES)


def ending(status: int | None) -> str:
    """Describe how a process ended that gave no answer, as a predicate ("crashed with signal 11 (SIGSEGV)")."""
    if status is None or status == 0:
        return "ended its process without an answer"
    if status > 0:
        return f"ended its process with status {status}"
    verb = "crashed with" if is_crash(status) else "was ended by"
    return f"{verb} signal {-status} ({signal.Signals(-status).name})"


class ChildProcess:
    """The parent's end of a child process. Only one thread may use it at a time, the one that holds the lock.

    The process ends with this one at the latest. After a fork, the child of the fork starts a process of its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: BinaryIO | None = None
        _all.add(self)

    def _command(self) -> list[str]:
        """Return the program and its arguments."""
        raise NotImplementedError

    def _environment_of_child(self) -> dict[str, str] | None:
        """Return the environment of the process; None for that of this process."""
        return None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the process, unless it runs."""
        with self._lock:
            self._ensure()

    def _ensure(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            _register()
            self._close_stderr()
            self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
                env=self._environment_of_child(),
            )
        return self._process

    @contextlib.contextmanager
    def _stop_on_failure(self) -> Iterator[None]:
        """End the process if an exchange fails or is interrupted (Ctrl-C): it leaves half a message in the pipes."""
        try:
            yield
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            self._close(process)

    def _last_words(self) -> str:
        """Return the end of what the process wrote to its standard error, after it ended."""
        if self._stderr is None:
            return ""
        self._stderr.seek(0)
        words = self._stderr.read().decode(errors="replace")[-_LONGEST:]
        self._close_stderr()
        return words

    def _close_stderr(self) -> None:
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None

    def forget(self) -> None:
        """Forget the process in the child after a fork: the process and the pipes to it are the parent's."""
        # Another thread of the parent may have held the lock.
        self._lock = threading.Lock()
        process, self._process = self._process, None
        if process is not None:
            process.returncode = 0  # or Popen would wait for a child that is not ours
            self._close(process)

    @staticmethod
    def _close(process: subprocess.Popen[bytes]) -> None:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


_all: weakref.WeakSet[ChildProcess] = weakref.WeakSet()
_registered = False


def _register() -> None:
    global _registered
    if not _registered:
        _registered = True
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_forget_all)
        atexit.register(_stop_all)


def _forget_all() -> None:
    for child in list(_all):
        child.forget()


def _stop_all() -> None:
    for child in list(_all):
        child.stop()
        child._close_stderr()
