"""Products of matrices against onnxruntime and numpy, each contender in a separate process.

Threads of a pool spin while they wait, and slow down everything else in their process. So each contender is a child
process that waits for a line, runs its product for `TURN` seconds, and answers with the median time. The contenders
take turns, in a new order each time. `contend` prints speeds, and ratios of medians to the first contender, with
quartiles.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

KERNEL = Path(__file__).resolve().parent.parent / "kernels" / "gemm_blocks.cl"
THREADS = 2
TURNS = 7
# The duration of a contender's turn in seconds.
TURN = 0.1
# component type -> padding of rows in components, so that the rows of a column do not share cache lines
PADS = {"s8": 96, "bf16": 48, "f16": 48, "f32": 16}
# component type of A and B -> its name in OpenCL C, that of C's type, and both numpy types, for kernels/gemm_blocks.cl
TYPES: Mapping[str, tuple[str, str, type, type]] = {
    "s8": ("char", "int", np.int8, np.int32),
    "bf16": ("bfloat16", "float", np.uint16, np.float32),
    "f16": ("half", "float", np.float16, np.float32),
    "f32": ("float", "float", np.float32, np.float32),
}
# component type of A and B -> tiles (m, n, k) to try
TILES = {
    "s8": ((160, 96, 192), (96, 96, 192), (96, 96, 96), (60, 96, 240), (64, 64, 256)),
    "bf16": ((96, 96, 96), (64, 64, 128), (48, 48, 96), (12, 32, 16), (8, 32, 16)),
    "f16": ((8, 48, 4), (4, 64, 4), (8, 32, 4)),
    "f32": ((12, 32, 4), (8, 48, 4), (8, 32, 8), (8, 32, 4)),
}


@dataclass(frozen=True)
class Products:
    """One line of the comparison.

    kind: the component type of A and B, a key of TYPES.
    packed: whether B is in the packed layout.
    baselines: the contenders with which our product is compared.
    goal: the required ratio of our speed to the fastest baseline's.
    """

    name: str
    kind: str
    packed: bool
    baselines: tuple[str, ...]
    goal: float


LINES = (
    Products("s8 x s8 -> s32, B row-major", "s8", False, ("onnxruntime u8 x s8",), 0.7),
    Products("s8 x s8 -> s32, B packed", "s8", True, ("onnxruntime u8 x s8",), 0.95),
    Products("bf16 -> f32", "bf16", False, ("onnxruntime f32",), 1.6),
    Products("f16 -> f32", "f16", False, ("onnxruntime f32",), 0.9),
    Products("f32", "f32", False, ("onnxruntime f32", "numpy f32"), 1.0),
)


# --- in child processes ---------------------------------------------------------------------------------


def onnxruntime_product(kind: str, size: int) -> Callable[[], object]:
    """Return a function that runs MatMulInteger (u8, s8) or MatMul (f32) at size^3, with a constant B."""
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper

    rng = np.random.default_rng(0)
    if kind == "s8":
        a, b = rng.integers(0, 9, (size, size)).astype(np.uint8), rng.integers(-3, 4, (size, size)).astype(np.int8)
        operation, types = "MatMulInteger", (TensorProto.UINT8, TensorProto.INT32)
    else:
        a = b = rng.random((size, size)).astype(np.float32)
        operation, types = "MatMul", (TensorProto.FLOAT, TensorProto.FLOAT)
    a_info, c_info = (helper.make_tensor_value_info(n, t, [size, size]) for n, t in zip("ac", types, strict=True))
    node = helper.make_node(operation, ["a", "b"], ["c"])
    graph = helper.make_graph([node], "product", [a_info], [c_info], [onnx.numpy_helper.from_array(b, "b")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"a": a})


def numpy_product(kind: str, size: int) -> Callable[[], object]:
    a = np.random.default_rng(0).random((size, size)).astype(np.float32)
    out = np.empty_like(a)
    return lambda: np.matmul(a, a, out=out)


def own_product(kind: str, size: int, tile: Sequence[int], packed: bool, more: Sequence[str]) -> Callable[[], object]:
    """Return a function that runs kernels/gemm_blocks.cl on the first CPU device, after a check of its result."""
    import coopmat
    from coopmat.devices import opencl

    component, total, numpy_type, numpy_total = TYPES[kind]
    cl, leading, rng = opencl(), size + PADS[kind], np.random.default_rng(1)
    context = coopmat.context()
    queue = cl.CommandQueue(context)
    numbers = [rng.integers(-3, 4, (size, leading)) for _ in range(2)]
    a, b = (_components(kind, matrix, numpy_type) for matrix in numbers)
    options = [f"-DIN={component}", f"-DOUT={total}", f"-DK={size}", *(f"-DLD{m}={leading}" for m in "ABC"), *more]
    options += [f"-DTILE_{name}={value}" for name, value in zip("MNK", tile, strict=True)]
    if packed:
        pack = 4 // a.itemsize
        options.append(f"-DPACKED={pack}")
        b = np.ascontiguousarray(b.reshape(size // pack, pack, leading).transpose(0, 2, 1))
    c = np.zeros((size, leading), numpy_total)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (a, b, c)]
    kernel = coopmat.Program(context, KERNEL.read_text()).build(options).gemm_blocks
    grid = size // tile[0], size // tile[1]

    def run() -> None:
        kernel(queue, grid, (1, 1), *buffers)
        queue.finish()

    run()
    cl.enqueue_copy(queue, c, buffers[2])
    expected = numbers[0][:, :size].astype(np.float64) @ numbers[1][:, :size].astype(np.float64)
    if not np.array_equal(c[:, :size].astype(np.float64), expected):
        raise SystemExit("wrong result")
    return run


def _components(kind: str, numbers: Any, numpy_type: type) -> Any:
    if kind == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return numbers.astype(numpy_type)


def child(arguments: Sequence[str]) -> None:
    """Run a contender: `onnxruntime|numpy KIND SIZE`, or `own KIND SIZE MxNxK PACKED OPTION...`."""
    who, kind, size, *more = arguments
    if who == "own":
        run = own_product(kind, int(size), tuple(map(int, more[0].split("x"))), more[1] == "1", more[2:])
    else:
        run = {"onnxruntime": onnxruntime_product, "numpy": numpy_product}[who](kind, int(size))
    serve(run)


def serve(run: Callable[[], object]) -> None:
    """Print "ready"; for each line of standard input, run for `TURN` seconds and print the median time in seconds."""
    run()
    print("ready", flush=True)
    for _ in sys.stdin:
        run()
        seconds, begin = [], time.perf_counter()
        while len(seconds) < 3 or time.perf_counter() - begin < TURN:
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
        print(statistics.median(seconds), flush=True)


# --- in the parent --------------------------------------------------------------------------------------


def started(
    contenders: Mapping[str, Sequence[str]], script: str = __file__
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start all contenders, and yield (name, process) of those that are ready; for the others, print the reason."""
    for name, arguments in contenders.items():
        process = subprocess.Popen(
            [sys.executable, script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None and process.stderr is not None
        if process.stdout.readline().strip() == "ready":
            yield name, process
        else:
            reason = process.stderr.read().strip().splitlines() or ["no answer"]
            click.echo(f"  {name}: {reason[-1]}")


def turns(processes: Mapping[str, subprocess.Popen[str]], count: int) -> dict[str, list[float]]:
    """Return contender -> seconds of a product in each of `count` turns."""
    seconds: dict[str, list[float]] = {name: [] for name in processes}
    order = random.Random(1)
    for _ in range(count):
        for name in order.sample(list(processes), len(processes)):
            process = processes[name]
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write("go\n")
            process.stdin.flush()
            seconds[name].append(float(process.stdout.readline()))
            time.sleep(0.02)
    for process in processes.values():
        process.communicate()
    return seconds


def contend(line: Products, size: int, options: Sequence[str]) -> None:
    """Print one comparison at size^3: the speed of each tile that divides it, and of the best against the baselines."""
    contenders: dict[str, list[str]] = {name: [name.split()[0], line.kind, str(size)] for name in line.baselines}
    tiles = [tile for tile in TILES[line.kind] if not any(size % extent for extent in tile)]
    for m, n, k in tiles:
        shape = f"{m}x{n}x{k}"
        contenders[f"ours, {shape}"] = ["own", line.kind, str(size), shape, str(int(line.packed)), *options]
    click.echo(f"{line.name}, {size}^3, rows of {size + PADS[line.kind]}")
    seconds = turns(dict(started(contenders)), TURNS)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    theirs = [name for name in medians if name in line.baselines]
    for name, median in medians.items():
        click.echo(f"  {name:24s} {2e-9 * size**3 / median:8.0f} G/s{_ratios(seconds, theirs, name)}")
    ours = [name for name in medians if name not in line.baselines]
    if ours and len(theirs) == len(line.baselines):
        best, against = min(ours, key=medians.__getitem__), min(theirs, key=medians.__getitem__)
        click.echo(f"  best against {against}: {medians[against] / medians[best]:.2f}, goal {line.goal}")


def _ratios(seconds: Mapping[str, list[float]], theirs: Sequence[str], name: str) -> str:
    if not theirs or name in theirs:
        return ""
    ratios = sorted(b / own for b, own in zip(seconds[theirs[0]], seconds[name], strict=True))
    low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
    ratio = statistics.median(seconds[theirs[0]]) / statistics.median(seconds[name])
    return f"   {ratio:5.2f} x {theirs[0]}   (quartiles {low:.2f} to {high:.2f})"


if __name__ == "__main__":
    child(sys.argv[1:])
