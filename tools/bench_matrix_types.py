"""The measurements of `tools/bench-matrix-types`: our code for expressions of matrix types against hand-written code.

The hand-written kernels compute the same expressions with vectors of OpenCL C, on an OpenCL CPU device. Each kernel
works on one matrix (of a large array) per work-item: `mad` is d = a*b + c, `two` is d = a*b + c*e + f, `loop` repeats d
= d*b + c in private memory. The variants run in turns, many times. A ratio is that of medians, above 1 if our code is
faster. The ratios in brackets are of the quartiles that are worst and best for our code. The device uses one thread, so
that other load affects the figures less. The SPIR-V is compared with the hand-written kernels as the device compiles
them from source, and ("alike") by way of SPIR-V: we cannot influence what a device does with SPIR-V. The exit status is
1 if a ratio is below the bound.

With --llvm, each line ends with the time of our SPIR-V over the time of the SPIR-V that LLVM's own pass makes; it is
above 1 if LLVM's is faster.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

# The Intel CPU runtime reads this variable when it is loaded.
os.environ.setdefault("CL_CONFIG_CPU_TBB_NUM_WORKERS", "1")

import coopmat
from coopmat.devices import list_devices, opencl

SIZES = (4, 8, 16)
KERNELS = ("mad", "two", "loop")
REPEATS = 32
# Elements of an array: more than a first-level cache holds. Kernel -> launches of a sample, which takes about 200
# microseconds.
COUNT = 1 << 16
LAUNCHES = {"mad": 8, "two": 6, "loop": 1}
PARAMETERS = ", ".join(["global float *d", *(f"const global float *{name}" for name in "abcef")])
# The noise of the device: equal programs differ by as much.
TOLERANCE = 0.03


def matrix_source(n: int) -> str:
    return f"""
typedef float M __attribute__((matrix_type({n}, {n})));
kernel void mad(global M *d, const global M *a, const global M *b, const global M *c, const global M *e,
                const global M *f)
{{
    size_t i = get_global_id(0);
    d[i] = a[i] * b[i] + c[i];
}}
kernel void two(global M *d, const global M *a, const global M *b, const global M *c, const global M *e,
                const global M *f)
{{
    size_t i = get_global_id(0);
    d[i] = a[i] * b[i] + c[i] * e[i] + f[i];
}}
kernel void loop(global M *d, const global M *a, const global M *b, const global M *c, const global M *e,
                 const global M *f)
{{
    size_t i = get_global_id(0);
    M x = a[i], y = b[i], z = c[i];
    for (int n = 0; n < {REPEATS}; ++n)
        x = x * y + z;
    d[i] = x;
}}
"""


def hand_source(n: int) -> str:
    """Return the hand-written kernels: columns as vectors, whole matrices in registers."""
    product = "x[0] * y.s0" + "".join(f" + x[{k}] * y.s{k:x}" for k in range(1, n))
    return f"""
typedef float{n} V;
#define EACH _Pragma("unroll") for (int j = 0; j < {n}; ++j)
#define READ(m, p) V m[{n}]; EACH m[j] = vload{n}(j, p + i)
#define WRITE(m) EACH vstore{n}(m[j], j, d + i)
inline V times(const V *x, V y) {{ return {product}; }}
kernel void mad({PARAMETERS})
{{
    size_t i = get_global_id(0) * {n * n};
    READ(x, a); READ(y, b); READ(z, c);
    V r[{n}];
    EACH r[j] = times(x, y[j]) + z[j];
    WRITE(r);
}}
kernel void two({PARAMETERS})
{{
    size_t i = get_global_id(0) * {n * n};
    READ(x, a); READ(y, b); READ(z, c); READ(u, e); READ(v, f);
    V r[{n}];
    EACH r[j] = times(x, y[j]) + times(z, u[j]) + v[j];
    WRITE(r);
}}
kernel void loop({PARAMETERS})
{{
    size_t i = get_global_id(0) * {n * n};
    READ(x, a); READ(y, b); READ(z, c);
    for (int n = 0; n < {REPEATS}; ++n) {{
        V r[{n}];
        EACH r[j] = times(x, y[j]) + z[j];
        EACH x[j] = r[j];
    }}
    WRITE(x);
}}
"""


@dataclass(frozen=True)
class Row:
    name: str
    medians: dict[str, float]
    quartiles: dict[str, tuple[float, float]]

    def ratio(self, variant: str, to: str = "hand") -> float:
        return self.medians[to] / self.medians[variant]

    def line(self) -> str:
        parts = [f"{self.name:12s} hand {self.medians['hand'] * 1e6:8.1f} us"]
        parts += [f"{variant} {self._spread(variant, 'hand')}" for variant in ("spirv", "text")]
        parts.append(f"alike {self.ratio('spirv', 'alike'):5.2f}")
        if "llvm" in self.medians:
            parts.append(f"llvm {self._spread('llvm', 'spirv')}")
        return "  ".join(parts)

    def _spread(self, variant: str, to: str) -> str:
        """Return the ratio of two variants' medians, and the ratios of their worst and best quartiles."""
        (low, high), own = self.quartiles[to], self.quartiles[variant]
        return f"{self.ratio(variant, to):5.2f} ({low / own[1]:.2f} to {high / own[0]:.2f})"


def llvm_spirv(source: str, cpu: str) -> bytes:
    """Return the SPIR-V of a source whose matrix types LLVM's own pass lowers, for the vectors of an x86-64 CPU."""
    text = coopmat.compile(source, ["-w", "--dialect", "llvm"]).llvm_ir
    command = [sys.executable, str(Path(__file__).with_name("llvm_matrix_types.py")), cpu]
    return subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True).stdout


class Bench:
    def __init__(self, llvm_cpu: str | None) -> None:
        cl, self.llvm_cpu = opencl(), llvm_cpu
        found = [d for d in list_devices() if d.sub_groups]
        if not found:
            raise click.ClickException("no OpenCL device: pip install 'coopmat[cpu]'")
        if found[0].vector_bits:
            bits, count = found[0].vector_registers
            self.registers = [f"--matrix-registers={bits}x{count}"]
        else:
            self.registers = []
        self.context = cl.Context([found[0].handle])
        self.queue = cl.CommandQueue(self.context)

    def programs(self, n: int) -> dict[str, Any]:
        cl = opencl()
        module = coopmat.compile(matrix_source(n), ["-w", *self.registers])
        texts = {"hand": hand_source(n), "text": module.opencl_c}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cl.CompilerWarning)
            built = {k: cl.Program(self.context, t).build("-cl-std=CL3.0", cache_dir=False) for k, t in texts.items()}
            modules = {"spirv": module.spirv, "alike": coopmat.compile(texts["hand"], ["-w"]).spirv}
            if self.llvm_cpu is not None:
                modules["llvm"] = llvm_spirv(matrix_source(n), self.llvm_cpu)
            for variant, spirv in modules.items():
                built[variant] = cl.Program(self.context, spirv).build(cache_dir=False)
        return built

    def run(self, n: int, names: tuple[str, ...], rounds: int) -> list[Row]:
        cl, programs = opencl(), self.programs(n)
        values = (np.random.default_rng(n).normal(0, 0.5 / n, COUNT)).astype(np.float32)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = [cl.Buffer(self.context, flags, hostbuf=np.roll(values, k)) for k in range(6)]
        rows = []
        for name in names:
            kernels = {variant: getattr(program, name) for variant, program in programs.items()}
            self._check(kernels, buffers, n)
            rows.append(self._measure(f"{name} {n}x{n}", kernels, buffers, n, LAUNCHES[name], rounds))
        return rows

    def _check(self, kernels: dict[str, Any], buffers: list[Any], n: int) -> None:
        results = {}
        for variant, kernel in kernels.items():
            kernel(self.queue, (COUNT // n**2,), None, *buffers)
            results[variant] = np.empty(COUNT, np.float32)
            opencl().enqueue_copy(self.queue, results[variant], buffers[0])
        for variant, result in results.items():
            if not np.allclose(result, results["hand"], rtol=1e-4, atol=1e-5):
                raise click.ClickException(f"{variant}: wrong results at {n}x{n}")

    def _measure(
        self, name: str, kernels: dict[str, Any], buffers: list[Any], n: int, launches: int, rounds: int
    ) -> Row:
        times: dict[str, list[float]] = {variant: [] for variant in kernels}
        for number in range(rounds):
            for variant in list(kernels)[:: 1 if number % 2 else -1]:
                start = time.perf_counter()
                for _ in range(launches):
                    kernels[variant](self.queue, (COUNT // n**2,), None, *buffers)
                self.queue.finish()
                times[variant].append((time.perf_counter() - start) / launches)
        medians = {variant: statistics.median(found) for variant, found in times.items()}
        quarters = {variant: statistics.quantiles(found, n=4) for variant, found in times.items()}
        return Row(name, medians, {variant: (q[0], q[2]) for variant, q in quarters.items()})


@click.command(help=__doc__)
@click.option("--rounds", default=41, show_default=True)
@click.option("--size", "sizes", type=int, multiple=True, default=SIZES, show_default=True)
@click.option("--kernel", "names", type=click.Choice(KERNELS), multiple=True, default=KERNELS, show_default=True)
@click.option("--llvm", "llvm_cpu", metavar="CPU", help="Measure LLVM's own pass, for CPU's vectors (or 'spirv').")
def main(rounds: int, sizes: tuple[int, ...], names: tuple[str, ...], llvm_cpu: str | None) -> None:
    bench, worst = Bench(llvm_cpu), 2.0
    click.echo("hand-written time over ours: medians (and with the worst and best quartiles)")
    for n in sizes:
        for row in bench.run(n, names, rounds):
            click.echo(row.line())
            worst = min(worst, max(row.ratio("spirv"), row.ratio("spirv", "alike")), row.ratio("text"))
    click.echo(f"least ratio {worst:.2f}")
    if worst < 1 - TOLERANCE:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
