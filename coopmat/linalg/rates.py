"""Measurements of a device, in a separate process (`coopmat.devices.probe`), which keeps the answers in the cache."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from coopmat.devices import DeviceInfo, probe
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType

from . import products
from .kernels import build_peak
from .parameters import Tiling, force, instruction_of

# Seconds before a measurement: the system needs about half a second to spread a process's threads over the processors.
_WARM_UP = 0.5
_LEAST = 9  # runs that are timed
_MEMORY_BYTES = 1 << 28
_MOST_OPERATIONS = 2e10  # of a product that is measured; a larger one is predicted from one with fewer rows


class NotMeasured(RuntimeError):
    """An exception that reports that a measurement failed, or ended its process."""


@dataclass(frozen=True)
class Rates:
    """What a device reaches. bandwidth: bytes read or written per second; launch: seconds of an empty launch."""

    bandwidth: float
    launch: float


def rates_of(device: DeviceInfo) -> Rates:
    """Return what the device's memory and launches reach. Raises NotMeasured."""
    return Rates(*_ask(device, "memory", {}))


def peak_of(device: DeviceInfo, types: tuple[ComponentType, ...], tiling: Tiling, *, anew: bool = False) -> float:
    """Return the operations per second of products of tiles that stay in a cache, or in registers. Raises NotMeasured.

    CPUs read one operand of a multiply-add from the cache. Other devices are as fast only from registers; but there,
    a compiler could leave out sums of integers that no instruction computes.

    types: the component types of A, B and the sums. A multiply-add is two operations.
    anew: whether to measure even if the cache has the rate. It is too low if other programs ran at that time.
    """
    is_safe = not types[2].is_integer or bool(instruction_of(device.handle, types, tiling))
    question = {"types": [item.name for item in types[:3]], "tiling": asdict(tiling)}
    return float(_ask(device, "peak", question | {"in_registers": device.kind != "CPU" and is_safe}, anew=anew))


def seconds_of(
    device: DeviceInfo,
    types: tuple[ComponentType, ...],
    shape: tuple[int, int, int, int],
    tiling: Tiling,
    *,
    trans_b: bool = False,
) -> float:
    """Return the seconds of `gemm` by a tiling, from the call to its end. Raises NotMeasured, also for wrong results.

    types: the component types of A, B and C. shape: (matrices in the batch, m, n, k), none of them 0.
    trans_b: whether B is stored as n x k.
    """
    batch, m, n, k = shape
    part = max(1, min(m, int(_MOST_OPERATIONS / (2 * batch * n * k))))
    names = [types[i].name for i in (0, 1, -1)]
    question = {"types": names, "shape": [batch, part, n, k], "tiling": asdict(tiling)}
    return float(_ask(device, "product", question | ({"trans_b": True} if trans_b else {}))) * m / part


def _ask(device: DeviceInfo, function: str, question: dict[str, Any], *, anew: bool = False) -> Any:
    text = json.dumps(question, sort_keys=True)
    answer = probe.ask(device, f"{__name__}:{function}", text, time_limit=180, anew=anew)
    if answer.failure:
        raise NotMeasured(answer.failure)
    return answer.value


# The kernel `read` adds up `count` vectors for each work-group.
_READ = """
kernel void empty() {}
__attribute__((reqd_work_group_size(1, 1, 1)))
kernel void read(const global float16 *source, global float16 *sums, uint count)
{
    source += get_group_id(0) * (size_t)count;
    float16 sum[4] = {0};
    for (uint i = 0; i + 4 <= count; i += 4)
        for (uint j = 0; j < 4; ++j) sum[j] += source[i + j];
    sums[get_group_id(0)] = sum[0] + sum[1] + sum[2] + sum[3];
}
"""

# --- in the separate process -----------------------------------------------------------------------------------


def memory(device: DeviceInfo, _question: str) -> list[float]:
    """Measure a copy of memory, and an empty launch; on a CPU, also reading, as a copy may use one core only."""
    context, queue = _open(device)
    size = min(_MEMORY_BYTES, device.handle.max_mem_alloc_size // 4)
    source, target = (cl.Buffer(context, cl.mem_flags.READ_WRITE, size) for _ in range(2))
    cl.enqueue_fill_buffer(queue, source, b"\0", 0, size).wait()
    copied = _seconds(queue, lambda: cl.enqueue_copy(queue, target, source), best=True)
    program = cl.Program(context, _READ).build()
    empty, read, units = program.empty, program.read, int(device.handle.max_compute_units)
    rate = 2 * size / copied
    if device.kind == "CPU":
        count = np.uint32(size // 64 // units)
        seconds = _seconds(queue, lambda: read(queue, (units,), (1,), source, target, count), best=True)
        rate = max(rate, size / seconds)
    return [rate, _seconds(queue, lambda: empty(queue, (1,), (1,)))]


def peak(device: DeviceInfo, question: str) -> float:
    """Measure the operations per second of peak.cl."""
    spec = json.loads(question)
    types, tiling = [COMPONENT_TYPES[name] for name in spec["types"]], Tiling.from_dict(spec["tiling"])
    _context, queue = _open(device)
    launch, operations = build_peak(queue, tuple(types), tiling, in_registers=spec["in_registers"])
    times, seconds = 1000, 0.0
    while seconds < 0.02 and times < 1 << 30:
        times *= 4
        start = time.perf_counter()
        launch(times)
        queue.finish()
        seconds = time.perf_counter() - start
    return operations * times / _seconds(queue, partial(launch, times), best=True)


def product(device: DeviceInfo, question: str) -> float:
    """Measure a product by one tiling, and compare some of its rows with numpy's. Raises ArithmeticError."""
    spec = json.loads(question)
    bench = Bench(device, spec["types"], spec["shape"], trans_b=spec.get("trans_b", False))
    bench.use(Tiling.from_dict(spec["tiling"]))
    return _seconds(bench.queue, bench.run)


class Bench:
    """A product of matrices of small random numbers, computed by one tiling after another. Not for several threads.

    types: the component types of A, B and C. shape: (matrices in the batch, m, n, k), none of them 0.
    trans_b: whether B is stored as n x k.
    """

    def __init__(
        self, device: DeviceInfo, types: Sequence[str], shape: Sequence[int], *, trans_b: bool = False
    ) -> None:
        a_type, b_type, self._c_type = (COMPONENT_TYPES[name] for name in types)
        (batch, m, n, k), random = shape, np.random.default_rng(0)
        a, x = _numbers(random, a_type, (batch, m, k))
        b, y = _numbers(random, b_type, (batch, k, n))
        self._context, self.queue = _open(device)
        stored = np.ascontiguousarray(b.swapaxes(1, 2)) if trans_b else b
        self._a, self._b = (pyopencl.array.to_device(self.queue, item) for item in (a, stored))
        words = {f"dtype_{name}": t.name for name, t in (("a", a_type), ("b", b_type)) if t.is_bits}
        self._words: dict[str, Any] = {"trans_b": trans_b, **words}
        self._out = pyopencl.array.empty(self.queue, (batch, m, n), self._c_type.numpy)
        # row -> its expected numbers. A type of less than 32 bits may not represent them.
        rows = {0, m // 2, m - 1} if self._c_type.bits >= 32 else set()
        self._expected = {row: (x[:, row : row + 1] @ y)[:, 0] for row in rows}

    def use(self, tiling: Tiling | None) -> None:
        """Choose a tiling, and compute the product. Raises ArithmeticError if some rows differ from numpy's."""
        self.choose(tiling)
        self._out.fill(0)
        self.run()
        computed = self._out.get()
        for row, numbers in self._expected.items():
            if not np.array_equal(computed[:, row], numbers):
                raise ArithmeticError(f"row {row} differs from numpy's")

    def choose(self, tiling: Tiling | None) -> None:
        """Compute the following products by a tiling, or as the library does without this class."""
        force(tiling)
        products.forget_launches()

    def run(self) -> None:
        """Enqueue the product."""
        products.gemm(self.queue, self._a, self._b, self._out, out_dtype=self._c_type.name, **self._words)
        self._out.events.clear()


def _numbers(random: np.random.Generator, component: ComponentType, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return small whole numbers, whose products are exact, as an array for the device and for numpy."""
    from coopmat.matrices.numpy_reference import narrow

    whole = random.integers(0 if component.name.startswith("u") else -2, 3, shape)
    return narrow(component, whole.astype(np.float64)), whole.astype(np.float64)


def _open(device: DeviceInfo) -> tuple[Any, Any]:
    context = cl.Context([device.handle])
    return context, cl.CommandQueue(context)  # a queue of some drivers does not keep its context


def _seconds(queue: Any, run: Callable[[], object], *, best: bool = False) -> float:
    """Return the median of the seconds from a call until the queue is empty, or their minimum with `best`."""
    begin = time.perf_counter()
    times: list[float] = []
    while len(times) < _LEAST or time.perf_counter() - begin < 2 * _WARM_UP:
        start = time.perf_counter()
        run()
        queue.finish()
        end = time.perf_counter()
        if start - begin >= _WARM_UP or end - start > _WARM_UP / _LEAST:
            times.append(end - start)
    return min(times) if best else statistics.median(times)
