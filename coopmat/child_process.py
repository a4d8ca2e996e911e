"""A base class for child processes that start on first use and answer requests through their pipes."""

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
# Signals that a faulty process receives. Any other signal is sent by another process or the user.
_CRASHES = {
    getattr(signal, name, None) for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS", "SIGTRAP")
}


def is_crash(status: int | None) -> bool:
    """Return whether an exit status, as in `Popen.returncode`, shows that the process failed without outside influence.

    This holds for a positive status and for the signals in `_CRASHES`. It does not hold for 0, None and other signals.
    """
    return status is not None and (status > 0 or -status in _CRASHES)


def ending(status: int | None) -> str:
    """Describe how a process ended without an answer, as a predicate such as "crashed with signal 11 (SIGSEGV)"."""
    if status is None or status == 0:
        return "ended its process without an answer"
    if status > 0:
        return f"ended its process with status {status}"
    verb = "crashed with" if is_crash(status) else "was ended by"
    return f"{verb} signal {-status} ({signal.Signals(-status).name})"


class ChildProcess:
    """The parent's end of a child process.

    Only the thread that holds the lock may use the object. The child process ends with this process at the latest.
    After a fork, the forked process starts another child process on first use.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: BinaryIO | None = None
        _all.add(self)

    def _command(self) -> list[str]:
        """Return the command line of the process: the program and its arguments."""
        raise NotImplementedError

    def _environment_of_child(self) -> dict[str, str] | None:
        """Return the environment of the process; None for that of this process."""
        return None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the process, unless it is already started."""
        with self._lock:
            self._ensure()

    def _ensure(self) -> subprocess.Popen[bytes]:
        """Return the process, which is started if necessary. Raises OSError."""
        if self._process is None:
            _register()
            self._close_stderr()
            self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process runs)
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
        """Stop the process if an exchange in the context fails or is interrupted (Ctrl-C).

        Such an exchange leaves an incomplete message in the pipes. The exception is raised again.
        """
        try:
            yield
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Kill the process, wait for its end and close its pipes.

        If no process is started, do nothing.
        """
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            self._close(process)

    def _last_words(self) -> str:
        """Return the last 2000 characters that an ended process wrote to its standard error, and close that file.

        If the file is already closed, return an empty string.
        """
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
        """Drop the process and its pipes, in the child of a fork.

        The process is a child of the parent, which continues to use the pipes.
        """
        # Another thread of the parent may have held the lock during the fork: this process needs a new lock.
        self._lock = threading.Lock()
        process, self._process = self._process, None
        if process is not None:
            process.returncode = 0  # keeps Popen from waiting for a process that is not a child of this process
            self._close(process)

    @staticmethod
    def _close(process: subprocess.Popen[bytes]) -> None:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


_all: weakref.WeakSet[ChildProcess] = weakref.WeakSet()
_registered = False


def _register() -> None:
    """Register the functions that handle a fork and the end of this process, once."""
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
