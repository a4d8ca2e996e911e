"""Processes that run batches: one that dies or hangs is replaced, and only the variant at fault fails."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import IO, Any

from coopmat.diagnostics import InternalError

from . import artifacts
from .outcome import Outcome, Status
from .schedule import Batch, Settings

# The limits in seconds for a process to start (imports and a first compilation included), and to end.
START, END = 180.0, 3.0
# The largest number of bytes of a dead worker's output that are kept.
TAIL = 4000


# --- in the worker -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Keep:
    """A request to write the files of a variant that killed a worker; the reply is the outcome with their directory."""

    batch: Batch
    outcome: Outcome


def _serve(pipe: Connection, settings: Settings, output: str) -> None:
    """Serve the requests from the pipe in a worker process, until the parent sends None or a launch fails.

    Ctrl-C is ignored: the parent decides when the process ends. `output` is the file for standard output and error.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _redirect(output)
    from coopmat.targets import find_device

    from .execution import Broken, Refused, Runner

    runner = Runner(settings, find_device(settings.device), lambda step, item: pipe.send((step, item)))
    runner.warm_up()
    pipe.send(("ready", None))
    with suppress(EOFError, BrokenPipeError):
        while (request := pipe.recv()) is not None:
            try:
                if isinstance(request, Keep):
                    directory = runner.keep(request.batch, request.batch.items[0], request.outcome.log)
                    pipe.send(("outcome", replace(request.outcome, directory=directory)))
                else:
                    runner.run(request, lambda outcome: pipe.send(("outcome", outcome)))
            except Refused:
                pipe.send(("refused", None))
            except Broken:
                # A failed launch may break the context: end, so that the next batch gets a new process.
                return
            pipe.send(("finished", None))


def _redirect(path: str) -> None:
    """Redirect standard output and error to the file at `path`: drivers print there when they crash."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)


# --- in the runner -----------------------------------------------------------------------------------


class Worker:
    """A worker process and its state, as the parent sees it.

    request: the current request, None if the worker is idle.
    position: the number of outcomes of the request that have arrived.
    step: the current step, a key of `_DOING`.
    item: the index of the item that the step concerns, None if it concerns several.
    since: the start of the step, in seconds of the monotonic clock.
    deadline: the time at which the step has taken too long.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.request: Batch | Keep | None = None
        self.position = 0
        self.step = "start"
        self.item: int | None = None
        self.since = time.monotonic()
        self.deadline = self.since + START
        self._output: IO[bytes] = tempfile.NamedTemporaryFile(prefix="coopmat-cts-", suffix=".log")  # noqa: SIM115
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: Any = context.Process(target=_serve, args=(theirs, settings, self._output.name), daemon=True)
        with _no_interrupts():
            self.process.start()
        theirs.close()

    @property
    def is_free(self) -> bool:
        return self.request is None and self.step != "start"

    def give(self, request: Batch | Keep) -> None:
        self.request, self.position = request, 0
        self.enter("build")
        # The pool notices a dead worker when it reads the pipe.
        with suppress(OSError):
            self.pipe.send(request)

    def enter(self, step: str, item: int | None = None) -> None:
        """Record the beginning of a step, and set its deadline by the timeout of the settings."""
        self.step, self.item, self.since = step, item, time.monotonic()
        self.deadline = self.since + self.settings.timeout

    def last_words(self) -> str:
        """Return the end of the process's output, at most `TAIL` bytes."""
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - TAIL))
        return self._output.read().decode(errors="replace").strip()

    def death(self) -> str:
        """Describe how a dead process ended: by which signal, or with which exit status."""
        self.process.join(END)
        code = self.process.exitcode
        if code is not None and code < 0:
            with suppress(ValueError):
                return f"by {signal.Signals(-code).name}"
        return f"with exit status {code}"

    def close(self, patience: float = 0.0) -> None:
        """Let an idle process end within `patience` seconds, then kill it, and close the pipe and the output file."""
        if patience and self.is_free:
            with suppress(OSError):
                self.pipe.send(None)
            self.process.join(patience)
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self._output.close()


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block Ctrl-C inside the context, so that a process started there inherits the blocked signal."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Pool:
    """A scheduler that runs batches in `jobs` worker processes.

    started: a callback with (test, variant, route) before a variant is launched, or built alone.
    done: a callback with each outcome; if it returns True, no further batch is run.
    """

    def __init__(
        self, settings: Settings, jobs: int, started: Callable[[str, str, str], None], done: Callable[[Outcome], bool]
    ) -> None:
        self.settings = settings
        self.jobs = jobs
        self._started = started
        self._done = done
        self._queue: deque[Batch | Keep] = deque()
        self._workers: list[Worker] = []
        self._stop = False

    def run(self, batches: Sequence[Batch | Keep]) -> None:
        """Run batches, and return when all are finished; the processes are kept for the next call.

        An exception ends the processes. Raises InternalError if workers do not start.
        """
        self._queue.extend(batches)
        try:
            while not self._stop and (self._queue or any(worker.request for worker in self._workers)):
                self._feed()
                self._listen()
        except BaseException:
            for worker in self._workers:
                worker.close()
            self._workers.clear()
            raise

    def close(self) -> None:
        """End all worker processes."""
        while self._workers:
            self._workers.pop().close(END)

    def _feed(self) -> None:
        idle_workers = sum(worker.request is None for worker in self._workers)
        while len(self._workers) < self.jobs and idle_workers < len(self._queue):
            self._workers.append(Worker(self.settings))
            idle_workers += 1
        for worker in self._workers:
            if worker.is_free and self._queue:
                worker.give(self._queue.popleft())

    def _listen(self) -> None:
        busy = [worker for worker in self._workers if worker.request or worker.step == "start"]
        patience = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
        ready = wait([worker.pipe for worker in busy], patience)
        for worker in busy:
            if self._stop:
                return
            if worker.pipe in ready:
                self._hear(worker)
            elif time.monotonic() >= worker.deadline:
                worker.process.kill()
                self._lost(worker, f"no response in {self.settings.timeout:g} seconds")

    def _hear(self, worker: Worker) -> None:
        try:
            kind, what = worker.pipe.recv()
        except (EOFError, OSError):
            self._lost(worker, f"the process ended {worker.death()}")
            return
        if kind == "outcome":
            worker.position += 1
            worker.enter("between")
            self._stop = self._done(what)
        elif kind in ("build", "launch"):
            self._report(worker, what)
            worker.enter(kind, what)
        elif kind == "refused":
            assert isinstance(worker.request, Batch)
            self._queue.extendleft(reversed(worker.request.halves()))
        else:
            worker.request = None
            worker.enter("ready")

    def _report(self, worker: Worker, item: int | None) -> None:
        """Call `started` if the step begins a variant: its launch after the common build, or its separate build."""
        batch = worker.request
        if isinstance(batch, Batch) and item is not None and (worker.step == "between" or item != worker.item):
            self._started(batch.test(batch.items[item]), batch.items[item].variant, batch.route)

    def _lost(self, worker: Worker, why: str) -> None:
        """Handle the death of a worker process; `why` describes its end.

        If the variant at fault is known, that variant fails. The variants after it are put back into the queue. A batch
        that died in its common build is halved. Raises InternalError if the process died while it started.
        """
        self._workers.remove(worker)
        request, words = worker.request, worker.last_words()
        worker.close()
        log = f"{why}, {_DOING[worker.step]}" + (f"; it printed:\n{words}" if words else "")
        if request is None:
            if worker.step == "start":
                raise InternalError("a worker process does not start", log)
        elif isinstance(request, Keep):
            place = artifacts.place_of(self.settings.keep, request.outcome)
            directory = str(place) if place.is_dir() else ""
            self._stop = self._done(replace(request.outcome, directory=directory))
        elif worker.step == "between":
            if worker.position < len(request.items):
                self._queue.appendleft(request.part(worker.position))
        elif worker.step == "build" and worker.item is None and len(request.items) > 1:
            self._queue.extendleft(reversed(request.halves()))
        else:
            self._blame(request, worker.position, time.monotonic() - worker.since, log)

    def _blame(self, batch: Batch, position: int, seconds: float, log: str) -> None:
        if position + 1 < len(batch.items):
            self._queue.appendleft(batch.part(position + 1))
        outcome = batch.outcome(batch.items[position], Status.FAILED, seconds, log)
        self._queue.appendleft(Keep(batch.part(position, position + 1), outcome))


_DOING = {
    "start": "while it started",
    "ready": "while it waited",
    "between": "between two variants",
    "build": "while it was compiled and built",
    "launch": "while it ran",
}
