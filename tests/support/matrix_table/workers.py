"""Child processes that run batches of rows: if a device's compiler crashes or hangs, the batch is halved."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import Queue
from typing import Any

from matrix_programs import Target
from opencl_devices import full_device
from spread import reason, spread

from .execution import Finding, Runner
from .rows import Row
from .table import all_rows

# The limit in seconds for a batch, which usually takes a few.
LIMIT = 240.0
# The largest number of rows in a program. With 64 lanes it is a tenth: otherwise, the program exceeds the compiler's
# budget for inlining, and a device's compiler takes three times as long.
BATCH = 40
# The limit in seconds for a process to end.
GRACE = 5.0


def _serve(pipe: Connection, seed: int) -> None:
    runner = Runner(full_device(), seed)
    rows = {row.name: row for row in all_rows()}
    while (request := pipe.recv()) is not None:
        target, names = request
        findings = runner.run(target, [rows[name] for name in names])
        pipe.send([(f.row, f.case, f.text) for f in findings])


class Worker:
    """A child process, started at its first use, and again after a crash."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._process: Any = None
        self._pipe: Connection | None = None

    def run(self, target: Target, names: Sequence[str]) -> list[Finding]:
        pipe = self._start()
        try:
            pipe.send((target, list(names)))
            if not pipe.poll(LIMIT):
                raise TimeoutError
            return [Finding(target, *fields) for fields in pipe.recv()]
        except (EOFError, OSError, TimeoutError) as error:
            self._end()
            if len(names) == 1:
                return [Finding(target, names[0], None, f"the process died or hung: {type(error).__name__}")]
        middle = len(names) // 2
        return self.run(target, names[:middle]) + self.run(target, names[middle:])

    def _start(self) -> Connection:
        if self._process is None or self._pipe is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self.seed), daemon=True)
            self._process.start()
            theirs.close()
        return self._pipe

    def close(self) -> None:
        """Let the process end; kill it after `GRACE` seconds."""
        if self._process is not None and self._pipe is not None:
            with suppress(OSError):
                self._pipe.send(None)
            self._process.join(GRACE)
        self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


@dataclass(frozen=True)
class Batch:
    target: Target
    names: tuple[str, ...]


def batches(pairs: Sequence[tuple[Target, Row]]) -> list[Batch]:
    by_target: dict[Target, list[str]] = {}
    for target, row in pairs:
        by_target.setdefault(target, []).append(row.name)
    found = []
    for target, names in by_target.items():
        size = BATCH if target.sub_group_size < 64 else BATCH // 10
        found += [Batch(target, tuple(names[start : start + size])) for start in range(0, len(names), size)]
    # Run the slow ones first, so that all processes end at about the same time.
    return sorted(found, key=lambda batch: -batch.target.sub_group_size)


def part(work: tuple[int, Batch]) -> list[Finding]:
    """Run a batch on a cluster worker."""
    seed, batch = work
    return run_all([batch], 1, seed)


def run_on_cluster(cluster: str, work: Sequence[Batch], seed: int) -> list[Finding]:
    """Run the batches on a cluster's workers, like `run_all`."""
    found: list[Finding] = []
    units = [(seed, batch) for batch in work]
    for batch, result in zip(work, spread(cluster, part, units, lambda line: None), strict=True):
        if isinstance(result, list):
            found += result
        else:
            found.append(Finding(batch.target, batch.names[0], None, reason(result)))
    return found


def run_all(work: Sequence[Batch], jobs: int, seed: int) -> list[Finding]:
    free: Queue[Worker] = Queue()
    workers = [Worker(seed) for _ in range(jobs)]
    for worker in workers:
        free.put(worker)

    def one(batch: Batch) -> list[Finding]:
        worker = free.get()
        try:
            return worker.run(batch.target, batch.names)
        finally:
            free.put(worker)

    with ThreadPoolExecutor(jobs) as pool:
        found = [finding for some in pool.map(one, work) for finding in some]
    for worker in workers:
        worker.close()
    return found
