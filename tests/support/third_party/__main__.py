"""Lower modules of other front ends, validate and run them.

Usage: tools/spirv-third-party [--count N] [--seed S] [--first N] [--jobs N] [--keep DIR]
The exit status is 1 if a module is rejected, invalid or wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from opencl_devices import NoDevice, full_device

from .cases import COUNT
from .execution import ROUTES
from .workers import run_chunk

# The number of modules that a process runs one after the other.
_CHUNK = 10


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/spirv-third-party", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=COUNT, help="modules")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--keep", default="", help="a directory for modules that something is wrong with")
    arguments = parser.parse_args()
    try:
        device = full_device()
    except NoDevice as reason:
        print(reason)
        return 1
    start = time.monotonic()
    numbers = range(arguments.first, arguments.first + arguments.count)
    features: Counter[str] = Counter()
    wrong = done = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        chunks = [numbers[n : n + _CHUNK] for n in range(0, len(numbers), _CHUNK)]
        for results in pool.map(lambda chunk: run_chunk(chunk, arguments.seed, arguments.keep), chunks):
            for name, faults, made_of in results:
                done += 1
                wrong += bool(faults)
                features.update(made_of)
                for fault in faults:
                    print(f"{name}: {fault}", flush=True)
    print(", ".join(f"{name} {count}" for name, count in sorted(features.items())))
    routes = ", ".join(" ".join(route) for route in ROUTES)
    print(
        f"{done} modules, each lowered as {routes}, validated and run on {device.name}, seed {arguments.seed},"
        f" in {time.monotonic() - start:.0f} s: {wrong} wrong"
    )
    return 1 if wrong or done != arguments.count else 0


if __name__ == "__main__":
    sys.exit(main())
