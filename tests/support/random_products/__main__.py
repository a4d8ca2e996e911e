"""`python -m random_products`: compare random calls of coopmat.linalg.gemm with numpy."""

from __future__ import annotations

import argparse
import random
import sys
import time

from coopmat.devices import select

from . import campaign, draw, invalid


def main() -> int:
    """Return the exit status: 1 if a call fails."""
    options = _options()
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(10**9)
    seeds = range(first, first + options.count)
    if options.describe:
        for seed in seeds:
            is_invalid = seed % campaign.INVALID_EACH == campaign.INVALID_EACH - 1
            print(f"seed {seed}: {invalid.base_call(seed) if is_invalid else draw.call(seed, options.without)}")
        return 0
    without = "".join(f" --without {feature}" for feature in options.without)
    started = time.monotonic()
    print(f"{options.count} calls of the seeds {first} to {seeds[-1]}", flush=True)

    def say(text: str) -> None:
        seed = text.split()[1].rstrip(":")
        print(f"{text}\n  repeat: python -m random_products --seed {seed} --count 1{without}\n", flush=True)

    report = campaign.run(select(options.device), seeds, say, options.without)
    seconds = time.monotonic() - started
    print(f"{report.calls} calls ({report.invalid} invalid), {len(report.failures)} failures; {seconds:.0f} s")
    return 1 if report.failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m random_products", description="Compares random calls of coopmat.linalg.gemm with numpy."
    )
    parser.add_argument("--count", type=int, default=2000, help="calls; each has a seed of its own (2000)")
    parser.add_argument("--seed", type=int, help="the first call's seed; the others count on (random)")
    parser.add_argument("--device", metavar="D", help="a part of a device's or platform's name (the first device)")
    parser.add_argument("--describe", action="store_true", help="print the calls instead of running them")
    parser.add_argument(
        "--without", action="append", default=[], choices=[draw.VECTOR_OFFSETS], help="leave out a feature of the calls"
    )
    options = parser.parse_args()
    if options.count < 1:
        parser.error("--count must be at least 1")
    return options


if __name__ == "__main__":
    sys.exit(main())
