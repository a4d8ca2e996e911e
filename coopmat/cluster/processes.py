"""Processes that call a function for one unit of work after another. If one dies or hangs, another takes its place."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import IO, Any

# What a unit may take, in seconds, and how often it may cost a process.
TIMEOUT, DEATHS = 600.0, 2
# The most bytes of a dead process's output that are kept.
_TAIL = 4000
_PATIENCE = 3.0


@dataclass(frozen=True)
class Lost:
    """The outcome of a unit that killed its process, or hung in it, twice: how it ended, and what it printed."""

    reason: str


@dataclass(frozen=True)
class Failed:
    """The outcome of a unit whose function raised an exception: its traceback."""

    traceback: str


Done = Callable[[int, Any], None]
"""Is called with a unit's number and its result, `Lost` or `Failed`."""


def call(function: Callable[[Any], Any], unit: Any) -> Any:
    """Return the function's result, or `Failed`."""
    try:
        return function(unit)
    except Exception:
        return Failed(traceback.format_exc())


def _serve(pipe: Connection, output: str) -> None:
    """Call what comes through the pipe. The parent decides when the process ends; Ctrl-C does not end it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    handle = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)
    with suppress(EOFError, OSError):
        while (request := pipe.recv_bytes()) != b"":
            pipe.send_bytes(_answer(request))


def _answer(request: bytes) -> bytes:
    try:
        function, unit = pickle.loads(request)
        return pickle.dumps(call(function, unit))
    except Exception:
        return pickle.dumps(Failed(traceback.format_exc()))


class _Process:
    """A process and the number of the unit that it works on."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.deadline = 0.0
        self._output: IO[bytes] = tempfile.NamedTemporaryFile(prefix="coopmat-unit-", suffix=".log")  # noqa: SIM115
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: Any = context.Process(target=_serve, args=(theirs, self._output.name), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, number: int, request: bytes, timeout: float) -> None:
        self.number, self.deadline = number, time.monotonic() + timeout
        with suppress(OSError):  # one that is dead shows when its pipe is read
            self.pipe.send_bytes(request)

    def last_words(self) -> str:
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - _TAIL))
        return self._output.read().decode(errors="replace").strip()

    def death(self) -> str:
        self.process.join(_PATIENCE)
        code = self.process.exitcode
        if code is not None and code < 0:
            with suppress(ValueError):
                return f"the process ended by {signal.Signals(-code).name}"
        return f"the process ended with status {code}"

    def close(self) -> None:
        if self.number is None:
            with suppress(OSError):
                self.pipe.send_bytes(b"")
            self.process.join(_PATIENCE)
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self._output.close()


class ProcessPool:
    """A `ProcessPool` calls functions in `jobs` processes, which are kept from one `run` to the next."""

    def __init__(self, jobs: int, timeout: float = TIMEOUT) -> None:
        self.jobs, self.timeout = jobs, timeout
        self._processes: list[_Process] = []

    def run(self, function: Callable[[Any], Any], units: Sequence[Any], done: Done) -> None:
        """Call the function with each unit. A unit that costs a process is tried once more, then it is `Lost`."""
        queue = deque(range(len(units)))
        deaths = dict.fromkeys(queue, 0)
        try:
            while queue or any(process.number is not None for process in self._processes):
                self._feed(function, units, queue)
                self._listen(queue, deaths, done)
        except BaseException:
            self.close()
            raise

    def _feed(self, function: Callable[[Any], Any], units: Sequence[Any], queue: deque[int]) -> None:
        while queue:
            free = next((process for process in self._processes if process.number is None), None)
            if free is None:
                if len(self._processes) == self.jobs:
                    return
                free = _Process()
                self._processes.append(free)
            number = queue.popleft()
            free.give(number, pickle.dumps((function, units[number])), self.timeout)

    def _listen(self, queue: deque[int], deaths: dict[int, int], done: Done) -> None:
        busy = [process for process in self._processes if process.number is not None]
        patience = max(0.0, min(process.deadline for process in busy) - time.monotonic())
        ready = wait([process.pipe for process in busy], patience)
        for process in busy:
            number = process.number
            assert number is not None
            if process.pipe in ready:
                try:
                    result = pickle.loads(process.pipe.recv_bytes())
                except (EOFError, OSError):
                    self._lost(process, process.death(), queue, deaths, done)
                    continue
                process.number = None
                done(number, result)
            elif time.monotonic() >= process.deadline:
                process.process.kill()
                self._lost(process, f"nothing came of it in {self.timeout:g} seconds", queue, deaths, done)

    def _lost(self, process: _Process, why: str, queue: deque[int], deaths: dict[int, int], done: Done) -> None:
        number, words = process.number, process.last_words()
        assert number is not None
        self._processes.remove(process)
        process.close()
        deaths[number] += 1
        if deaths[number] < DEATHS:
            queue.appendleft(number)
        else:
            done(number, Lost(f"{why}; it printed:\n{words}" if words else why))

    def close(self) -> None:
        """End the processes; what they work on is given up."""
        while self._processes:
            self._processes.pop().close()
