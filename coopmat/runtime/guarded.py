"""Builds by compilers that may crash (`devices.may_crash`): the first build of a program runs in a separate process.

That process (`build_server`) serves all later builds, too. It returns the device's binary, so that no program is built
twice. The cache records whether the compiler crashed on a program.

Such a compiler may also execute a kernel's work-items one by one although the kernel requires subgroups, and report no
error. The kernel's accesses to memory are then wrong. Only the log of the build reveals this. Without optimizations,
most of these kernels run in subgroups, and that binary is kept in the cache. A kernel that does not is an error.

A program on which the compiler crashes is built without one of its optimizations. That binary is kept in the cache,
too. A program that crashes the compiler both times is an error. The processor stays the same: a driver that loads a
binary for another processor builds all later programs of this process for that one, and calls its math library wrongly.
"""

from __future__ import annotations

import io
import logging
import marshal
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from coopmat.cache import Cache, Entry, key_of
from coopmat.child_process import ChildProcess, ending, is_crash
from coopmat.devices import DeviceInfo
from coopmat.devices.environment import driver_environment, processor
from coopmat.spirv import emitter
from coopmat.spirv.tools import OUT_OF_MEMORY

from . import build_server
from .required_subgroups import Part, required_sizes

logger = logging.getLogger("coopmat.build")

_ATTEMPTS = 3
# The variable with the options of LLVM for Intel's CPU compiler.
_LLVM_OPTIONS = "CL_CONFIG_LLVM_OPTIONS"
# The option that leaves out an optimization, without which the compiler survives all known programs with an error in
# its code generation ("Cannot emit physreg copy instruction"; docs/backend.md).
_WITHOUT = "-opt-disable=jump-threading"
_SHOWN_LINES = 12


class Crash(Exception):
    """An exception that reports that the device's compiler crashes on a program; str() describes the crash."""


class Ended(Crash):
    """An exception that reports a build process that another process ended, or that ran out of memory.

    Another attempt may succeed.
    """


@dataclass(frozen=True)
class Binary:
    """A program as the device's compiler built it in another process.

    data: the binary; empty if the device refuses the program, or built it before.
    is_plain: whether only this binary is right, since it was built without optimizations (kernels of another build
        would not run in subgroups) or without one of them (another build would crash).
    """

    data: bytes = b""
    is_plain: bool = False


class NoSubgroups(Crash):
    """The device's compiler builds a kernel that does not run in the subgroups that the kernel requires."""


class _Outcome(NamedTuple):
    """How a build ended.

    crash: how the compiler failed; empty if it did not.
    scalar: the kernels that do not run in the subgroups that they require, separated by commas.
    binary: the binary that has to be used, if any.
    """

    crash: str
    scalar: str
    binary: bytes


# Key of a program -> how its build ended. The cache may be off.
_known: dict[str, _Outcome] = {}


class _NotBuilt(Exception):
    """An exception that reports that no process can be started for a build, or that the driver fails there."""


def first_build(
    device: DeviceInfo,
    library: str,
    parts: Sequence[Part],
    options: str = "",
    constants: Sequence[tuple[int, bytes]] = (),
) -> Binary | None:
    """Build a program in a separate process. If no such process can build it, return None.

    `library` is the path of the device's driver. Several parts are linked, with `options`. `constants` are
    specialization constants, as (id, bytes of the value). Raises Crash if the compiler crashes or has crashed on the
    program, or if a kernel does not run in the subgroups that it requires.
    """
    ordered = tuple((form, code, words.encode()) for form, code, words in parts)
    request = tuple(device.identity), ordered, options.encode(), tuple(constants), required_sizes(parts)
    key = _key(request)
    binary = b""

    def build() -> Entry:
        nonlocal binary
        server = _servers.setdefault(library, _Server(library))
        (binary, _, scalar, remaining), crash = server.build(request)
        second = _without_an_optimization(library, request) if crash else None
        if second is not None:
            logger.warning("%s: built with %s, since %s", device.label, _WITHOUT, crash)
            (binary, _, scalar, remaining), crash = second, ""
        if scalar and not remaining:
            logger.warning("%s: %s built without optimizations, to run in subgroups", device.label, ", ".join(scalar))
        is_kept = (second or scalar) and not remaining and not crash
        return Entry(binary if is_kept else b"", {"crash": crash, "scalar": ", ".join(remaining)})

    if key not in _known:
        try:
            _known[key] = _outcome(Cache.of_environment().get_or_build(key, build, _outcome))
        except _NotBuilt as error:
            logger.warning("%s: without another process, a compiler crash ends this process: %s", device.label, error)
            return None
    crash, names, kept = _known[key]
    if crash:
        raise Crash(crash)
    if names:
        raise NoSubgroups(f"the device's compiler does not run {names} in subgroups of the required size")
    return Binary(kept or binary, bool(kept))


def _without_an_optimization(library: str, request: build_server.Request) -> build_server.Answer | None:
    """Return the answer of a process whose compiler leaves out an optimization; None if it does not build either."""
    options = os.environ.get(_LLVM_OPTIONS, "")
    if "-opt-disable" in options:  # LLVM takes such an option once
        return None
    server = _Server(library, f"{options} {_WITHOUT}".strip())
    try:
        answer, crash = server.build(request)
    except (_NotBuilt, Ended):
        return None
    finally:
        server.stop()
    return answer if answer[0] and not crash else None


def start(library: str) -> None:
    """Start the process for a driver, which loads the driver in parallel to this process."""
    if library:
        _servers.setdefault(library, _Server(library)).start()


def _key(request: build_server.Request) -> str:
    """Return the cache key of a request."""
    parts: dict[str, object] = {"kind": "compiler crash", "then": _WITHOUT, "processor": processor()}
    parts["environment"] = driver_environment()
    return key_of({**parts, "request": marshal.dumps(request, 2)})


def _outcome(entry: Entry) -> _Outcome:
    """Return the outcome that an entry describes. Raise LookupError or TypeError for facts of another form."""
    crash, scalar = entry.facts["crash"], entry.facts["scalar"]
    if not isinstance(crash, str) or not isinstance(scalar, str):
        raise TypeError("crash and scalar are texts")
    return _Outcome(crash, scalar, entry.payload)


class _Server(ChildProcess):
    """A child process in which a driver builds programs, and its successors after a crash.

    Requests of several threads wait for each other, as they would in the driver.
    """

    def __init__(self, library: str, llvm_options: str = "") -> None:
        super().__init__()
        self._library, self._llvm_options = library, llvm_options
        self._environment: list[str] = []

    def _command(self) -> list[str]:
        if not sys.executable:
            raise _NotBuilt("sys.executable does not name the Python interpreter")
        return [sys.executable, "-I", "-S", build_server.__file__, self._library]

    def _environment_of_child(self) -> dict[str, str] | None:
        return {**os.environ, _LLVM_OPTIONS: self._llvm_options} if self._llvm_options else None

    def _ensure(self) -> subprocess.Popen[bytes]:
        """Return the process, which is started again if the environment of drivers changed. Raises _NotBuilt."""
        if self._environment != driver_environment():
            self.stop()  # a driver reads the environment when it is loaded
            self._environment = driver_environment()
        try:
            return super()._ensure()
        except OSError as error:
            raise _NotBuilt(str(error)) from error

    def start(self) -> None:
        """Start the process, unless it is already started or another thread uses it."""
        if self._lock.acquire(blocking=False):
            try:
                self._ensure()
            except _NotBuilt:
                pass  # the build will report the error
            finally:
                self._lock.release()

    def build(self, request: build_server.Request) -> tuple[build_server.Answer, str]:
        """Return the answer of the process, and how the compiler crashed; an empty text if it did not crash.

        Raises _NotBuilt if no process can build, and Ended if every attempt ends in another way than a crash.
        """
        crashes = 0
        with self._lock:
            for _ in range(_ATTEMPTS):
                has_begun, answer = self._exchange(request)
                if answer is not None:
                    return answer, ""
                status = self._status()
                words = self._last_words()
                lines = words.strip().splitlines()[-_SHOWN_LINES:]
                how = "\n".join([f"the device's compiler {ending(status)}", *lines])
                # A second crash, in a new process, shows that the program is the cause.
                crashes += has_begun and is_crash(status) and not OUT_OF_MEMORY.search(words.encode())
                if crashes == 2:
                    return (b"", "", (), ()), how
        raise Ended(how) if has_begun else _NotBuilt(how)

    def _exchange(self, request: build_server.Request) -> tuple[bool, build_server.Answer | None]:
        """Return whether the build began, and the answer; None if the process ended before it answered.

        Raises _NotBuilt if the answer is that nothing could be built.
        """
        process = self._ensure()
        assert process.stdin is not None and process.stdout is not None
        has_begun = False
        with self._stop_on_failure():
            try:
                emitter.write_all(process.stdin.fileno(), marshal.dumps(request))
                answers = io.BufferedReader(io.FileIO(process.stdout.fileno(), closefd=False))
                answer = _receive(answers)
                if answer == build_server.BEGUN:
                    has_begun = True
                    answer = _receive(answers)
            except (OSError, EOFError, ValueError, TypeError):
                return has_begun, None
        if failure := answer[1]:
            raise _NotBuilt(failure)
        return has_begun, answer

    def _status(self) -> int | None:
        """Wait for the end of the process, and return its exit status.

        If the process does not end within one second, kill it and return None. If other code has waited for the
        process, its status is lost, and the result is 0.
        """
        process = self._process
        try:
            status = None if process is None else process.wait(1)
        except subprocess.TimeoutExpired:
            status = None
        self.stop()
        return status


def _receive(answers: BinaryIO) -> Any:
    """Return the next message of a build process. Raises EOFError if the process ended.

    marshal.load would wait for the message itself, but reports an interrupt (Ctrl-C) as EOFError under Python 3.11.2.
    """
    size = int.from_bytes(answers.read(build_server.SIZE_BYTES), sys.byteorder)
    return marshal.loads(answers.read(size))


_servers: dict[str, _Server] = {}
