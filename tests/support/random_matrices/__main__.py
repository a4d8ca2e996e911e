"""`python -m random_matrices`: compare random kernels with matrix types with numpy. See tools/matrix-types."""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

from spread import CLUSTER_HELP

from .campaign import check, features, run, run_on_cluster
from .programs import program


def main() -> int:
    """Return the exit status: 1 if anything differs, crashes, hangs or is rejected."""
    options = _options()
    if options.check:
        wrong = check(options.check)
        print(wrong)
        return 1 if wrong else 0
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(10**9)
    seeds = range(first, first + options.count)
    print(f"{options.count} kernels of the seeds {first} to {seeds[-1]}, {options.jobs} jobs")

    def say(line: str) -> None:
        print(line, flush=True)

    if options.cluster:
        report = run_on_cluster(options.cluster, seeds, say)
    else:
        report = run(seeds, options.jobs, say)
    for seed, text in report.failures.items():
        made = program([random.Random(seed)], features(seed)).text
        print(f"\nseed {seed}: {text}\n{made}")
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{seed}.cl").write_text(made)
    print(f"{report.kernels} kernels, {len(report.failures)} failures; {report.seconds:.0f} s")
    return 1 if report.failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/matrix-types",
        description="Compares random kernels with Clang's matrix types, by SPIR-V and by OpenCL C, with numpy.",
    )
    parser.add_argument("--count", type=int, default=2000, help="kernels; each has a seed of its own (2000)")
    parser.add_argument("--seed", type=int, help="the first kernel's; the others count on (random)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--cluster", metavar="ADDRESS", help=CLUSTER_HELP)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where failing programs go, as SEED.cl")
    parser.add_argument("--check", type=int, nargs="+", metavar="SEED", help="compare these, in this process")
    options = parser.parse_args()
    if options.count < 1:
        parser.error("--count must be at least 1")
    return options


if __name__ == "__main__":
    sys.exit(main())
