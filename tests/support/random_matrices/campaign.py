"""A campaign: many random kernels, in child processes that may crash or hang, and its report."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random

from spread import parts, reason, spread

from .kernels import Features
from .programs import ROUTES, program

# The number of kernels in a program: if one has a fault, all of them are suspects.
BATCH = 25
# The number of kernels of one unit for a cluster worker.
PART = 2 * BATCH
TIMEOUT_S = 300
# One batch in `_LARGE_EVERY` has large matrices, in `_LARGE_BATCH` kernels.
_LARGE_EVERY, _LARGE_BATCH = 10, 4
# Options: the registers of the cost model, and the optimization level.
_OPTIONS = (
    ["--matrix-registers", "256x16"],
    ["--matrix-registers", "128x16"],
    ["--matrix-registers", "512x32"],
    ["--matrix-registers", "64x4", "-cl-opt-disable"],
)


# The device's vectorizer would take half of the time, without effect for a single work-item.
_ENVIRONMENT = {"CL_CONFIG_CPU_VECTORIZER_MODE": "1"}


@dataclass
class Report:
    """The result of a campaign; `failures` are descriptions by seed."""

    kernels: int = 0
    failures: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0


def features(seed: int) -> Features:
    """Return the features that the kernel of a seed may use."""
    return Features(most=64 * 64) if (seed // BATCH) % _LARGE_EVERY == _LARGE_EVERY - 1 else Features()


def run(seeds: Sequence[int], jobs: int, say: Callable[[str], None]) -> Report:
    report, start = Report(), time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        for batch, text in pool.map(_checked, _batches(seeds)):
            report.kernels += len(batch)
            if text:
                found = {seed: told for seed in batch if (told := _checked([seed])[1])}
                report.failures |= found or {batch[0]: f"together with {len(batch) - 1} others: {text}"}
                say(f"seeds {batch[0]} to {batch[-1]}: {text[-300:]}")
            say(f"{report.kernels} of {len(seeds)} kernels, {len(report.failures)} failures, "
                f"{time.monotonic() - start:.0f} s")  # fmt: skip
    report.seconds = time.monotonic() - start
    return report


def part(seeds: Sequence[int]) -> Report:
    """Run a part of a campaign on a cluster worker."""
    return run(seeds, 1, lambda line: None)


def run_on_cluster(cluster: str, seeds: Sequence[int], say: Callable[[str], None]) -> Report:
    """Compare the kernels on a cluster's workers, like `run`."""
    whole, start = Report(), time.monotonic()
    chunks = parts(seeds, PART)
    for chunk, result in zip(chunks, spread(cluster, part, chunks, say), strict=True):
        if isinstance(result, Report):
            whole.kernels += result.kernels
            whole.failures |= result.failures
        else:
            whole.failures[chunk[0]] = f"seeds {chunk[0]} to {chunk[-1]}: {reason(result)}"
    whole.seconds = time.monotonic() - start
    return whole


def _batches(seeds: Sequence[int]) -> Iterator[list[int]]:
    rest = list(seeds)
    while rest:
        large = features(rest[0]).most > Features().most
        batch = [seed for seed in rest[: _LARGE_BATCH if large else BATCH] if features(seed) == features(rest[0])]
        rest = rest[len(batch) :]
        yield batch


def _checked(batch: list[int]) -> tuple[list[int], str]:
    """Describe the fault of the seeds' kernels, compared in a child process; "" if there is none."""
    command = [sys.executable, "-m", "random_matrices", "--check", *map(str, batch)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, env=os.environ | _ENVIRONMENT, check=False
        )
    except subprocess.TimeoutExpired:
        return batch, f"no answer in {TIMEOUT_S} s"
    if done.returncode == 0:
        return batch, ""
    return batch, (done.stdout + done.stderr).strip()[-3000:] or f"exit status {done.returncode}"


def check(seeds: Sequence[int]) -> str:
    """Compare the kernels of the seeds, all in one program, on every route."""
    from opencl_devices import full_device

    device = full_device()
    made = program([Random(seed) for seed in seeds], features(seeds[0]))
    options = _OPTIONS[seeds[0] // BATCH % len(_OPTIONS)]
    wrong = []
    for name, route in ROUTES.items():
        print(name, flush=True)
        wrong += [f"{name}: {text}" for text in route(device, made, *options)]
    return "\n".join(wrong)
