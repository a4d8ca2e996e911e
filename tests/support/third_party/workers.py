"""Child processes that run a few modules each: if a device's compiler crashes or hangs, each module is run alone.

`python -m third_party.workers SEED KEEP NUMBER...` prints a line of JSON for each module: name, faults, features.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from opencl_devices import full_device

from .cases import case
from .execution import ROUTES, Case, Runner

Result = tuple[str, list[str], list[str]]
# The limit in seconds for a module on all routes.
_LIMIT = 90.0


def run_chunk(numbers: Sequence[int], seed: int, keep: str) -> list[Result]:
    """Run modules in a child process, and return the result of each."""
    command = [sys.executable, "-m", "third_party.workers", str(seed), keep, *map(str, numbers)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT * len(numbers), check=True)
        return [(name, faults, features) for name, faults, features in map(json.loads, done.stdout.splitlines())]
    except (subprocess.SubprocessError, ValueError) as error:
        if len(numbers) > 1:
            return [result for number in numbers for result in run_chunk([number], seed, keep)]
        return [(f"module {numbers[0]}", [f"the process died or hung: {str(error)[-200:]}"], [])]


def _run(runner: Runner, number: int, seed: int, keep: str) -> Result:
    try:
        made = case(number, seed)
    except Exception as error:  # any error of a tool counts as a fault of this module
        return f"module {number}", [f"{type(error).__name__}: {error}"], []
    faults = [f"{' '.join(route)}: {fault}" for route in ROUTES for fault in _faults(runner, made, route)]
    if faults and keep:
        (Path(keep) / f"{number}.spv").write_bytes(made.spirv)
    return made.name, faults, sorted(made.features)


def _faults(runner: Runner, made: Case, route: tuple[str, ...]) -> Iterator[str]:
    try:
        yield from runner.faults(made, route)
    except Exception as error:  # a rejection by the compiler, or the device's error
        yield f"{type(error).__name__}: {str(error)[:1500]}"


def main() -> None:
    seed, keep, *numbers = sys.argv[1:]
    runner = Runner(full_device())
    for number in numbers:
        print(json.dumps(_run(runner, int(number), int(seed), keep)), flush=True)


if __name__ == "__main__":
    main()
