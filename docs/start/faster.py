"""Measure the steps of faster.md in turns. One command writes the times, the figure, and the table of the page:

python docs/start/faster.py             # on an idle machine: faster.json, faster.svg, and the table of faster.md
python docs/start/faster.py --render    # the figure and the table again, from faster.json
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
SIZE = 1024


@dataclass(frozen=True)
class Step:
    """A way to compute relu(A B + bias). new: what differs from the step before. options: those of faster.cl."""

    new: str
    options: str

    def value(self, name: str) -> int:
        """Return the value of a macro among the options."""
        return int(re.findall(rf"-D{name}=(\d+)", self.options)[0])


STEPS = {
    "plain": Step("tiles of 16 x 16 x 16", "-DT=half -DM=16 -DN=16 -DK=16 -DSTRIDE=1024"),
    "tile": Step("tiles of 64 x 64 x 64", "-DT=half -DM=64 -DN=64 -DK=64 -DSTRIDE=1024"),
    "layout": Step("rows at distances of 1040", "-DT=half -DM=64 -DN=64 -DK=64 -DSTRIDE=1040"),
    "packing": Step("bfloat16 in pairs", "-DT=bfloat16 -DM=64 -DN=64 -DK=256 -DSTRIDE=1040 -DPACKED"),
    "epilogue": Step(
        "bias and relu in the same kernel", "-DT=bfloat16 -DM=64 -DN=64 -DK=256 -DSTRIDE=1040 -DPACKED -DEPILOGUE"
    ),
    "linalg": Step("a call of `coopmat.linalg.gemm`", ""),
}


def bfloat16(array: Any) -> Any:
    """Return the numbers as bfloat16, which is the upper half of a float; numpy has no such type."""
    return (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def with_stride(array: Any, stride: int) -> Any:
    """Return the matrix with unused components at the end of each row."""
    return np.pad(array, ((0, 0), (0, stride - array.shape[1])))


def in_pairs(array: Any) -> Any:
    """Return the matrix with two rows in one: the two components of a column are neighbours."""
    return array.reshape(SIZE // 2, 2, SIZE).transpose(0, 2, 1).reshape(SIZE // 2, 2 * SIZE)


class Layer:
    """The data on the device, and the steps as functions."""

    def __init__(self) -> None:
        import pyopencl as cl

        import coopmat

        self.context = coopmat.context()
        self.queue = cl.CommandQueue(self.context)
        # Multiples of 1/8 are exact in half and bfloat16, and sums of 1024 of their products are exact in float.
        self.a, self.b = (np.random.default_rng(seed).integers(-8, 9, (SIZE, SIZE)) / 8 for seed in (1, 2))
        bias = (np.arange(SIZE) % 16 - 8).astype(np.float32)
        self.right = np.maximum(self.a @ self.b + bias, 0)
        self.bias = self.on_device(bias)
        self.c = self.on_device(np.zeros((SIZE, SIZE), np.float32))

    def on_device(self, array: Any) -> Any:
        """Return a copy in the device's memory."""
        import pyopencl.array

        return pyopencl.array.to_device(self.queue, np.ascontiguousarray(array))

    def by_kernels(self, step: Step) -> Callable[[], None]:
        """Return a function that launches the kernels of faster.cl."""
        import coopmat

        program = coopmat.Program(self.context, HERE / "faster.cl").build(f"-Wno-matrix-performance {step.options}")
        multiply, add_bias = program.multiply, program.add_bias
        convert = bfloat16 if "bfloat16" in step.options else np.float16
        stride, is_packed = step.value("STRIDE"), "PACKED" in step.options
        a = self.on_device(with_stride(convert(self.a), stride))
        b = convert(self.b)
        b = self.on_device(with_stride(in_pairs(b), 2 * stride) if is_packed else with_stride(b, stride))
        sg = multiply.sub_group_size(self.queue.device)
        sizes = (SIZE // step.value("N") * sg, SIZE // step.value("M"))

        def run() -> None:
            multiply(self.queue, sizes, (sg, 1), a.data, b.data, self.bias.data, self.c.data)
            if "EPILOGUE" not in step.options:
                add_bias(self.queue, (SIZE * SIZE,), None, self.bias.data, self.c.data)

        return run

    def by_linalg(self) -> Callable[[], None]:
        """Return a function that calls coopmat.linalg. B is constant, so it is copied once."""
        import coopmat.linalg

        a, b = (self.on_device(bfloat16(array)) for array in (self.a, self.b))
        packed = coopmat.linalg.pack(self.queue, b, dtype_b="bf16")

        def run() -> None:
            coopmat.linalg.gemm(self.queue, a, packed, self.c, bias=self.bias, activation="relu", dtype_a="bf16")

        return run

    def functions(self) -> dict[str, Callable[[], None]]:
        """Return name -> function of each step. Each has computed the right result once."""
        found = {name: self.by_kernels(step) if step.options else self.by_linalg() for name, step in STEPS.items()}
        for name, function in found.items():
            self.c.fill(0)
            function()
            np.testing.assert_array_equal(self.c.get(), self.right, err_msg=name)
        return found


def measure(turns: int) -> dict[str, Any]:
    """Return the times of all steps, which take turns, with the machine and the date."""
    import coopmat

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0  # of the last minute, before this script works
    layer = Layer()
    functions = layer.functions()
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(-3, turns):  # the first three are to warm up
        for name, function in functions.items():
            function()  # the step before has left other data in the caches
            layer.queue.finish()
            start = time.perf_counter()
            function()
            layer.queue.finish()
            if turn >= 0:
                seconds[name].append(time.perf_counter() - start)
    device = layer.queue.device
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "machine": f"{device.name.strip()}, {device.max_compute_units} compute units",
        "driver": f"{device.platform.name.strip()} {device.driver_version}",
        "coopmat": coopmat.__version__,
        "load": round(load, 1),
        "turns": turns,
        "steps": {name: summary(seconds["plain"], own) for name, own in seconds.items()},
    }


def summary(plain: list[float], own: list[float]) -> dict[str, Any]:
    """Return the median time of a step, and the median and quartiles of the plain step's time divided by it."""
    low, median, high = statistics.quantiles([a / b for a, b in zip(plain, own, strict=True)], n=4)
    times_as_fast = {"median": round(median, 2), "quartiles": [round(low, 2), round(high, 2)]}
    return {"milliseconds": round(statistics.median(own) * 1e3, 2), "times_as_fast": times_as_fast}


def table(result: dict[str, Any]) -> str:
    """Return the times as a table of Markdown, with a sentence about the machine and one about the last step."""
    lines = ["| step | what is new | ms | times as fast as the plain kernel (quartiles) |", "|---|---|---|---|"]
    for name, row in result["steps"].items():
        faster, (low, high) = row["times_as_fast"]["median"], row["times_as_fast"]["quartiles"]
        spread = "" if name == "plain" else f" ({low:.1f} to {high:.1f})"
        lines.append(f"| {name} | {STEPS[name].new} | {row['milliseconds']:.1f} | {faster:.1f}{spread} |")
    own, call = (result["steps"][name]["milliseconds"] for name in ("epilogue", "linalg"))
    comment = "The call needs the least code, and it is the fastest here."
    if call > own:
        comment = (
            "The call needs the least code, but the kernel is faster here: the tiles of `coopmat.linalg` were chosen\n"
            "on another processor. [`coopmat tune`](../linalg.md#tune-the-tiles-for-your-device) finds those for yours."
        )
    machine = f"{result['machine']}, {result['driver']}, {result['date']}; medians of {result['turns']} turns."
    if result["load"] > 0.5:
        machine += f"\nThe machine was busy: its load was {result['load']}."
    return "\n".join([*lines, "", machine, comment]) + "\n"


def picture(result: dict[str, Any]) -> str:
    """Return a bar for each step's time, as SVG."""
    rows, longest = result["steps"], max(row["milliseconds"] for row in result["steps"].values())
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="560" height="{24 * len(rows) + 8}" font-family="sans-serif" '
        'font-size="13" role="img">',
        "<title>Time of each step in ms; shorter bars are faster</title>",
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for i, (name, row) in enumerate(rows.items()):
        y, width = 24 * i + 6, 330 * row["milliseconds"] / longest
        text = f"{row['milliseconds']:.1f} ms, {row['times_as_fast']['median']:.1f} x"
        lines.append(f'<text x="70" y="{y + 14}" text-anchor="end">{name}</text>')
        lines.append(f'<rect x="78" y="{y}" width="{width:.1f}" height="19" fill="#777"/>')
        lines.append(f'<text x="{84 + width:.1f}" y="{y + 14}">{text}</text>')
    return "\n".join([*lines, "</svg>", ""])


def page(text: str, result: dict[str, Any]) -> str:
    """Return the page with the table of these times."""
    begin, end = "<!-- table: faster -->\n", "<!-- end -->"
    before, _, rest = text.partition(begin)
    return before + begin + table(result) + end + rest.partition(end)[2]


def main() -> None:
    """Measure if that is wanted, and write everything that follows from the times."""
    parser = argparse.ArgumentParser(description="Measure the steps of docs/start/faster.md.")
    parser.add_argument("--render", action="store_true", help="do not measure: use faster.json")
    parser.add_argument("--turns", type=int, default=40, help="how often each step is measured")
    arguments = parser.parse_args()
    file = HERE / "faster.json"
    if not arguments.render:
        file.write_text(json.dumps(measure(arguments.turns), indent=2) + "\n", encoding="utf-8")
    result = json.loads(file.read_text(encoding="utf-8"))
    (HERE / "faster.svg").write_text(picture(result), encoding="utf-8")
    path = HERE / "faster.md"
    path.write_text(page(path.read_text(encoding="utf-8"), result), encoding="utf-8")
    print(table(result))


if __name__ == "__main__":
    main()
