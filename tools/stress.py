"""Build and launch different programs with matrices in many threads of one process, and compare with numpy.

Usage: tools/stress [--threads 32] [--seconds 60]
The exit status is 0 if every result is right, every thread ends, and neither open files nor memory keep growing.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import os
import sys
import tempfile
import threading
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import coopmat
from coopmat.devices import list_devices, opencl

SOURCE = """
#define M(R, C, U) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, R, C, CLK_COOPERATIVE_MATRIX_##U)))
#define ROW CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
typedef T A M(R, K, A); typedef T B M(K, C, B); typedef T S M(R, C, ACCUMULATOR);
kernel void run(global const T *a, global const T *b, global T *c, T factor)
{
    A x = coop_mat_load(a, ROW, K);
    B y = coop_mat_load(b, ROW, C);
    S s = coop_mat_mulAdd(x, y, coop_mat_load(c, ROW, C));
    coop_mat_store(c, s * factor + coop_mat_init((T)ADD), ROW, C);
}
"""
ROUTES = ("one", "lanes", "scratch")
# The growth that is allowed after every thread has built a few programs: a driver keeps memory for each building
# thread.
FILES, MEGABYTES = 8, 150
WARM = 3


@dataclass
class Findings:
    wrong: list[str] = field(default_factory=list)
    launches: int = 0
    builds: dict[int, int] = field(default_factory=dict)


def work(context: Any, seed: int, end: float, findings: Findings, lock: threading.Lock) -> None:
    cl, rng = opencl(), np.random.default_rng(seed)
    queue = cl.CommandQueue(context)
    while time.monotonic() < end:
        rows, columns, k = (int(rng.choice((2, 3, 4, 8))) for _ in range(3))
        name, dtype = (("int", np.int32), ("float", np.float32))[int(rng.integers(2))]
        route, add = ROUTES[int(rng.integers(3))], int(rng.integers(40))
        defines = [f"-DT={name}", f"-DR={rows}", f"-DC={columns}", f"-DK={k}", f"-DADD={add}"]
        try:
            kernel = coopmat.Program(context, SOURCE).build([*defines, "--matrices", route]).run
            for _ in range(8):
                launch(cl, context, queue, kernel, rng, (rows, columns, k), dtype, add)
                with lock:
                    findings.launches += 1
            with lock:
                findings.builds[seed] = findings.builds.get(seed, 0) + 1
        except Exception as error:
            with lock:
                findings.wrong.append(f"{route} {' '.join(defines)}: {type(error).__name__}: {error}")
            return


def launch(
    cl: Any,
    context: Any,
    queue: Any,
    kernel: Any,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    dtype: Any,
    add: int,
) -> None:
    rows, columns, k = shape
    a, b, c = (rng.integers(-9, 10, s).astype(dtype) for s in ((rows, k), (k, columns), (rows, columns)))
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (a, b, c)]
    kernel(queue, kernel.local_size_for_sub_groups(1), None, *buffers, 3)
    got = np.empty_like(c)
    cl.enqueue_copy(queue, got, buffers[2])
    expected = (a @ b + c) * dtype(3) + dtype(add)
    if not np.array_equal(got, expected):
        raise AssertionError(f"wrong result:\n{got}\nnot\n{expected}")


def usage() -> tuple[int, float]:
    """Return the number of open files, and the memory in use in MB, without what the C library keeps for reuse."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return len(list(Path("/proc/self/fd").iterdir())), pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/stress", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    device = next((d for d in list_devices() if d.takes_spirv and d.sub_groups), None)
    if device is None:
        print("no OpenCL device that takes SPIR-V and has subgroups: pip install 'coopmat[cpu]'")
        return 1
    warnings.simplefilter("ignore", opencl().CompilerWarning)
    with tempfile.TemporaryDirectory(prefix="coopmat-stress-") as place:
        os.environ["COOPMAT_CACHE_DIR"] = place
        return run(opencl().Context([device.handle]), arguments.threads, arguments.seconds)


def run(context: Any, count: int, seconds: float) -> int:
    findings, lock, start = Findings(), threading.Lock(), time.monotonic()
    threads = [
        threading.Thread(target=work, args=(context, seed, start + seconds, findings, lock), daemon=True)
        for seed in range(count)
    ]
    for thread in threads:
        thread.start()
    while time.monotonic() < start + seconds and not findings.wrong:
        time.sleep(0.5)
        warm = len(findings.builds) == count and min(findings.builds.values()) >= WARM
        if warm and time.monotonic() > start + seconds / 3:
            break
    early, then = usage(), time.monotonic() - start
    for thread in threads:
        thread.join(max(0.0, start + seconds + 120 - time.monotonic()))
    stuck = sum(thread.is_alive() for thread in threads)
    gc.collect()
    late = usage()
    print("\n".join(findings.wrong[:5]))
    print(
        f"{count} threads, {sum(findings.builds.values())} builds, {findings.launches} launches in"
        f" {time.monotonic() - start:.0f} s: {len(findings.wrong)} wrong, {stuck} stuck;"
        f" open files {early[0]} after {then:.0f} s, {late[0]} at the end;"
        f" memory {early[1]:.0f} MB, {late[1]:.0f} MB"
    )
    grown = late[0] > early[0] + FILES or late[1] > early[1] + MEGABYTES
    return 1 if findings.wrong or stuck or grown or not findings.launches else 0


if __name__ == "__main__":
    sys.exit(main())
