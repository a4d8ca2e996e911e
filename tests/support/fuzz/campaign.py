"""A campaign: many random kernels in one run, and its report."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from spread import parts, reason, spread

from .programs import generate
from .shrink import shrink
from .tree import Node
from .workers import Batch, Finding, Worker, each, one

# Kernels in one source. If it has a fault, all of them are suspects, so the number must be small.
BATCH = 6
# Kernels of one unit for a cluster worker, a multiple of BATCH.
PART = 10 * BATCH
# The number of failures that are shrunken; further ones are reported unchanged.
SHRUNKEN = 6


@dataclass(frozen=True)
class Failure:
    """A failing kernel; `program` is its (shrunken) text."""

    seed: int
    finding: Finding
    program: str


@dataclass
class Report:
    kernels: int = 0
    # seeds with the findings that concern only the device's own compiler
    theirs: list[tuple[int, Finding]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0


def run(seeds: Sequence[int], jobs: int, say: Callable[[str], None], shrinking_s: float = 60) -> Report:
    """Compare the kernels of the seeds, and return the report.

    Each fault is attributed to a single kernel. The first failing kernels are shrunken, `shrinking_s` seconds each.
    """
    report, start, work = Report(), time.monotonic(), _Work(seeds)
    for batch, findings in each(work, jobs):
        if len(batch.programs) > 1:
            report.kernels += len(batch.programs)
            work.suspects += _suspects(batch, findings)
            say(f"{report.kernels} of {len(seeds)} kernels, {time.monotonic() - start:.0f} s")
            continue
        (seed,) = batch.programs
        assert isinstance(seed, int)
        report.kernels += seed not in work.looked_at
        ours = [finding for finding in findings if finding.is_ours]
        if ours:
            report.failures.append(Failure(seed, ours[0], str(generate(seed).tree)))
            say(f"seed {seed}: {ours[0].stage}: {ours[0].text[:300]}")
        else:
            report.theirs += [(seed, finding) for finding in findings]
    report.failures.sort(key=lambda failure: failure.seed)
    # Most of many failures have the same cause.
    for number, failure in enumerate(report.failures[:SHRUNKEN] if shrinking_s else ()):
        report.failures[number] = shrunken(failure, shrinking_s)
    report.seconds = time.monotonic() - start
    return report


def part(seeds: Sequence[int]) -> Report:
    """Run a part of a campaign on a cluster worker, without shrinking."""
    return run(seeds, 1, lambda line: None, 0)


def run_on_cluster(cluster: str, seeds: Sequence[int], say: Callable[[str], None], shrinking_s: float = 60) -> Report:
    """Compare the kernels of the seeds on a cluster's workers, and return the report.

    If a worker dies or raises, this counts as a failure of the part's first seed. The first failures are shrunken on
    this machine.
    """
    whole, start = Report(), time.monotonic()
    chunks = parts(seeds, PART)
    for chunk, result in zip(chunks, spread(cluster, part, chunks, say), strict=True):
        if isinstance(result, Report):
            whole.kernels += result.kernels
            whole.theirs += result.theirs
            whole.failures += result.failures
        else:
            finding = Finding("worker", f"seeds {chunk[0]} to {chunk[-1]}: {reason(result)}")
            whole.failures.append(Failure(chunk[0], finding, str(generate(chunk[0]).tree)))
    for number, failure in enumerate(whole.failures[:SHRUNKEN]):
        whole.failures[number] = shrunken(failure, shrinking_s)
    whole.seconds = time.monotonic() - start
    return whole


class _Work(Iterator[Batch]):
    """An iterator over the batches to run, single suspects first; suspects may be added after its end."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds, self.next = seeds, 0
        self.suspects: list[int] = []
        self.looked_at: set[int] = set()

    def __next__(self) -> Batch:
        if self.suspects:
            seed = self.suspects.pop(0)
            self.looked_at.add(seed)
            return Batch((seed,))
        if self.next >= len(self.seeds):
            raise StopIteration
        self.next += BATCH
        return Batch(tuple(self.seeds[self.next - BATCH : self.next]))


def _suspects(batch: Batch, findings: Sequence[Finding]) -> list[int]:
    """Return the seeds to run alone: all of the batch if a finding does not name one."""
    if any(finding.number is None for finding in findings):
        return [seed for seed in batch.programs if isinstance(seed, int)]
    numbers = {finding.number for finding in findings if finding.number is not None}
    return [seed for seed in (batch.programs[number] for number in numbers) if isinstance(seed, int)]


def shrunken(failure: Failure, seconds: float) -> Failure:
    worker, last = Worker(), [failure.finding]

    def fails(tree: Node) -> bool:
        found = [f for f in one(worker, Batch((str(tree),))) if f.stage == failure.finding.stage]
        last[:] = found[:1] or last
        return bool(found)

    try:
        tree = shrink(generate(failure.seed).tree, fails, seconds)
    finally:
        worker.stop()
    return Failure(failure.seed, last[0], str(tree))


def features(seeds: Sequence[int]) -> tuple[Counter[str], int]:
    """Return the number of times that each feature was made, and the number of lines."""
    counts: Counter[str] = Counter()
    lines = 0
    for seed in seeds:
        program = generate(seed)
        counts += program.features
        lines += str(program.tree).count("\n")
    return counts, lines
