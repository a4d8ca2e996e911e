"""`python -m fuzz.loops`: compare random loops with run-time bounds with results in Python. See tools/fuzz-loops."""

from __future__ import annotations

import argparse
import random
import sys
import time

from .campaign import run


def main() -> int:
    """Return the exit status: 1 if anything differs, crashes or is rejected."""
    parser = argparse.ArgumentParser(
        prog="tools/fuzz-loops", description="Compares random loops to run-time bounds with what Python calculates."
    )
    parser.add_argument("--count", type=int, default=2000, help="kernels; each has a seed of its own (2000)")
    parser.add_argument("--seed", type=int, help="the first kernel's; the others count on (random)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    options = parser.parse_args()
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(10**9)
    seeds = range(first, first + options.count)
    start = shown = time.monotonic()

    def say(line: str) -> None:
        nonlocal shown
        if not line[0].isdigit() or time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(line, flush=True)

    count = 0
    for programs, finding in run(seeds, options.jobs, say):
        count += 1
        print(f"seeds {', '.join(map(str, programs))}: {finding.stage}: {finding.text}", flush=True)
    print(f"{options.count} kernels, seeds {first} to {seeds[-1]}: {count} findings; {time.monotonic() - start:.0f} s")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
