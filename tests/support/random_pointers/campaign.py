"""Runs the programs of a range of seeds in a child process, which survives crashes and endless loops."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

from .executors import Refused, open_device, run_programs
from .generator import FEATURES, generate
from .programs import Launchable, Program
from .reduction import reduce_program


@dataclass
class Report:
    """The number of programs that passed, reason of a refusal -> its seeds, and seed -> failure."""

    passed: int = 0
    refused: dict[str, list[int]] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)


class Worker:
    """A child process that runs programs; `seconds` is the time limit of one source."""

    def __init__(self, executor: str, seconds: float = 60) -> None:
        self.executor, self.seconds = executor, seconds
        self.pool = self._start()

    def _start(self) -> ProcessPoolExecutor:
        pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        pool.submit(open_device, self.executor).result()
        return pool

    def run(self, programs: Sequence[Launchable]) -> list[str]:
        """Return for each program its failure, or ""; raise Refused, or RuntimeError if there are no results."""
        future = self.pool.submit(differences, self.executor, programs)
        try:
            return future.result(self.seconds)
        except TimeoutError:
            reason = f"no result in {self.seconds:.0f} s"
        except BrokenProcessPool:
            reason = "the process crashed"
        for process in list((self.pool._processes or {}).values()):
            process.kill()
        self.pool = self._start()
        raise RuntimeError(reason)

    def describe(self, program: Launchable) -> str:
        """Return the failure of one program, or ""; raise Refused."""
        try:
            return self.run([program])[0]
        except RuntimeError as error:
            return str(error)


def differences(executor: str, programs: Sequence[Launchable]) -> list[str]:
    """Run the programs of one source, and describe each difference from the expected buffers."""
    try:
        results = run_programs(executor, programs)
    except Refused:
        raise
    except Exception as error:
        # Some exceptions of pyopencl and of coopmat cannot be sent to another process.
        raise RuntimeError(f"{type(error).__name__}: {error}") from None
    return [program.difference(found) for program, found in zip(programs, results, strict=True)]


def features_for(executor: str, without: Iterable[str] = ()) -> frozenset[str]:
    """Return the features that the executor supports.

    PoCL has no generic pointers. Compilers of OpenCL C use the rules of C99 on aliasing.
    """
    lacks = {"generic"} if executor.startswith("pocl") else set()
    lacks |= {"punning"} if executor in ("c", "own", "pocl", "pocl-own") else set()
    return FEATURES - lacks - set(without)


def run(
    executor: str,
    seeds: range,
    say: Callable[[str], None],
    *,
    batch: int = 8,
    without: Iterable[str] = (),
    tries: int = 150,
    seconds: float = 3600,
) -> Report:
    """Run the programs of the seeds for some time, and report each failure with a reduced program."""
    end = time.monotonic() + seconds
    worker, report, features = Worker(executor), Report(), features_for(executor, without)
    for start in range(seeds.start, seeds.stop, batch):
        if time.monotonic() > end:
            break
        programs = [generate(seed, features) for seed in range(start, min(start + batch, seeds.stop))]
        for program, reason in zip(programs, _run_batch(worker, programs, report), strict=True):
            if not reason:
                continue
            report.failures[program.seed] = reason
            say(f"seed {program.seed}: {reason}")
            if tries:
                say(reduce_failure(worker, program, tries))
    worker.pool.shutdown()
    return report


def _run_batch(worker: Worker, programs: list[Program], report: Report) -> list[str]:
    """Return for each program its failure, or ""; if the batch has no results, run each program alone."""
    launchables = [program.launchable() for program in programs]
    try:
        found = worker.run(launchables)
        report.passed += found.count("")
        return found
    except (Refused, RuntimeError):
        reasons = []
        for program, each in zip(programs, launchables, strict=True):
            try:
                reasons.append(worker.describe(each))
                report.passed += not reasons[-1]
            except Refused as refusal:
                report.refused.setdefault(str(refusal), []).append(program.seed)
                reasons.append("")
        return reasons


def reduce_failure(worker: Worker, program: Program, tries: int) -> str:
    """Return the text of a smaller program that fails, with its failure."""
    slow, worker.seconds = worker.seconds, min(worker.seconds, 8)

    def fails(candidate: Launchable) -> bool:
        try:
            return bool(worker.describe(candidate))
        except Refused:
            return False

    smallest = reduce_program(program, fails, tries).launchable()
    worker.seconds = slow
    return f"{smallest.text}{worker.describe(smallest)}"
