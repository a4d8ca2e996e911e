"""Builds by compilers that may crash (`devices.may_crash`): the first build of a program runs in a process of its own.

That process (`build_server`) serves all later builds, too. It returns the device's binary, so that nothing is built
twice. Whether the compiler crashed over a program is kept in the cache.
"""

from __future__ import annotations

import io
import logging
import marshal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from coopmat.cache import Cache, Entry, key_of
from coopmat.child_process import ChildProcess, ending, is_crash
from coopmat.devices import DeviceInfo
from coopmat.devices.environment import driver_environment, processor
from coopmat.spirv import emitter
from coopmat.spirv.tools import OUT_OF_MEMORY

from . import build_server

logger = logging.getLogger("coopmat.build")

Part = tuple[str, bytes, str]
"""A part of a program: its form ("spirv" or "c"), its code, and the options that it is compiled with."""

_ATTEMPTS = 3
_SHOWN_LINES = 12
# Key of a program -> how the compiler crashed over it, empty if it did not. The cache may be off.
_known: dict[str, str] = {}


class Crash(Exception):
    """The device's compiler crashes over a program; str() says how."""


class Ended(Crash):
    """The process was ended by somebody else, or for want of memory, so that another attempt may succeed."""


class _NotBuilt(Exception):
    """Raised if no process can be started for a build, or the driver does not work there."""


def first_build(
    device: DeviceInfo,
    library: str,
    parts: Sequence[Part],
    options: str = "",
    constants: Sequence[tuple[int, bytes]] = (),
) -> bytes | None:
    """Build a program in a process of its own and return the device's binary; empty if it was built before, or if the
    device refuses it. Return None if no other process can build it. Several parts are linked, with `options`.

    `library` is the path of the device's driver; `constants` are the specialisation constants. Raises Crash if the
    compiler crashes, or did before.
    """
    ordered = tuple((form, code, words.encode()) for form, code, words in parts)
    request = tuple(device.identity), ordered, options.encode(), tuple(constants)
    key = _key(request)
    binary = b""

    def build() -> Entry:
        nonlocal binary
        server = _servers.setdefault(library, _Server(library))
        binary, crash = server.build(request)
        return Entry(b"", {"crash": crash})

    if key not in _known:
        try:
            _known[key] = _crash(Cache.of_environment().get_or_build(key, build, _crash))
        except _NotBuilt as error:
            logger.warning("%s: its compiler may end this process, as no other could be had: %s", device.label, error)
            return None
    if crash := _known[key]:
        raise Crash(crash)
    return binary


def start(library: str) -> None:
    """Start the process for a driver now, so that it loads the driver while this process does something else."""
    if library:
        _servers.setdefault(library, _Server(library)).start()


def _key(request: build_server.Request) -> str:
    parts: dict[str, object] = {"kind": "compiler crash", "processor": processor(), "environment": driver_environment()}
    return key_of({**parts, "request": marshal.dumps(request, 2)})


def _crash(entry: Entry) -> str:
    """Return how the compiler crashed. Raise LookupError or TypeError for facts of another form."""
    crash = entry.facts["crash"]
    if not isinstance(crash, str):
        raise TypeError("crash is no text")
    return crash


class _Server(ChildProcess):
    """The processes, one after another, in which a driver builds; requests of several threads queue, as they would in
    the driver."""

    def __init__(self, library: str) -> None:
        super().__init__()
        self._library = library
        self._environment: list[str] = []

    def _command(self) -> list[str]:
        if not sys.executable:
            raise _NotBuilt("sys.executable does not name the Python interpreter")
        return [sys.executable, "-I", "-S", build_server.__file__, self._library]

    def _ensure(self) -> subprocess.Popen[bytes]:
        if self._environment != driver_environment():
            self.stop()  # a driver looks at the environment when it is loaded
            self._environment = driver_environment()
        try:
            return super()._ensure()
        except OSError as error:
            raise _NotBuilt(str(error)) from error

    def start(self) -> None:
        """Start the process, unless it runs, or another thread has it."""
        if self._lock.acquire(blocking=False):
            try:
                self._ensure()
            except _NotBuilt:
                pass  # the build will report the error
            finally:
                self._lock.release()

    def build(self, request: build_server.Request) -> tuple[bytes, str]:
        """Return the binary, empty if the device refuses the program; and how the compiler crashed, empty if it did
        not. Raises _NotBuilt, and Ended if the process ends otherwise again and again."""
        crashes = 0
        with self._lock:
            for _ in range(_ATTEMPTS):
                has_begun, binary = self._exchange(request)
                if binary is not None:
                    return binary, ""
                status = self._status()
                words = self._last_words()
                lines = words.strip().splitlines()[-_SHOWN_LINES:]
                how = "\n".join([f"the device's compiler {ending(status)}", *lines])
                # A second crash, in a new process, shows that it is due to the program.
                crashes += has_begun and is_crash(status) and not OUT_OF_MEMORY.search(words.encode())
                if crashes == 2:
                    return b"", how
        raise Ended(how) if has_begun else _NotBuilt(how)

    def _exchange(self, request: build_server.Request) -> tuple[bool, bytes | None]:
        """Return whether the build began, and the binary, None if the process ended before it answered."""
        process = self._ensure()
        assert process.stdin is not None and process.stdout is not None
        has_begun = False
        with self._stop_on_failure():
            try:
                emitter.write_all(process.stdin.fileno(), marshal.dumps(request))
                answers = io.BufferedReader(io.FileIO(process.stdout.fileno(), closefd=False))
                answer: Any = marshal.load(answers)
                if answer == build_server.BEGUN:
                    has_begun = True
                    answer = marshal.load(answers)
            except (OSError, EOFError, ValueError, TypeError):
                return has_begun, None
        binary, failure = answer
        if failure:
            raise _NotBuilt(failure)
        return has_begun, binary

    def _status(self) -> int | None:
        """Return the status of a process that ended alone; None if it did not end, or somebody else waited for it."""
        process = self._process
        try:
            status = None if process is None else process.wait(1)
        except subprocess.TimeoutExpired:
            status = None
        self.stop()
        return status


_servers: dict[str, _Server] = {}
