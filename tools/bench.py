"""The measurements of `tools/bench`: lowered matrices against plain kernels, in turns in one run.

gemm_f32 at SIZE^3 on the lowered routes, in several tiles, against the plain OpenCL C of plain_gemm.cl, which the
device's own compiler builds. Ratios are of median times.
"""

from __future__ import annotations

import random
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

import coopmat
from coopmat.devices import DeviceInfo, opencl, select

TOOLS = Path(__file__).resolve().parent
KERNELS = TOOLS.parent / "kernels"
PAD = 16
PLAIN = {
    "plain, 8 x 16 vectors": ("-DVECTORS -DROWS=8 -DTN=1", 8, 1, 1),
    "plain, 16 x 16 vectors": ("-DVECTORS -DROWS=16 -DTN=1", 16, 1, 1),
    "plain, 8 x 32 vectors": ("-DVECTORS -DROWS=8 -DTN=2", 8, 2, 1),
    "plain, 8 x 16 lanes": ("-DROWS=8 -DTN=1", 8, 1, 16),
    "plain, 16 x 16 lanes": ("-DROWS=16 -DTN=1", 16, 1, 16),
    "plain, 8 x 32 lanes": ("-DROWS=8 -DTN=2", 8, 2, 16),
}
# line of the report -> (route, tile as (m, n, k), work-items in a work-group)
LOWERED = {
    f"{how}, {m} x {n} x {k}": (how, (m, n, k), width)
    for how, width in (("one", 1), ("lanes", 16))
    for m, n, k in ((16, 16, 16), (8, 32, 8), (8, 32, 16), (4, 64, 8))
}


class Gemm:
    """A product C = A B at size^3 on one device, with padded rows.

    The components of A and B are small integers, so that every order of summation gives the same C.
    """

    def __init__(self, device: DeviceInfo, size: int) -> None:
        cl = opencl()
        self.size, self.leading = size, size + PAD
        self.context = cl.Context([device.handle])
        self.queue = cl.CommandQueue(self.context)
        numbers = np.random.default_rng(1)
        self.a, self.b = (numbers.integers(-3, 4, (size, size)).astype(np.float32) for _ in range(2))
        copy = cl.mem_flags.COPY_HOST_PTR
        padded = [np.pad(m, ((0, 0), (0, PAD))) for m in (self.a, self.b)]
        self.inputs = [cl.Buffer(self.context, copy, hostbuf=m) for m in padded]
        self.output = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, padded[0].nbytes)
        self.macros = [f"-DK={size}", *(f"-DLD{m}={self.leading}" for m in "ABC")]

    def _launch(self, program: Any, name: str, grid: tuple[int, int], width: int) -> Callable[[], None]:
        kernel = opencl().Kernel(program, name)

        def run() -> None:
            kernel(self.queue, (grid[0] * width, grid[1]), (width, 1), *self.inputs, self.output)
            self.queue.finish()

        run()
        result = np.empty((self.size, self.leading), np.float32)
        opencl().enqueue_copy(self.queue, result, self.output)
        if not np.array_equal(result[:, : self.size], self.a @ self.b):
            raise SystemExit(f"{name}: wrong result")
        return run

    def _build(self, source: str | bytes, options: list[str]) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # drivers log on success
            return opencl().Program(self.context, source).build(options)

    def plain(self, options: str, rows: int, tn: int, width: int) -> Callable[[], None]:
        program = self._build((TOOLS / "plain_gemm.cl").read_text(), [*options.split(), *self.macros, "-cl-std=CL3.0"])
        return self._launch(program, "gemm_plain", (self.size // rows, self.size // (16 * tn)), width)

    def lowered(self, how: str, tile: tuple[int, int, int], width: int) -> Callable[[], None]:
        source = (KERNELS / "gemm_f32.cl").read_text()
        tiles = [f"-DTILE_{name}={value}" for name, value in zip("MNK", tile, strict=True)]
        options = [*self.macros, *tiles, "-DTM=1", "-DTN=1", "--matrices", how]
        program = self._build(coopmat.compile(source, options, name="gemm_f32.cl").spirv, [])
        return self._launch(program, "gemm_f32", (self.size // tile[0], self.size // tile[1]), width)


def interleaved(runs: dict[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    """Return run -> seconds in each round; the runs take turns, so that a slower machine slows down all of them.

    The order changes from round to round. Before each timed run there is an untimed one. It wakes the run's threads,
    while those of the previous run go to sleep.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    order = random.Random(1)
    for _ in range(rounds):
        for name, run in order.sample(list(runs.items()), len(runs)):
            run()
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return times


def report(times: dict[str, list[float]], baseline: str, work: float, unit: str) -> None:
    """Print for each run `work` per second in `unit`, and the ratio of its speed to the baseline's, with quartiles."""
    for name, values in times.items():
        ratios = sorted(b / v for v, b in zip(values, times[baseline], strict=True))
        low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
        middle = statistics.median(times[baseline]) / statistics.median(values)
        speed = work / statistics.median(values)
        click.echo(f"  {name:24s} {speed:10.1f} {unit}   {middle:6.2f} x   (quartiles {low:.2f} to {high:.2f})")


def bench_gemm(device: DeviceInfo, size: int, rounds: int) -> None:
    gemm = Gemm(device, size)
    product = np.empty((size, size), np.float32)

    def numpy_gemm() -> None:
        np.matmul(gemm.a, gemm.b, out=product)

    runs: dict[str, Callable[[], None]] = {"numpy": numpy_gemm}
    runs |= {name: gemm.plain(*row) for name, row in PLAIN.items()}
    runs |= {name: gemm.lowered(*row) for name, row in LOWERED.items()}
    times = interleaved(runs, rounds)
    best = min(PLAIN, key=lambda name: statistics.median(times[name]))
    click.echo(
        f"gemm_f32, {size}^3, rows of {size + PAD}, {device.label}; speed against the best plain kernel ({best})"
    )
    report(times, best, 2e-9 * size**3, "GFLOP/s")
    lowered = max(statistics.median(times[best]) / statistics.median(times[name]) for name in LOWERED)
    click.echo(f"  best lowering / best plain kernel: {lowered:.2f}\n")


@click.command(help=__doc__)
@click.option("--device", metavar="D", help="The OpenCL device; the first one otherwise.")
@click.option("--size", default=512, help="M = N = K of the products.")
@click.option("--rounds", default=15, help="How often each is run.")
def main(device: str | None, size: int, rounds: int) -> None:
    bench_gemm(select(device), size, rounds)


if __name__ == "__main__":
    main()
