"""`python -m control_flow`: run random programs by gcc and by another executor, and compare the results."""

from __future__ import annotations

import argparse
import pickle
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .executors import EXECUTORS, Failure, Outputs, execute
from .programs import Program, generate
from .statements import Settings


def main() -> int:
    """Return the exit status: 1 if a program fails."""
    options = _options()
    began, failures, count = time.monotonic(), 0, 0
    for programs, expected in _saved(options) if options.check else _new(options):
        found = list(failing(programs, expected, options.executor, options.options, options.seconds))
        for program, reason in found:
            where = f"--check {options.check[0].parent}/*" if options.check else "--count 1"
            print(f"{program.text}\nseed {program.seed}: {reason}")
            print(f"repeat: {where} --seed {program.seed} --executor {options.executor} --options '{options.options}'")
        if options.write and not found:
            options.write.mkdir(parents=True, exist_ok=True)
            (options.write / f"{programs[0].seed:09}").write_bytes(pickle.dumps((programs, expected)))
        failures, count = failures + len(found), count + len(programs)
        print(f"{count} programs, {failures} failures, {time.monotonic() - began:.0f} s", flush=True)
    return 1 if failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m control_flow", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="programs (100)")
    parser.add_argument("--seed", type=int, help="of the first program (1); with --check, only that program")
    parser.add_argument("--batch", type=int, default=12, help="programs in one source (12)")
    parser.add_argument("--executor", choices=EXECUTORS, default="opencl", help="what is compared with gcc (opencl)")
    parser.add_argument("--options", default="", help="for the executor's compiler")
    parser.add_argument("--seconds", type=float, default=120, help="the time limit of a batch (120)")
    parser.add_argument("--matrices", type=float, default=0.5, help="the part of programs with matrices (0.5)")
    parser.add_argument("--goto", type=float, default=0.1, help="the probability of a label in a block (0.1)")
    parser.add_argument("--write", type=Path, metavar="DIR", help="write batches without failures, a file each")
    parser.add_argument("--check", type=Path, nargs="+", metavar="FILE", help="run these batches, without gcc")
    return parser.parse_args()


def _new(options: argparse.Namespace) -> Iterator[tuple[list[Program], Outputs]]:
    settings, first = Settings(matrices=options.matrices, goto=options.goto), options.seed or 1
    seeds = range(first, first + options.count)
    for start in range(0, options.count, options.batch):
        programs = [generate(seed, settings) for seed in seeds[start : start + options.batch]]
        yield programs, execute("gcc", programs)


def _saved(options: argparse.Namespace) -> Iterator[tuple[list[Program], Outputs]]:
    for path in options.check:
        pairs = [p for p in zip(*pickle.loads(path.read_bytes()), strict=True) if options.seed in (None, p[0].seed)]
        if pairs:
            yield [program for program, _ in pairs], [right for _, right in pairs]


def failing(
    programs: list[Program], expected: Outputs, executor: str, options: str = "", seconds: float = 120
) -> Iterator[tuple[Program, str]]:
    """Yield (program, reason) for each failure; if the batch has no results, run its halves."""
    try:
        found = execute(executor, programs, options, seconds)
    except Failure as reason:
        half, alone = len(programs) // 2, list[tuple[Program, str]]()
        for part in (slice(half), slice(half, None)) if half else ():
            alone += failing(programs[part], expected[part], executor, options, seconds)
        together = f"with the next {len(programs) - 1} programs: " if half else ""
        yield from alone or [(programs[0], f"{together}{reason}")]
        return
    for program, mine, right in zip(programs, found, expected, strict=True):
        for number, (a, b) in enumerate(zip(mine, right, strict=True)):
            if (at := np.flatnonzero(a != b)).size:
                yield program, f"array {number}: {at.size} differ, first {at[0]}: {a[at[0]]}, right {b[at[0]]}"
                break


if __name__ == "__main__":
    sys.exit(main())
