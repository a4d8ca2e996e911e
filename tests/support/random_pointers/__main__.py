"""`python -m random_pointers --seeds A:B --on EXECUTOR`: run random programs, and compare them with the model."""

from __future__ import annotations

import argparse
import sys
import time

from .campaign import features_for, run
from .executors import EXECUTORS
from .generator import FEATURES, generate


def main() -> int:
    """Return the exit status: 1 if a program fails."""
    parser = argparse.ArgumentParser(prog="tools/fuzz-pointers", description=__doc__)
    parser.add_argument("--seeds", default="0:100", metavar="A:B", help="the seeds A to B - 1 (0:100)")
    parser.add_argument("--on", choices=EXECUTORS, default="opencl", help="what is compared with the model (opencl)")
    parser.add_argument("--without", action="append", default=[], choices=sorted(FEATURES), help="leave out a feature")
    parser.add_argument("--batch", type=int, default=8, help="programs in one source (8)")
    parser.add_argument("--tries", type=int, default=150, help="runs to reduce a failing program (150)")
    parser.add_argument("--seconds", type=float, default=3600, help="start no source after so many seconds (3600)")
    parser.add_argument("--print", action="store_true", help="print the sources instead of running them")
    options = parser.parse_args()
    first, end = map(int, options.seeds.split(":"))
    if options.print:
        features = features_for(options.on, options.without)
        print("\n".join(generate(seed, features).launchable().text for seed in range(first, end)))
        return 0
    began = time.monotonic()
    report = run(
        options.on, range(first, end), lambda text: print(text, flush=True),
        batch=options.batch, without=options.without, tries=options.tries, seconds=options.seconds,
    )  # fmt: skip
    print(
        f"{report.passed} passed, {sum(map(len, report.refused.values()))} refused, {len(report.failures)} failed: ",
        end="",
    )
    print(f"{sorted(report.failures)}; {time.monotonic() - began:.0f} s")
    for reason, seeds in report.refused.items():
        print(f"  refused {len(seeds)}: {reason} {seeds}")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
