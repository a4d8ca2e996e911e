"""A pool of processes that call a function for one unit of work after another.

A process that dies or hangs is replaced.
"""

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

# The time limit of a unit, in seconds, and the number of dead processes after which a unit is `Lost`.
TIMEOUT, DEATHS = 600.0, 2
# The number of bytes at the end of a dead process's output that are reported.
_TAIL = 4000
# Seconds to wait for the end of a process.
_PATIENCE = 3.0


@dataclass(frozen=True)
class Lost:
    """The outcome of a unit that killed its process, or exceeded the time limit, twice.

    `reason` describes how the process ended, and the end of its output.
    """

    reason: str


@dataclass(frozen=True)
class Failed:
    """The outcome of a unit whose function raised an exception. `traceback` is the formatted traceback."""

    traceback: str


Done = Callable[[int, Any], None]
"""A callback for the number of a unit and its outcome: the result, `Lost` or `Failed`."""


def call(function: Callable[[Any], Any], unit: Any) -> Any:
    """Return the function's result for the unit, or `Failed` if the function raises an exception."""
    try:
        return function(unit)
    except Exception:
        return Failed(traceback.format_exc())


def _serve(pipe: Connection, output: str) -> None:
    """Call the functions with the units that arrive through the pipe, and send back the results.

    Return when the pipe is closed or an empty message arrives. Ctrl-C is ignored, because the parent decides when the
    process ends. The standard output and error go to the file `output`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    handle = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)
    with suppress(EOFError, OSError):
        while (request := pipe.recv_bytes()) != b"":
            pipe.send_bytes(_answer(request))


def _answer(request: bytes) -> bytes:
    """Return the pickled result of a pickled (function, unit)."""
    try:
        function, unit = pickle.loads(request)
        return pickle.dumps(call(function, unit))
    except Exception:
        return pickle.dumps(Failed(traceback.format_exc()))


class _Process:
    """A process of the pool, with the number of its current unit (None: idle)."""

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
        """Send a unit to the process, and set its deadline `timeout` seconds from now."""
        self.number, self.deadline = number, time.monotonic() + timeout
        with suppress(OSError):  # the death of the process is noticed when its pipe is read
            self.pipe.send_bytes(request)

    def last_words(self) -> str:
        """Return the end of the process's output."""
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - _TAIL))
        return self._output.read().decode(errors="replace").strip()

    def death(self) -> str:
        """Describe how the process ended."""
        self.process.join(_PATIENCE)
        code = self.process.exitcode
        if code is not None and code < 0:
            with suppress(ValueError):
                return f"the process ended by {signal.Signals(-code).name}"
        return f"the process ended with status {code}"

    def close(self) -> None:
        """End the process: an idle process is asked to end first, a busy one is killed."""
        if self.number is None:
            with suppress(OSError):
                self.pipe.send_bytes(b"")
            self.process.join(_PATIENCE)
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self._output.close()


class ProcessPool:
    """A pool that calls functions in up to `jobs` processes, which are kept between calls of `run`.

    `timeout` is the time limit of a unit, in seconds. A unit is `Lost` after `deaths` processes.
    """

    def __init__(self, jobs: int, timeout: float = TIMEOUT, deaths: int = DEATHS) -> None:
        self.jobs, self.timeout, self.deaths = jobs, timeout, deaths
        self._processes: list[_Process] = []

    def run(self, function: Callable[[Any], Any], units: Sequence[Any], done: Done) -> None:
        """Call the function with each unit, and `done` with each number and result as it arrives.

        A unit that kills its process or exceeds the time limit is run again. After `deaths` times, its result is
        `Lost`. If an exception interrupts the run, all processes are ended.
        """
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
        """Send queued units to idle processes, and start processes while there are fewer than `jobs`."""
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
        """Wait for a result or a deadline, and handle results, dead processes and exceeded deadlines."""
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
                self._lost(process, f"no result within {self.timeout:g} seconds", queue, deaths, done)

    def _lost(self, process: _Process, why: str, queue: deque[int], deaths: dict[int, int], done: Done) -> None:
        """Remove a process that died or was killed.

        Queue its unit again, or report it as `Lost` if `deaths` processes were lost on it.
        """
        number, words = process.number, process.last_words()
        assert number is not None
        self._processes.remove(process)
        process.close()
        deaths[number] += 1
        if deaths[number] < self.deaths:
            queue.appendleft(number)
        else:
            done(number, Lost(f"{why}; it printed:\n{words}" if words else why))

    def close(self) -> None:
        """End the processes, and abandon their current units."""
        while self._processes:
            self._processes.pop().close()
