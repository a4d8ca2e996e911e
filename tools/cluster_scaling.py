"""Measure how conformance runs scale with workers on this machine, and simulate larger numbers of workers.

Usage: tools/cluster-scaling [--selection wimpy] [--workers 1 2 4] [--plot FILE.svg]
Measured: the duration of `coopmat cts`, and the time that client and scheduler need for an empty unit of work.
Simulated: workers that take units one by one from a client that needs this time for each. The units are groups of
variants of several sizes, with the measured times.
"""

from __future__ import annotations

import argparse
import heapq
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from coopmat.cluster.dask_engine import DaskEngine

SIMULATED = (1, 2, 4, 10, 30, 100, 300, 1000)
GROUPS = (1, 6, 24, 96)
# Multiples of the run's variants: an exhaustive run of some routes, and a run of many devices.
TIMES_AS_MANY = (20, 500)
EMPTY = 1000


def nothing(unit: int) -> int:
    return unit


def cts(words: Sequence[str]) -> tuple[float, list[float]]:
    """Run `coopmat cts`, and return the duration in seconds and the seconds of each variant."""
    with tempfile.TemporaryDirectory(prefix="coopmat-scaling-") as place:
        report = Path(place) / "report.json"
        start = time.perf_counter()
        command = [sys.executable, "-m", "coopmat", "cts", *words, "--json", str(report)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=place)
        seconds = time.perf_counter() - start
        return seconds, [row["seconds"] for row in json.loads(report.read_text())["outcomes"]]


def overhead(workers: int) -> tuple[float, float]:
    """Return the seconds that client and scheduler need for a unit, and the seconds that a cluster needs to start."""
    start = time.perf_counter()
    engine = DaskEngine(f"local:{workers}")
    engine.run(nothing, [0] * workers, lambda number, result: None, is_isolated=True)
    begun = time.perf_counter() - start
    start = time.perf_counter()
    engine.run(nothing, range(EMPTY), lambda number, result: None, is_isolated=True)
    each = (time.perf_counter() - start) / EMPTY
    engine.close()
    return each, begun


def makespan(units: Sequence[float], workers: int, each: float) -> float:
    """Return the seconds until all units are done by `workers`; the client needs `each` seconds to hand out a unit."""
    free = [0.0] * workers
    client = end = 0.0
    for unit in units:
        # A unit starts when the client has handed out the previous one, and a worker is free.
        client = start = max(client, heapq.heappop(free)) + each
        heapq.heappush(free, start + unit)
        end = max(end, start + unit)
    return end


def grouped(times: Sequence[float], size: int) -> list[float]:
    return [sum(times[at : at + size]) for at in range(0, len(times), size)]


def plot(path: Path, measured: dict[int, float], simulated: dict[int, dict[int, dict[int, float]]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2))
    for number, size in enumerate(GROUPS):
        for (variants, speedup), style in zip(simulated.items(), ("--", "-"), strict=True):
            label = f"{size} variants a unit, {variants:,} in all"
            axes.plot(list(speedup[size]), list(speedup[size].values()), style, color=f"C{number}", label=label)
    base = measured[min(measured)]
    axes.plot(
        list(measured),
        [base / seconds for seconds in measured.values()],
        "ko",
        label="measured on two cores, 24 a unit",
    )
    axes.set(xscale="log", yscale="log", xlabel="workers", ylabel="times as fast as one")
    axes.legend(fontsize=8)
    axes.grid(True, which="both", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/cluster-scaling", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--selection", choices=["wimpy", "default"], default="wimpy", help="of variants")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], help="to measure")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw it")
    options = parser.parse_args()
    words = ["--wimpy"] if options.selection == "wimpy" else []
    alone, times = cts([*words, "-j", "1"])
    print(f"one process: {alone:.1f} s, {len(times)} variants, {1000 * sum(times) / len(times):.1f} ms each")
    measured = {}
    for workers in options.workers:
        measured[workers], _ = cts([*words, "--cluster", f"local:{workers}"])
        print(f"local:{workers}: {measured[workers]:.1f} s, {alone / measured[workers]:.2f} times as fast")
    each, begun = overhead(max(options.workers))
    print(f"client and scheduler: {1000 * each:.2f} ms a unit; a cluster starts in {begun:.1f} s")
    simulated: dict[int, dict[int, dict[int, float]]] = {}
    for many in (times * factor for factor in TIMES_AS_MANY):
        total = sum(many)
        speedup = {size: {n: total / makespan(grouped(many, size), n, each) for n in SIMULATED} for size in GROUPS}
        simulated[len(many)] = speedup
        for size, row in speedup.items():
            cells = ", ".join(f"{n}: {value:.1f}" for n, value in row.items())
            print(f"simulated speed-up, {len(many)} variants, {size} a unit: {cells}")
    if options.plot:
        plot(options.plot, measured, simulated)
    return 0


if __name__ == "__main__":
    sys.exit(main())
