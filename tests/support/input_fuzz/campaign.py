"""A campaign: each input is compiled in a separate process, a fork of a process that has imported everything.

LLVM runs in forks, too, which replace the emitter: each starts in a few milliseconds. A finding is a crash, an internal
error, more than 20 seconds of CPU time, or more than 2 GB of address space.
"""

from __future__ import annotations

import gc
import os
import pickle
import random
import resource
import select
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from spread import parts, reason, spread

from .corpus import Input, load
from .mutate import mutated

SECONDS, MEGABYTES = 20, 2048
# Wall time is limited more loosely, since others may use the machine.
_WALL = 4 * SECONDS
_MOST_TOLD = 4000


@dataclass(frozen=True)
class Case:
    seed: int
    input: Input
    options: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """A finding, with its `kind`: crash, internal error, time or memory."""

    case: Case
    kind: str
    text: str

    @property
    def signature(self) -> str:
        """The text that identifies the fault: mostly the same for the same fault."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        places = [line for line in lines if line.startswith("File ")]
        return f"{self.kind} {lines[0][:80] if lines else ''} {places[-1] if places else ''}"


@dataclass
class Report:
    inputs: int = 0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def case_of(seed: int, seeds: list[Input]) -> Case:
    """Return the input of a number; the same for the same number and seeds."""
    rng = random.Random(seed)
    language = rng.choice(("cl", "cl", "cl", "ir", "spv"))
    chosen = rng.choice([item for item in seeds if item.language == language])
    if language != "ir" and rng.random() < 0.35:
        chosen = rng.choice([item for item in seeds if item.language == language and item.grows])
    options = [*chosen.options, "--matrices", rng.choice(("native", "one", "lanes", "scratch"))]
    # Validators take long for SPIR-V that grows.
    validates = rng.random() < (0.6 if language == "spv" and chosen.grows else 0.1)
    options.append("--validate" if validates else "--no-validate")
    if language == "cl" and rng.random() < 0.15:
        options += ["--code", "c"]
    return Case(seed, Input(language, mutated(chosen, rng)), tuple(options))


# --- the process of one input ----------------------------------------------------------------------


class _ForkedEmitter:
    """A replacement for the emitter's process, which forks for each request."""

    def request(self, request: Any, text: bytes) -> tuple[Any, list[bytes]]:
        from coopmat.spirv import emitter

        def work() -> Any:
            try:
                return emitter.compile_ir(request, text.decode())
            except MemoryError:
                raise
            except Exception as error:
                return {"error": str(error)}, []

        seconds = min(request["timeout"], SECONDS)
        status, data, told, _ = _forked(work, seconds + 1, seconds)
        if status == 0 and data:
            found: tuple[Any, list[bytes]] = pickle.loads(data)
            return found
        late = status == -signal.SIGXCPU or (status == -signal.SIGKILL and not told)
        died = "is late" if late else f"died with {_named(status)}"
        return {"died": died, "late": late and request["timeout"] <= SECONDS, "stderr": told}, []

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    forget = stop


def _compile(case: Case) -> tuple[str, str]:
    """Return the outcome of an input, in the process for it: its kind, and a description."""
    from coopmat import compiler
    from coopmat.cli import status

    try:
        module = compiler.compile(case.input.text, list(case.options), name="input", language=case.input.language)
        made = module.opencl_c if module.code == "c" else module.spirv
        return "compiled", str(len(made))
    except MemoryError:
        return "memory", traceback.format_exc()[-_MOST_TOLD:]
    except Exception as error:
        found, _, exit_status = status.findings(error)
        if exit_status != status.ExitStatus.INTERNAL:
            over = any(item.code in ("budget", "expansion-too-large") for item in found)
            return "over a budget" if over else "refused", ""
        text = "\n".join([found[-1].message, *(note.message for note in found[-1].notes)])
        last = "".join(traceback.format_exception(error, limit=-3))
        kind = "time" if "is late" in text else "memory" if "bad_alloc" in text else "internal error"
        return kind, f"{text[:_MOST_TOLD]}\n{last[-_MOST_TOLD:]}"


def outcome(case: Case) -> tuple[str, str]:
    """Return the outcome of an input, compiled in a separate process."""
    status, data, told, used = _forked(lambda: _compile(case), _WALL, SECONDS)
    if status == -signal.SIGXCPU or status == -signal.SIGKILL or used > SECONDS:
        return "time", f"{used:.0f} s of processors"
    if status != 0 or not data:
        return "crash", f"{_named(status)}\n{told}"
    kind, text = pickle.loads(data)
    return kind, text


def _named(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"status {status}"


def _forked(work: Callable[[], Any], wall: float, seconds: float) -> tuple[int, bytes, str, float]:
    """Run `work` in a fork, with limits of wall time and CPU seconds.

    Return the exit status (or minus the signal), the pickled result, the text on stderr, and the CPU seconds.
    """
    results, result = os.pipe()
    errors, error = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(work, result, error, (results, errors), seconds)
    os.close(result)
    os.close(error)
    parts: dict[int, list[bytes]] = {results: [], errors: []}
    open_, deadline = {results, errors}, time.monotonic() + wall
    while open_:
        ready, _, _ = select.select(list(open_), [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            # Kill its process group, of which it is the leader.
            os.killpg(pid, signal.SIGKILL)
            break
        for handle in ready:
            data = os.read(handle, 1 << 20)
            parts[handle].append(data)
            if not data:
                open_.discard(handle)
    _, status, usage = os.wait4(pid, 0)
    os.close(results)
    os.close(errors)
    told = b"".join(parts[errors])[:_MOST_TOLD].decode(errors="replace")
    return os.waitstatus_to_exitcode(status), b"".join(parts[results]), told, usage.ru_utime + usage.ru_stime


def _child(work: Callable[[], Any], result: int, error: int, others: tuple[int, ...], seconds: float) -> None:
    status = 1
    try:
        for handle in others:
            os.close(handle)
        os.setpgid(0, 0)
        os.dup2(error, 2)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 3))
        resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))
        data = pickle.dumps(work())
        with os.fdopen(result, "wb") as file:
            file.write(data)
        status = 0
    except BaseException as failure:
        os.write(
            2, f"{type(failure).__name__}: {failure}\n{traceback.format_exc()}".encode(errors="replace")[:_MOST_TOLD]
        )
    finally:
        os._exit(status)


# --- the campaign ----------------------------------------------------------------------------------


def warm_up() -> list[Input]:
    """Import the modules that compilations need, and make the seeds, so that forks inherit them."""
    import llvmlite.binding as llvm

    from coopmat import compiler
    from coopmat.cli import status
    from coopmat.spirv import emit, emitter, tools

    status.findings(ValueError())  # imports modules for errors
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    for option in getattr(emitter, "LLVM_OPTIONS", ()):
        llvm.set_option("emitter", option)
    seeds = load()
    emit.stop()
    emit._emitter = _ForkedEmitter()  # type: ignore[assignment]
    tools.find_tools()
    for seed in seeds[:40]:
        for matrices in ("native", "one", "lanes", "scratch"):
            try:
                options = ["-w", *seed.options, "--matrices", matrices]
                assert compiler.compile(seed.text, options, language=seed.language).spirv
            except Exception:
                continue
    gc.collect()
    gc.freeze()
    return seeds


def run(numbers: range, jobs: int, say: Callable[[str], None]) -> Report:
    """Compile the inputs of these numbers in `jobs` processes, and return the report."""
    seeds = warm_up()
    say(f"{len(seeds)} seeds")
    start = time.monotonic()
    report = Report()
    for case_seed, kind, text in _outcomes(numbers, jobs, seeds):
        report.inputs += 1
        report.outcomes[kind] = report.outcomes.get(kind, 0) + 1
        if kind in ("crash", "internal error", "time", "memory"):
            finding = Finding(case_of(case_seed, seeds), kind, text)
            report.findings.append(finding)
            say(f"seed {case_seed}: {finding.signature}")
        report.seconds = time.monotonic() - start
        if report.inputs % 500 == 0:
            say(f"{report.inputs} inputs, {report.inputs / report.seconds:.0f} each second, to {case_seed}")
    return report


def part(numbers: range) -> Report:
    """Run a part of a campaign on a cluster worker."""
    return run(numbers, 1, lambda line: None)


def run_on_cluster(cluster: str, numbers: range, say: Callable[[str], None]) -> Report:
    """Compile the inputs on a cluster's workers, like `run`."""
    start, whole = time.monotonic(), Report()
    chunks = parts(numbers, PART)
    # Not isolated: its processes are forks, and the isolating processes of workers have too many threads for that.
    for chunk, result in zip(chunks, spread(cluster, part, chunks, say, is_isolated=False), strict=True):
        if isinstance(result, Report):
            whole.inputs += result.inputs
            whole.outcomes = dict(Counter(whole.outcomes) + Counter(result.outcomes))
            whole.findings += result.findings
        else:
            raise RuntimeError(f"inputs {chunk[0]} to {chunk[-1]}: {reason(result)}")
    whole.seconds = time.monotonic() - start
    return whole


# The number of inputs of one unit for a cluster worker.
PART = 250


def _outcomes(numbers: range, jobs: int, seeds: list[Input]) -> Iterator[tuple[int, str, str]]:
    """Yield the outcomes as they arrive from `jobs` forks that share the numbers."""
    results, result = os.pipe()
    for job in range(jobs):
        if os.fork() == 0:
            os.close(results)
            status = 1
            try:
                for seed in numbers[job::jobs]:
                    kind, text = outcome(case_of(seed, seeds))
                    # A pipe writes at most PIPE_BUF bytes atomically.
                    data = pickle.dumps((seed, kind, text if len(text) < 900 else f"{text[:400]}\n{text[-400:]}"))
                    os.write(result, len(data).to_bytes(4, "little") + data)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
    os.close(result)
    with os.fdopen(results, "rb") as file:
        while head := file.read(4):
            yield pickle.loads(file.read(int.from_bytes(head, "little")))
    for _ in range(jobs):
        if os.wait()[1]:
            sys.exit("a process of the campaign failed")
