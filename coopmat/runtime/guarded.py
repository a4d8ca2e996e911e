"""Builds by compilers that may crash (`devices.may_crash`): the first build of a program runs in a separate process.

That process (`build_server`) serves all later builds, too. It returns the device's binary, so that no program is built
twice. The cache records whether the compiler crashed on a program.

Such a compiler may also execute a kernel's work-items one by one although the kernel requires subgroups, and report no
error. The kernel's accesses to memory are then wrong. Only the log of the build reveals this. Without optimizations,
most of these kernels run in subgroups, and that binary is kept in the cache. A kernel that does not is an error.
"""

from __future__ import annotations

import contextlib
import io
import logging
import marshal
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coopmat.cache import Cache, Entry, key_of
from coopmat.child_process import ChildProcess, ending, is_crash
from coopmat.devices import DeviceInfo
from coopmat.devices.environment import driver_environment, processor
from coopmat.spirv import emitter
from coopmat.spirv.module import OP, MalformedModule, decode_string
from coopmat.spirv.tools import OUT_OF_MEMORY

from . import build_server

logger = logging.getLogger("coopmat.build")

Part = tuple[str, bytes, str]
"""A part of a program: the form ("spirv" or "c"), the code, and the options for its compilation."""

_ATTEMPTS = 3
_SHOWN_LINES = 12
_REQUIRED = re.compile(rb"__attribute__\(\(intel_reqd_sub_group_size\((\d+)\)\)\)\s+void\s+(\w+)\(")
_SUBGROUP_SIZE = 35  # the execution mode SubgroupSize
_HEADER_WORDS = 5


class Crash(Exception):
    """An exception that reports that the device's compiler crashes on a program; str() describes the crash."""


class Ended(Crash):
    """An exception that reports a build process that another process ended, or that ran out of memory.

    Another attempt may succeed.
    """


@dataclass(frozen=True)
class Binary:
    """A program as the device's compiler built it in another process.

    data: the device's binary. Empty if the device rejects the program, or if the program was built before.
    is_plain: whether the binary was built without optimizations. If so, only this binary is right: the kernels of
        another build would not run in subgroups.
    """

    data: bytes = b""
    is_plain: bool = False


# Key of a program -> how the compiler failed (empty: not at all), and the binary that must be used (empty: any).
# This table is for the case that the cache is off.
_known: dict[str, tuple[str, bytes]] = {}


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
        if remaining:
            names = ", ".join(remaining)
            crash = f"the device's compiler does not run {names} in subgroups of the required size"
        elif scalar:
            logger.warning("%s: %s built without optimizations, to run in subgroups", device.label, ", ".join(scalar))
        return Entry(binary if scalar and not crash else b"", {"crash": crash})

    if key not in _known:
        try:
            _known[key] = _outcome(Cache.of_environment().get_or_build(key, build, _outcome))
        except _NotBuilt as error:
            logger.warning("%s: without another process, a compiler crash ends this process: %s", device.label, error)
            return None
    crash, kept = _known[key]
    if crash:
        raise Crash(crash)
    return Binary(kept or binary, bool(kept))


def required_sizes(parts: Sequence[Part]) -> tuple[tuple[str, int], ...]:
    """Return the subgroup sizes above 1 that kernels require, as (kernel, work-items)."""
    found = [size for form, code, _ in parts for size in (_of_spirv(code) if form == "spirv" else _of_c(code))]
    return tuple((name, size) for name, size in found if size > 1)


def _of_c(code: bytes) -> Iterator[tuple[str, int]]:
    """Yield the subgroup sizes that kernels in OpenCL C require, as (kernel, work-items)."""
    yield from ((name.decode(), int(size)) for size, name in _REQUIRED.findall(code))


def _of_spirv(code: bytes) -> Iterator[tuple[str, int]]:
    """Yield the subgroup sizes that the execution modes of a module require, as (kernel, work-items).

    Execution modes precede the first function.
    """
    words = memoryview(code[: len(code) // 4 * 4]).cast("I")
    names: dict[int, str] = {}
    at = _HEADER_WORDS
    # A malformed module is reported by the device.
    with contextlib.suppress(IndexError, MalformedModule):
        while (length := words[at] >> 16) and words[at] & 0xFFFF != OP["OpFunction"]:
            opcode, operands = words[at] & 0xFFFF, words[at + 1 : at + length]
            if opcode == OP["OpEntryPoint"]:
                names[operands[1]] = decode_string(operands[2:])[0]
            elif opcode == OP["OpExecutionMode"] and operands[1] == _SUBGROUP_SIZE and operands[0] in names:
                yield names[operands[0]], operands[2]
            at += length


def start(library: str) -> None:
    """Start the process for a driver, which loads the driver in parallel to this process."""
    if library:
        _servers.setdefault(library, _Server(library)).start()


def _key(request: build_server.Request) -> str:
    """Return the cache key of a request."""
    parts: dict[str, object] = {"kind": "compiler crash", "processor": processor(), "environment": driver_environment()}
    return key_of({**parts, "request": marshal.dumps(request, 2)})


def _outcome(entry: Entry) -> tuple[str, bytes]:
    """Return how the compiler failed, or an empty text, and the binary that must be used, from a cache entry.

    Raises LookupError or TypeError if the facts of the entry have another form.
    """
    crash = entry.facts["crash"]
    if not isinstance(crash, str):
        raise TypeError("crash is no text")
    return crash, entry.payload


class _Server(ChildProcess):
    """A child process in which a driver builds programs, and its successors after a crash.

    Requests of several threads wait for each other, as they would in the driver.
    """

    def __init__(self, library: str) -> None:
        super().__init__()
        self._library = library
        self._environment: list[str] = []

    def _command(self) -> list[str]:
        if not sys.executable:
            raise _NotBuilt("sys.executable does not name the Python interpreter")
        return [sys.executable, "-I", "-S", build_server.__file__, self._library]

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
                answer: Any = marshal.load(answers)
                if answer == build_server.BEGUN:
                    has_begun = True
                    answer = marshal.load(answers)
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


_servers: dict[str, _Server] = {}
