"""The measurements of `tools/bench-compile`: time and memory of compilations, each compared with a bound.

With `--long`, against clang, in turns: a long source (`long_source`) with its headers unknown and known, all of
tests/kernels in one process, and short kernels. clang always runs as a whole process.

Without `--long`:

1. Generated sources of 1,000, 5,000 and 20,000 lines, warm, each size in a separate process: time of the stages and in
total, source lines per second to the canonical IR, peak memory of the compiler and of the emitter.
2. `coopmat compile` of 100 lines and `import coopmat`, each in a new process.

Times are medians. CPU time is the sum over all processes, and is more reliable than wall time if others use the
machine. The exit status is 1 if a bound is exceeded.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import long_source
from generated_source import generate

import coopmat
from coopmat.spirv import emit

STAGES = ("preprocess", "parse", "analyse", "lower", "emit", "legalize", "validate")
SMALL, LARGE = 1_000, 20_000
# lines -> rounds
ROUNDS = {SMALL: 15, 5_000: 5, LARGE: 3}
COLD_LINES, COLD_ROUNDS = 100, 9


@dataclass(frozen=True)
class Bound:
    """A bound on a figure: an upper bound, or a lower bound if `at_least`."""

    what: str
    limit: float
    unit: str
    at_least: bool = False

    def holds(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value < self.limit

    def line(self, value: float) -> str:
        verdict = "ok    " if self.holds(value) else "BROKEN"
        sign = ">=" if self.at_least else "<"
        return f"  {verdict} {self.what:64s} {value:8.2f} {self.unit} ({sign} {self.limit:g})"


# --- one size, in a separate process ----------------------------------------------------------------


def _cpu() -> float:
    """Return the seconds of CPU time of this process, its children and their children."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + ended.ru_utime + ended.ru_stime
    for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        # Read utime, stime, cutime and cstime, which follow the name; the name may contain blanks.
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


def _peak() -> int:
    """Return the peak resident memory in KiB; unlike getrusage, without the memory that the parent had at the fork."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def measure(lines: int, rounds: int) -> dict[str, Any]:
    """Measure compilations of a source of `lines` lines, and return name -> figure.

    The figures are milliseconds of each stage, in total (`wall`, `cpu`) and up to the canonical IR (`ir`, CPU time),
    and KiB of memory.
    """
    emit.start()
    coopmat.compile(generate(COLD_LINES, seed=2), ["--no-validate"]).spirv  # noqa: B018
    source = generate(lines)
    coopmat.compile(source, ["--no-validate"]).spirv  # noqa: B018
    # After its end, and before spirv-val runs, the largest child process is the emitter's fork.
    emit.stop()
    memory = {"compiler": _peak(), "emitter": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}
    coopmat.compile(generate(COLD_LINES, seed=2)).spirv  # noqa: B018
    stages: list[dict[str, float]] = []
    walls, to_ir = [], []
    cpu = _cpu()
    for _ in range(rounds):
        gc.collect()
        start, start_cpu = time.perf_counter(), time.process_time()
        module = coopmat.compile(source)
        module.llvm_ir  # noqa: B018
        to_ir.append(time.process_time() - start_cpu)
        module.spirv  # noqa: B018
        walls.append(time.perf_counter() - start)
        stages.append(module.timings)
        del module
    cpu = (_cpu() - cpu) / rounds
    result = {stage: statistics.median(times[stage] for times in stages) for stage in STAGES}
    result |= {"wall": statistics.median(walls), "cpu": cpu, "ir": statistics.median(to_ir)}
    return {**{name: seconds * 1e3 for name, seconds in result.items()}, **memory}


# --- all sizes -----------------------------------------------------------------------------------


def bench_sizes() -> list[tuple[Bound, float]]:
    found: dict[int, dict[str, Any]] = {}
    click.echo("generated sources, warm; milliseconds to SPIR-V; lines a second to the canonical IR, on one core")
    click.echo(" lines " + "".join(f"{name:>11s}" for name in (*STAGES, "wall", "CPU")) + "    lines/s  peak memory")
    for lines, rounds in ROUNDS.items():
        command = [sys.executable, __file__, "--one", str(lines), "--rounds", str(rounds)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        row = found[lines] = json.loads(done.stdout)
        times = "".join(f"{row[name]:11.1f}" for name in (*STAGES, "wall", "cpu"))
        memory = f"{row['compiler'] / 1024:.0f} + {row['emitter'] / 1024:.0f} MB"
        click.echo(f"{lines:6d} {times} {_speed(lines, row):10.0f}  {memory}")

    def ratio(*names: str) -> float:
        large, small = (sum(found[lines][name] for name in names) for lines in (LARGE, SMALL))
        return float(large / small)

    growth = f"{LARGE:,} lines to {SMALL:,}: "
    unvalidated = [name for name in STAGES if name != "validate"]
    click.echo(
        f"  {growth}wall time {ratio('wall'):.2f} x, of the stages without validation {ratio(*unvalidated):.2f} x"
    )
    slowest = min(_speed(lines, row) for lines, row in found.items())
    memory = (found[LARGE]["compiler"] + found[LARGE]["emitter"]) / 1024
    return [
        (Bound(f"{growth}CPU time of the whole, validated", 22, "x"), ratio("cpu")),
        (Bound("source lines a second to the canonical IR, the slowest size", 1000, "", at_least=True), slowest),
        (Bound(f"peak memory at {LARGE:,} lines, compiler and emitter", 410, "MB"), memory),
    ]


def _speed(lines: int, row: dict[str, Any]) -> float:
    return float(lines / row["ir"] * 1e3)


# --- from the start of a process -----------------------------------------------------------------


def _run(command: list[str]) -> tuple[float, float]:
    """Run a command, and return its seconds of wall and of CPU time."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)  # hide its warnings
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bench_cold() -> list[tuple[Bound, float]]:
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "generated.cl"
        source.write_text(generate(COLD_LINES), encoding="utf-8")
        program = [sys.executable, "-m", "coopmat", "compile", str(source), "-o", f"{source}.spv"]
        commands = {
            "compile": program,
            "import": [sys.executable, "-c", "import coopmat"],
            "python": [sys.executable, "-c", ""],
        }
        for command in commands.values():
            _run(command)  # writes the .pyc files and the grammar's tables
        times = {name: [_run(command) for _ in range(COLD_ROUNDS)] for name, command in commands.items()}
    wall, cpu = ({n: statistics.median(t[i] for t in times[n]) for n in commands} for i in (0, 1))
    click.echo(f"\nfrom the start of a process, median of {COLD_ROUNDS}; seconds")
    for name, what in (("compile", f"coopmat compile, {COLD_LINES} lines"), ("python", "python alone")):
        click.echo(f"  {what:32s} wall {wall[name]:.3f}   CPU {cpu[name]:.3f}")
    return [
        (Bound(f"`coopmat compile` of {COLD_LINES} lines, wall time", 0.3, "s"), wall["compile"]),
        (Bound("`import coopmat`, wall time beyond python's own", 0.25, "s"), wall["import"] - wall["python"]),
    ]


# --- against clang -------------------------------------------------------------------------------


ROOT = Path(__file__).resolve().parents[1]
CLANG = ("clang-19", "-x", "cl", "-cl-std=CL3.0", "-target", "spir64", "-w", "-emit-llvm", "-S", "-o", os.devnull)
LONG_ROUNDS, KERNEL_ROUNDS, TOGETHER = 5, 9, 10
COMPILE = """
import sys
import coopmat
for name in sys.argv[1:]:
    with open(name) as file:
        coopmat.compile(file.read(), ["-w", "--no-validate", "-I", name.rpartition("/")[0]], name=name).spirv
"""


@dataclass(frozen=True)
class Row:
    """Two measurements taken in turns, in (wall, CPU) seconds, and the upper bound for the ratio of their medians."""

    what: str
    goal: float
    ours: list[tuple[float, float]]
    clangs: list[tuple[float, float]]

    def lines(self) -> str:
        text = f"  {self.what}\n"
        for name, at in (("wall", 0), ("CPU", 1)):
            ours, clangs = ([times[at] for times in rows] for rows in (self.ours, self.clangs))
            a, b = statistics.median(ours), statistics.median(clangs)
            spread = ", ".join(f"{min(times):.3f} to {max(times):.3f}" for times in (ours, clangs))
            verdict = "ok    " if a / b <= self.goal else "MISSED"
            text += f"    {verdict} {name:4s} {a / b:6.2f} x (<= {self.goal:g})  {a:.3f} s to {b:.3f} s  ({spread})\n"
        return text


def _clang(*names: str) -> tuple[float, float]:
    """Return the total seconds of wall and of CPU time of clang for all files, one after the other."""
    times = [_run([*CLANG, "-I", str(Path(name).parent), name]) for name in names]
    return sum(wall for wall, _ in times), sum(cpu for _, cpu in times)


def _warm(names: list[str]) -> tuple[float, float]:
    """Return the total seconds of wall and of CPU time of compilations in this process, which has already compiled."""
    wall, cpu = time.perf_counter(), _cpu()
    for name in names:
        coopmat.compile(Path(name).read_text(encoding="utf-8"), ["-w", "--no-validate"], name=name).spirv  # noqa: B018
    return time.perf_counter() - wall, _cpu() - cpu


def bench_long(optimised: bool) -> list[Row]:
    global CLANG
    if not optimised:
        CLANG = (*CLANG, "-O0")
    rows: dict[str, tuple[float, list[tuple[float, float]], list[tuple[float, float]]]] = {}

    def add(what: str, goal: float, ours: tuple[float, float], clangs: tuple[float, float]) -> None:
        _, mine, others = rows.setdefault(what, (goal, [], []))
        mine.append(ours)
        others.append(clangs)

    with tempfile.TemporaryDirectory() as place:
        main = long_source.write(Path(place))
        os.environ["COOPMAT_CACHE_DIR"] = f"{place}/cache"
        command = [sys.executable, "-m", "coopmat", "compile", "--no-validate"]
        program = [*command, "-w", str(main), "-o", f"{place}/a.spv"]
        _run([sys.executable, "-c", COMPILE])
        _run([*command, str(ROOT / "kernels/saxpy.cl"), "-o", os.devnull])
        for number in range(LONG_ROUNDS):
            # Change the header each time, so that its preamble is unknown; only the grammar's tables are cached.
            types = main.with_name("types.h")
            types.write_text(f"{types.read_text()}// {number}\n")
            ours, clangs = _run(program), _clang(str(main))
            add("a long source, `coopmat compile`, headers unknown", 6, ours, clangs)
            add("the same, headers known", 2, _run(program), clangs)
    kernels = [str(path) for path in sorted((ROOT / "tests/kernels").glob("*.cl"))]
    saxpy = [str(ROOT / "kernels/saxpy.cl")]
    _warm(kernels)
    for _ in range(KERNEL_ROUNDS):
        clangs = _clang(*kernels)
        add("tests/kernels, one process from its start", 2, _run([sys.executable, "-c", COMPILE, *kernels]), clangs)
        add("tests/kernels, warm", 2, _warm(kernels), clangs)
        wall, cpu = _warm(saxpy * TOGETHER)
        add("kernels/saxpy.cl, warm", 0.4, (wall / TOGETHER, cpu / TOGETHER), _clang(*saxpy))
        # Time several compilations together: the clock of CPU time is too coarse for one.
        matrices = ["-DN=512", "-DK=512"]
        source = (ROOT / "kernels/gemm_f16.cl").read_text()
        wall, cpu = time.perf_counter(), _cpu()
        for _ in range(TOGETHER):
            coopmat.compile(source, ["--no-validate", *matrices]).spirv  # noqa: B018
        ours = (time.perf_counter() - wall) / TOGETHER, (_cpu() - cpu) / TOGETHER
        plain = _run([*CLANG, *matrices, "-DT=16", str(ROOT / "kernels/gemm_tiled.cl")])
        add("kernels/gemm_f16.cl, warm, to gemm_tiled.cl by clang", 0.4, ours, plain)
    return [Row(what, *row) for what, row in rows.items()]


@click.command()
@click.option("--long", "is_long", is_flag=True, help="Measure against clang-19, with a long source, too.")
@click.option("--clang-o0", is_flag=True, help="Without the optimisations that clang has on for OpenCL C.")
@click.option("--one", type=int, hidden=True, help="Measure this many lines, and print JSON.")
@click.option("--rounds", type=int, default=1, hidden=True)
def main(is_long: bool, clang_o0: bool, one: int | None, rounds: int) -> None:
    """Measure how the time and memory of a compilation grow with the source."""
    if is_long:
        click.echo("against clang-19 to LLVM IR, in turns; ratios of medians, and the least and greatest times")
        for row in bench_long(not clang_o0):
            click.echo(row.lines(), nl=False)
        return
    if one is not None:
        click.echo(json.dumps(measure(one, rounds)))
        return
    figures = [*bench_sizes(), *bench_cold()]
    click.echo("\nbounds")
    for bound, value in figures:
        click.echo(bound.line(value))
    if not all(bound.holds(value) for bound, value in figures):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
