"""Measure the time of a cache hit and of a cache miss, for a source of about 100 lines with matrices.

Usage: tools/bench-cache [--repeat 200]
A hit is the time from source and options to the entry. A miss is the time that the cache adds to a build. The exit
status is 0 if the median hit takes less than 2 ms and the median miss less than 3 ms.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from coopmat.cache import Cache, Entry
from coopmat.devices import list_devices
from coopmat.runtime.device_build import cache_key, split_options
from coopmat.runtime.launch import resolve_options

HIT, MISS = 2e-3, 3e-3


def source(lines: int) -> str:
    body = [f"    c[{n}] += a[{n}] * {n}.5f + b[{n}];" for n in range(lines - 4)]
    return "\n".join(["kernel void f(global float *a, global float *b, global float *c)", "{", *body, "}"])


def timed(repeat: int, run: object) -> list[float]:
    times = []
    for n in range(repeat):
        start = time.perf_counter()
        run(n)  # type: ignore[operator]
        times.append(time.perf_counter() - start)
    return times


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/bench-cache", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=200)
    repeat = parser.parse_args().repeat
    device = next((d for d in list_devices() if d.takes_spirv), None)
    if device is None:
        print("no OpenCL device that takes SPIR-V: pip install 'coopmat[cpu]'")
        return 1
    text, entry = source(100), Entry(bytes(20_000), {"kernels": {}})
    with tempfile.TemporaryDirectory(prefix="coopmat-bench-") as place:
        cache = Cache(Path(place))

        def ask(define: int) -> None:
            parsed, rest = split_options([f"-DX={define}", "-I", place])
            options = resolve_options(parsed, device)
            cache.get_or_build(cache_key(device, text, options, rest), lambda: entry)

        ask(-1)
        misses, hits = timed(repeat, ask), timed(repeat, ask)
    for name, times, bound in (("hit", hits, HIT), ("miss", misses, MISS)):
        quarters = statistics.quantiles(times)
        print(
            f"{name}: median {statistics.median(times) * 1e3:.3f} ms (quartiles {quarters[0] * 1e3:.3f} to"
            f" {quarters[2] * 1e3:.3f}), bound {bound * 1e3:.0f} ms"
        )
    return 0 if statistics.median(hits) < HIT and statistics.median(misses) < MISS else 1


if __name__ == "__main__":
    sys.exit(main())
