"""Attention, and products with weights of 4 bits, against numpy and onnxruntime (see `bench_contenders`).

Attention: 8 heads, 1024 x 64, causal and not. It is compared with three kernels that exchange data by buffers
(attention_steps.cl), with numpy in float32, and with onnxruntime's MultiHeadAttention.
Weights: Q4_0 of 4096 x 4096, by 1, 32 and 512 rows. They are compared with numpy's product with weights that were
decoded before, and with weights that are decoded each time.
Each contender is a separate process. Ratios are of medians, with quartiles.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import bench_contenders
import click
import numpy as np

TOOLS = Path(__file__).resolve().parent
KERNELS = TOOLS.parent / "kernels"
HEADS, LENGTH, HEAD = 8, 1024, 64
WEIGHTS = 4096
# Rows of a work-item's tile of attention. Number of inputs -> tiles (rows, columns, depth) of products with weights.
ATTENTION_ROWS = (32, 64)
TILES: Mapping[int, tuple[tuple[int, int, int], ...]] = {
    1: ((16, 1, 64), (32, 1, 128)),
    32: ((16, 32, 32), (32, 32, 64)),
    512: ((32, 128, 64), (128, 64, 64), (128, 128, 32)),
}
# number of inputs -> goals (with weights decoded before, with weights decoded each time)
GOALS = {1: (1.5, 1.5), 32: (0.6, 1.5), 512: (0.6, 1.5)}


# --- attention ------------------------------------------------------------------------------------------


def _heads() -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.uniform(-1, 1, (HEADS, LENGTH, HEAD)).astype(np.float16) for _ in range(3)]


def attention(q: Any, k: Any, v: Any, causal: bool) -> Any:
    """Return the result of attention in float32."""
    scores = q @ k.swapaxes(1, 2) * np.float32(HEAD**-0.5)
    if causal:
        scores = np.where(np.tri(LENGTH, dtype=bool), scores, np.float32(-np.inf))
    parts = np.exp(scores - scores.max(2, keepdims=True))
    return parts @ v / parts.sum(2, keepdims=True)


def numpy_attention(causal: bool, *_: str) -> Callable[[], object]:
    q, k, v = (x.astype(np.float32) for x in _heads())
    return lambda: attention(q, k, v, causal)


def onnxruntime_attention(causal: bool, *_: str) -> Callable[[], object]:
    import onnxruntime
    from onnx import TensorProto, helper

    inputs = {
        n: x.astype(np.float32).swapaxes(0, 1).reshape(1, LENGTH, -1) for n, x in zip("qkv", _heads(), strict=True)
    }
    shape = [1, LENGTH, HEADS * HEAD]
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in "qkvo"]
    node = helper.make_node(
        "MultiHeadAttention", list("qkv"), ["o"], domain="com.microsoft", num_heads=HEADS, unidirectional=int(causal)
    )
    graph = helper.make_graph([node], "attention", infos[:3], infos[3:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 9
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = bench_contenders.THREADS
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs)


def own_attention(causal: bool, how: str, rows: str) -> Callable[[], object]:
    """Return a function that runs flash_attention.cl, or the kernels of attention_steps.cl if `how` is "steps".

    The result is checked before.
    """
    import coopmat
    from coopmat.devices import opencl

    cl, heads, height = opencl(), _heads(), int(rows)
    context = coopmat.context()
    queue = cl.CommandQueue(context)
    read_write = cl.mem_flags.READ_WRITE
    q, k, v = (cl.Buffer(context, read_write | cl.mem_flags.COPY_HOST_PTR, hostbuf=x) for x in heads)
    out = np.empty((HEADS, LENGTH, HEAD), np.float32)
    o = cl.Buffer(context, read_write, out.nbytes)
    file = TOOLS / "attention_steps.cl" if how == "steps" else KERNELS / "flash_attention.cl"
    options = [f"-DLENGTH={LENGTH}", f"-DD={HEAD}", f"-DROWS={height}", *["-DCAUSAL"] * causal, "--matrices", "auto"]
    program = coopmat.Program(context, file.read_text()).build(options)
    calls = [("flash_attention", (q, k, v, o))]
    if how == "steps":
        s, p = (cl.Buffer(context, read_write, HEADS * LENGTH * LENGTH * size) for size in (4, 2))
        calls = [("scores", (q, k, s)), ("softmax", (s, p)), ("weighted", (p, v, o))]
    kernels = [(getattr(program, name), buffers) for name, buffers in calls]

    def run() -> None:
        for kernel, buffers in kernels:
            kernel(queue, (LENGTH // height, HEADS), (1, 1), *buffers)
        queue.finish()

    run()
    cl.enqueue_copy(queue, out, o)
    expected = attention(*(x.astype(np.float32) for x in heads), causal)
    if np.abs(out - expected).max() > 2e-3:
        raise SystemExit("wrong result")
    return run


# --- weights of 4 bits ----------------------------------------------------------------------------------


def _weights(inputs: int) -> tuple[Any, Any]:
    """Return a square matrix of blocks Q4_0, and `inputs` rows of halves."""
    rng = np.random.default_rng(1)
    blocks = np.zeros((WEIGHTS, WEIGHTS // 32), dtype=[("factor", "f2"), ("pairs", "u1", (16,))])
    blocks["factor"] = rng.uniform(-0.1, 0.1, blocks.shape)
    blocks["pairs"] = rng.integers(0, 256, (*blocks.shape, 16))
    return blocks, rng.uniform(-1, 1, (inputs, WEIGHTS)).astype(np.float16)


def decoded(blocks: Any) -> Any:
    pairs = blocks["pairs"]
    bits = np.concatenate([pairs & 15, pairs >> 4], axis=2).astype(np.float32) - np.float32(8)
    return (bits * blocks["factor"].astype(np.float32)[..., None]).reshape(WEIGHTS, WEIGHTS)


def numpy_weights(inputs: int, how: str) -> Callable[[], object]:
    blocks, x = _weights(inputs)
    x, weights = x.astype(np.float32), decoded(blocks)
    if how == "decoded":
        return lambda: x @ weights.T
    return lambda: x @ decoded(blocks).T


def own_weights(inputs: int, tile: str) -> Callable[[], object]:
    """Return a function that runs kernels/gemm_q4.cl; its result is checked before."""
    import coopmat
    from coopmat.devices import opencl

    cl, (blocks, x) = opencl(), _weights(inputs)
    context = coopmat.context()
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    out = np.zeros((inputs, WEIGHTS), np.float32)
    buffers = [cl.Buffer(context, flags, hostbuf=a) for a in (blocks, x, out)]
    extents = tuple(map(int, tile.split("x")))
    options = [f"-D{n}={value}" for n, value in zip(("ROWS", "COLUMNS", "DEPTH"), extents, strict=True)]
    options += [f"-DM={inputs}", f"-DN={WEIGHTS}", f"-DK={WEIGHTS}", "--matrices", "auto"]
    kernel = coopmat.Program(context, (KERNELS / "gemm_q4.cl").read_text()).build(options).gemm_q4

    def run() -> None:
        kernel(queue, (WEIGHTS // extents[0], inputs // extents[1]), (1, 1), *buffers)
        queue.finish()

    run()
    cl.enqueue_copy(queue, out, buffers[2])
    expected = x.astype(np.float32) @ decoded(blocks).T
    if np.abs(out - expected).max() > 1e-3 * np.abs(expected).max():
        raise SystemExit("wrong result")
    return run


# --- turns ----------------------------------------------------------------------------------------------


_CONTENDERS: Mapping[str, Callable[..., Callable[[], object]]] = {
    "attention-numpy": numpy_attention,
    "attention-onnxruntime": onnxruntime_attention,
    "attention-own": own_attention,
    "weights-numpy": numpy_weights,
    "weights-own": own_weights,
}


def compare_attention(causal: bool) -> None:
    """Print the comparison for one kind of attention."""
    first = str(int(causal))
    contenders = {"numpy f32": ["attention-numpy", first], "onnxruntime f32": ["attention-onnxruntime", first]}
    for rows in ATTENTION_ROWS:
        contenders[f"three kernels, {rows}"] = ["attention-own", first, "steps", str(rows)]
        contenders[f"ours, {rows}"] = ["attention-own", first, "one", str(rows)]
    click.echo(f"attention, {HEADS} heads, {LENGTH} x {HEAD}{', causal' if causal else ''}")
    _compare(contenders, {"three kernels": 1.3, "numpy": 3.0, "onnxruntime": 0.8})


def compare_weights(inputs: int) -> None:
    """Print the comparison for `inputs` rows of inputs."""
    contenders = {
        "numpy, decoded before": ["weights-numpy", str(inputs), "decoded"],
        "numpy, with decoding": ["weights-numpy", str(inputs), "decoding"],
    }
    for tile in TILES[inputs]:
        shape = "x".join(map(str, tile))
        contenders[f"ours, {shape}"] = ["weights-own", str(inputs), shape]
    click.echo(f"Q4_0 weights of {WEIGHTS} x {WEIGHTS}, {inputs} rows")
    before, each = GOALS[inputs]
    _compare(contenders, {"numpy, decoded": before, "numpy, with": each})


def _compare(contenders: Mapping[str, Sequence[str]], goals: Mapping[str, float]) -> None:
    seconds = bench_contenders.turns(dict(bench_contenders.started(contenders, __file__)), bench_contenders.TURNS)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    for name, median in medians.items():
        click.echo(f"  {name:24s} {median * 1e3:8.2f} ms")
    own = min((name for name in medians if name.startswith("ours")), key=medians.__getitem__)
    for word, goal in goals.items():
        theirs = [name for name in medians if name.startswith(word)]
        if theirs:
            best = min(theirs, key=medians.__getitem__)
            ratios = sorted(b / a for a, b in zip(seconds[own], seconds[best], strict=True))
            low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
            ratio = medians[best] / medians[own]
            click.echo(f"  {own} against {best}: {ratio:.2f} (quartiles {low:.2f} to {high:.2f}), goal {goal}")


def main() -> None:
    for causal in (False, True):
        compare_attention(causal)
    for inputs in TILES:
        compare_weights(inputs)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        who, number, *more = sys.argv[1:]
        bench_contenders.serve(_CONTENDERS[who](int(number), *more))
    else:
        main()
