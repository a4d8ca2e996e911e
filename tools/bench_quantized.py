"""The measurements of `tools/bench-quantized`: products with quantized weights, N = K = 4096, for some numbers of rows.

    tools/bench-quantized                                     # Q4_0 for 1, 8, 32 and 512 rows
    tools/bench-quantized --format mxfp4 --rows 1 --rows 32
    git show REVISION:kernels/gemm_q4.cl > before.cl; tools/bench-quantized --before before.cl

Each contender has a process of its own, since the threads of a pool spin while they wait. It is checked against numpy,
and warmed up for more than a second. Then the processes take turns, in a new order in each round.

kernel: the kernel under kernels/. kernel before: another version of it. half weights: the same kernel, but it loads
weights of half instead of decoding. linalg: coopmat.linalg.gemm_quantized. numpy decoded: numpy's product with weights
that were decoded before. numpy decodes: with the decoding. onnxruntime: MatMulNBits, of Q4_0 only.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np

import coopmat
from coopmat.bench.cases import Case
from coopmat.bench.libraries import Setup, onnxruntime_call
from coopmat.devices import opencl, select
from coopmat.runtime import parse_header
from coopmat.runtime.data import make_array
from coopmat.runtime.evaluator import evaluate
from coopmat.runtime.runheader import Run

KERNELS = Path(__file__).resolve().parent.parent / "kernels"
FORMATS = ("q4_0", "q8_0", "q4_k", "q6_k", "mxfp4")
SIDE = 4096  # N and K
# Rows of A, or the least of them -> the tile: rows of W, rows of A and the depth, which is 32 for MXFP4.
TILES = {1: (32, 1, 128), 8: (64, 8, 64), 32: (32, 32, 64), 512: (128, 128, 32)}
WARM_UP, TURN = 1.2, 0.1  # seconds
CONTENDERS = ("kernel", "kernel before", "half weights", "linalg", "numpy decoded", "numpy decodes", "onnxruntime")
HALF_WEIGHTS = """
#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable
#define BY_COLUMNS CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define MATRIX(T, ROWS, COLUMNS, USE) \
    T __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)))
kernel void half_weights(const global half *w, const global half *x, global float *y)
{
    const size_t row = get_group_id(0) * ROWS, column = get_group_id(1) * COLUMNS;
    MATRIX(float, ROWS, COLUMNS, ACCUMULATOR) sum = coop_mat_init(0);
    for (size_t k = 0; k < K; k += DEPTH) {
        MATRIX(half, ROWS, DEPTH, A) a = coop_mat_load(w + row * K + k, CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR, K);
        MATRIX(half, DEPTH, COLUMNS, B) b = coop_mat_load(x + column * K + k, BY_COLUMNS, K);
        sum = coop_mat_mulAdd(a, b, sum);
    }
    coop_mat_store(y + column * N + row, sum, BY_COLUMNS, N);
}
"""
Call = tuple[Callable[[], object], Callable[[], Any]]  # runs to the end; returns the result


class Product:
    """The product of one format and number of rows, with the inputs and the decoder of the kernel's run header."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.format, self.rows, self.device = spec["format"], spec["rows"], select(spec["device"])
        self.before, self.options, self.threads = spec["before"], spec["options"], spec["threads"]
        rows, columns, depth = spec["tile"] or TILES[max(count for count in TILES if count <= self.rows)]
        self.tile = {"ROWS": rows, "COLUMNS": columns, "DEPTH": depth}
        self.context = opencl().Context([self.device.handle])
        self.queue = opencl().CommandQueue(self.context)
        self.path = KERNELS / f"gemm_{self.format}.cl"
        self.run = _first_run(self.path)
        self.names = {"M": self.rows, "N": SIDE, "K": SIDE}
        arguments = {item.name.text: item for item in self.run.arguments}
        self.blocks, self.x = (make_array(arguments[name], self.names) for name in "wx")
        # The check is `y ~ x.astype(f32) @ (...).T`: what follows the product's sign are the weights.
        self.weights = self.run.checks[0].expected.text.split("@", 1)[1]

    def decoded(self) -> Any:
        """Return the weights as K x N numbers of float."""
        return evaluate(self.weights.strip(), {**self.names, "w": self.blocks}).astype(np.float32)

    def kernel(self, source: str, name: str, weights: Any, options: list[str]) -> Call:
        cl, context, queue = opencl(), self.context, self.queue
        macros = {**self.names, **self.tile}
        buffers = [cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=item) for item in (weights, self.x)]
        y = np.empty((self.rows, SIDE), np.float32)
        buffers.append(cl.Buffer(context, cl.mem_flags.READ_WRITE, y.nbytes))
        program = coopmat.Program(context, source).build([*(f"-D{n}={v}" for n, v in macros.items()), *options])
        function = getattr(program, name)
        size = function.sub_group_size(self.device.handle)
        groups = SIDE // self.tile["ROWS"] * size, self.rows // self.tile["COLUMNS"]

        def run() -> None:
            function(queue, groups, (size, 1), *buffers).wait()

        def result() -> Any:
            cl.enqueue_copy(queue, y, buffers[2])
            return y

        return run, result

    def call(self, contender: str) -> Call:
        if contender == "kernel":
            return self.kernel(self.path.read_text(), f"gemm_{self.format}", self.blocks, self.options)
        if contender == "kernel before":
            path = Path(self.before)
            run = _first_run(path)
            assert run.kernel is not None
            return self.kernel(path.read_text(), run.kernel.text, self.blocks, self.options)
        if contender == "half weights":
            weights = np.ascontiguousarray(self.decoded().T).astype(np.float16)
            return self.kernel(HALF_WEIGHTS, "half_weights", weights, self.options)
        if contender == "linalg":
            return self._linalg()
        if contender == "onnxruntime":
            case, setup = Case("gemm_quantized", "q4_0", (self.rows, SIDE, SIDE)), Setup("", False, self.threads, "")
            return onnxruntime_call(case, (self.x.astype(np.float32), self.blocks), "4 bits", setup)
        a, w, out = self.x.astype(np.float32), self.decoded(), np.empty((self.rows, SIDE), np.float32)
        if contender == "numpy decoded":
            return lambda: np.matmul(a, w, out=out), lambda: out
        return lambda: np.matmul(a, self.decoded(), out=out), lambda: out

    def _linalg(self) -> Call:
        import pyopencl.array

        queue = self.queue
        a, blocks = (pyopencl.array.to_device(queue, item) for item in (self.x, self.blocks))
        c = pyopencl.array.empty(queue, (self.rows, SIDE), np.float32)

        def run() -> None:
            coopmat.linalg.gemm_quantized(queue, a, blocks, self.format, (SIDE, SIDE), c)
            queue.finish()

        return run, c.get


def _first_run(path: Path) -> Run:
    return parse_header(path.read_text(), str(path))[0]


def _calls(run: Callable[[], object], seconds: float) -> list[float]:
    """Call until some seconds have passed, at least once, and return the time of each call."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times


def serve(argument: str) -> None:
    """Prepare a contender, check and warm it up, then answer each line of the input with the median time of a turn."""
    spec = json.loads(argument)
    product = Product(spec)
    run, result = product.call(spec["contender"])
    run()
    expected = product.x.astype(np.float32) @ product.decoded()
    if not np.abs(result() - expected).max() <= 5e-3 * np.abs(expected).max():
        raise SystemExit(f"{spec['contender']}: wrong result")
    _calls(run, WARM_UP)
    print("ready", flush=True)
    for _ in sys.stdin:
        print(statistics.median(_calls(run, TURN)), flush=True)


class Server:
    """The process of a contender. `ask` returns the seconds of a call, or None if the process has ended."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        command = [sys.executable, __file__, "--serve", json.dumps(spec)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def is_ready(self) -> bool:
        assert self.process.stdout is not None
        return self.process.stdout.readline() == "ready\n"

    def ask(self) -> float | None:
        assert self.process.stdin is not None and self.process.stdout is not None
        with suppress(OSError, ValueError):
            print(file=self.process.stdin, flush=True)
            return float(self.process.stdout.readline())
        return None

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def measure(specs: Mapping[str, Mapping[str, Any]], rounds: int) -> dict[str, list[float]]:
    """Return contender -> seconds in each round. Contenders that fail are left out."""
    servers: dict[str, Server] = {}
    times: dict[str, list[float]] = {}
    order = random.Random(1)
    try:
        for name, spec in specs.items():
            servers[name] = Server(spec)
            if servers[name].is_ready():
                times[name] = []
        for _ in range(rounds):
            for name in order.sample(list(times), len(times)):
                seconds = servers[name].ask()
                if seconds is None:
                    del times[name]
                else:
                    times[name].append(seconds)
    finally:
        for server in servers.values():
            server.close()
    return times


def report(times: Mapping[str, list[float]]) -> None:
    """Print the median time of each contender, and how many times as fast the kernel is, with quartiles."""
    own = times.get("kernel", [])
    for name, values in times.items():
        line = f"  {name:14s} {1e3 * statistics.median(values):9.3f} ms"
        if own:
            ratios = sorted(value / mine for value, mine in zip(values, own, strict=True))
            low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
            line += f"   kernel {statistics.median(values) / statistics.median(own):6.2f} x as fast"
            line += f"   (quartiles {low:.2f} to {high:.2f})"
        click.echo(line)


@click.command(help=__doc__)
@click.option("--format", "name", type=click.Choice(FORMATS), default="q4_0", help="The format of the weights.")
@click.option("--rows", multiple=True, type=int, help="A number of rows of A; several times for several.")
@click.option("--before", type=click.Path(exists=True, dir_okay=False), help="Another version of the kernel.")
@click.option("--device", metavar="D", help="The OpenCL device; the first one otherwise.")
@click.option("--tile", help="The tile of the kernels, such as 32x8x64, instead of one for each number of rows.")
@click.option("--rounds", default=25, help="How often each contender has its turn.")
@click.option("--threads", default=2, help="The threads of onnxruntime.")
@click.option("-O", "--option", "options", multiple=True, help="An option for the kernels. [default: -DT=float -w]")
@click.option("--only", multiple=True, type=click.Choice(CONTENDERS), help="A contender; several times for several.")
@click.option("--serve", "argument", hidden=True)
def main(
    name: str,
    rows: tuple[int, ...],
    before: str | None,
    device: str | None,
    tile: str | None,
    rounds: int,
    threads: int,
    options: tuple[str, ...],
    only: tuple[str, ...],
    argument: str | None,
) -> None:
    warnings.simplefilter("ignore")  # drivers log on success
    if argument is not None:
        serve(argument)
        return
    contenders = [item for item in only or CONTENDERS if (item != "kernel before" or before)]
    if name != "q4_0":
        contenders = [item for item in contenders if item != "onnxruntime"]
    spec = {"format": name, "device": device, "before": before, "threads": threads}
    spec["tile"] = tile and [int(part) for part in tile.split("x")]
    spec["options"] = list(options) or ["-DT=float", "-w"]
    for count in rows or tuple(TILES):
        click.echo(f"{name}, {count} x {SIDE} x {SIDE}, {select(device).label}")
        report(measure({item: {**spec, "rows": count, "contender": item} for item in contenders}, rounds))


if __name__ == "__main__":
    main()
