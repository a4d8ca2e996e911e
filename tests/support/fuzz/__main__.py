"""`python -m fuzz`: compare random kernels with the device's own compiler. See tools/fuzz."""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

from spread import CLUSTER_HELP

from .campaign import Report, features, run, run_on_cluster


def main() -> int:
    """Return the exit status: 1 if anything differs, crashes or is invalid."""
    options = _options()
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(10**9)
    seeds = range(first, first + options.count)
    print(f"{options.count} kernels of the seeds {first} to {seeds[-1]}, {options.jobs} jobs")
    shown = time.monotonic()

    def say(line: str) -> None:
        nonlocal shown
        if not line[0].isdigit() or time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(line, flush=True)

    if options.cluster:
        report = run_on_cluster(options.cluster, seeds, say, options.shrink)
    else:
        report = run(seeds, options.jobs, say, options.shrink)
    _print(report, seeds, options.keep)
    return 1 if report.failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/fuzz",
        description="Compares random kernels, as this compiler and as the device's own make them.",
    )
    parser.add_argument("--count", type=int, default=5000, help="kernels; each has a seed of its own (5000)")
    parser.add_argument("--seed", type=int, help="the first kernel's; the others count on (random)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--cluster", metavar="ADDRESS", help=CLUSTER_HELP)
    parser.add_argument("--shrink", type=float, default=60, metavar="SECONDS", help="for each failure (60)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where failing programs go, as SEED.cl")
    options = parser.parse_args()
    if options.count < 1:
        parser.error("--count must be at least 1")
    return options


def _print(report: Report, seeds: range, keep: Path | None) -> None:
    for failure in report.failures:
        print(f"\nseed {failure.seed}: {failure.finding.stage}\n{failure.finding.text}\n{failure.program}")
        if keep:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{failure.seed}.cl").write_text(failure.program)
    for seed, finding in report.theirs:
        print(f"seed {seed}: only {finding.stage}: {finding.text[-600:]}")
    counts, lines = features(seeds)
    print("made: " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    print(
        f"{report.kernels} kernels, {lines} lines, seeds {seeds[0]} to {seeds[-1]}: {len(report.failures)} failures, "
        f"{len(report.theirs)} not taken by the device's own compiler; {report.seconds:.0f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
