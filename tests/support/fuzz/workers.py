"""Child processes that compile and run batches of programs, and may crash or hang."""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from .programs import ITEMS, SLICE, SLOTS, generate, separated

TIMEOUT_S = 60
# The stage of the device's own compiler on OpenCL C, whose faults are not ours.
THEIRS = "the device's own compiler"
# Macros for the sign bit of an unsigned type and for a negated float. The first form is the usual one; the device's own
# compiler compiles the second one correctly beside barriers.
SIGNS = "#define SIGN(U, bit) ((U)1 << bit)\n#define NEGATED(T, U, sign, x) (-(x))\n"
HIDDEN_SIGNS = """\
#define SIGN(U, bit) ({ volatile U hidden = (U)1 << bit; hidden; })
#define NEGATED(T, U, sign, x) as_##T((U)(as_##U(x) ^ sign))
"""


@dataclass(frozen=True)
class Finding:
    """A fault of a batch: the stage, the number of the program (None: the whole batch), and a description."""

    stage: str
    number: int | None
    text: str

    @property
    def is_ours(self) -> bool:
        return not self.stage.startswith(THEIRS)


@dataclass(frozen=True)
class Batch:
    """Programs by seed, or as text."""

    programs: tuple[int | str, ...]

    def texts(self) -> list[str]:
        return [program if isinstance(program, str) else str(generate(program).tree) for program in self.programs]


class Worker:
    """A child process that runs `serve` on a pipe, and is replaced after a crash."""

    def __init__(self, serve: Callable[[Connection], None] | None = None) -> None:
        self._serve = serve or _serve
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=self._serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.stage = "start"

    def send(self, batch: Batch) -> None:
        self.batch, self.since, self.stage = batch, time.monotonic(), "start"
        self.pipe.send(batch)

    def answer(self) -> list[Finding] | None:
        """Return the answer, or None while the process works."""
        try:
            while self.pipe.poll():
                received = self.pipe.recv()
                if isinstance(received, list):
                    return received
                self.stage = received
        except (EOFError, OSError):
            return self._restart("crash")
        return self._restart("hang") if time.monotonic() - self.since > TIMEOUT_S else None

    def _restart(self, what: str) -> list[Finding]:
        self.stop()
        code, stage = self.process.exitcode, self.stage
        self._start()
        return [Finding(f"{stage}: {what}", None, f"{what} at stage {stage!r}, exit status {code}")]

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def each(
    batches: Iterator[Batch], jobs: int, serve: Callable[[Connection], None] | None = None
) -> Iterator[tuple[Batch, list[Finding]]]:
    """Yield the findings of all batches, as they arrive."""
    idle, busy = [Worker(serve) for _ in range(jobs)], list[Worker]()
    try:
        while True:
            while idle and (batch := next(batches, None)) is not None:
                idle[-1].send(batch)
                busy.append(idle.pop())
            if not busy:
                return
            wait([worker.pipe for worker in busy], timeout=1)
            for worker in list(busy):
                findings = worker.answer()
                if findings is not None:
                    busy.remove(worker)
                    idle.append(worker)
                    yield worker.batch, findings
    finally:
        for worker in (*idle, *busy):
            worker.stop()


def one(worker: Worker, batch: Batch) -> list[Finding]:
    worker.send(batch)
    while (findings := worker.answer()) is None:
        wait([worker.pipe], timeout=1)
    return findings


# --- inside a worker -------------------------------------------------------------------------------


def _serve(pipe: Connection) -> None:
    # The device's vectorizer takes half of the time, and is not tested here.
    os.environ["CL_CONFIG_CPU_VECTORIZER_MODE"] = "1"
    if "avx512f" in _processor():
        # The device's code for AVX-512 contains invalid instructions (docs/backend.md).
        os.environ["CL_CONFIG_CPU_TARGET_ARCH"] = "core-avx2"
    from opencl_devices import full_device

    device = full_device()
    while True:
        try:
            batch = pipe.recv()
        except EOFError:
            return
        pipe.send(check(device, batch.texts(), pipe.send))


def _processor() -> str:
    """Return Linux's description of the processors, "" on other systems."""
    try:
        return Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""


def check(device: Any, texts: Sequence[str], stage: Callable[[str], None] = lambda _: None) -> list[Finding]:
    """Compile and run programs as one source, by the device's own compiler and on every route by ours."""
    from differential import PLAIN_AND_OPTIMISED, PROLOGUE, execute

    import coopmat

    source = "\n".join(separated(text, number) for number, text in enumerate(texts))
    launches = [launch(number) for number in range(len(texts))]
    stage(THEIRS)
    try:
        expected = execute(device, PROLOGUE + HIDDEN_SIGNS + source, launches)
    except Exception as error:
        return [Finding(THEIRS, None, str(error))]
    findings = []
    for route in PLAIN_AND_OPTIMISED:
        stage(f"{route}: compile")
        try:
            module = coopmat.compile(SIGNS + source, ["--matrices", route, "-w"], name="fuzz.cl")
            binary = module.spirv
        except coopmat.CompileError as error:
            findings.append(Finding(f"{route}: compile", None, str(error)))
            continue
        except Exception:
            findings.append(Finding(f"{route}: compile: exception", None, traceback.format_exc()))
            continue
        if not module.validated:
            raise RuntimeError("no spirv-val that knows cooperative matrices: nothing is validated")
        stage(f"{route}: run")
        try:
            got = execute(device, binary, launches)
        except Exception as error:
            findings.append(Finding(f"{route}: run", None, str(error)))
            continue
        findings += _differences(route, launches, got, expected)
    return findings


def _differences(route: str, launches: Sequence[Any], got: Any, expected: Any) -> Iterator[Finding]:
    from differential import difference

    for number, (ours, theirs) in enumerate(zip(got, expected, strict=True)):
        found = [difference(ours[buffer], theirs[buffer]) for buffer in ours]
        if any(found):
            yield Finding(f"{route}: result", number, "; ".join(filter(None, found)))


def launch(number: int) -> Any:
    """Return the launch of a batch's kernel, of one work-group."""
    from differential import Launch, Local

    x = np.array([0, 1, -1, 5, 100, -128, 2**31 - 1, -(2**31)], np.int32)
    y = np.array([0.0, -0.0, 1.5, -2.25, 1000.0, 0.0078125, -9999.5, 3.0], np.float32)
    table = np.random.default_rng(1).integers(0, 256, SLICE, np.uint8)
    out, own = np.zeros((ITEMS, SLOTS), np.uint64), np.zeros(ITEMS * SLICE, np.uint8)
    return Launch(f"b{number}k_0", [out, x, y, own, table, Local(ITEMS * SLICE)], (ITEMS,), (ITEMS,))
