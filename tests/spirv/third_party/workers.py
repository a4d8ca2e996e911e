"""Processes that each run some modules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .cases import case
from .execution import ROUTES, Case, Runner, find_device

_Result = tuple[int, str, list[str], list[str]]


def run_chunk(work: tuple[list[int], int, str | None]) -> list[_Result]:
    numbers, seed, keep = work
    device = find_device()
    assert device is not None
    runner = Runner(device)
    return [_run(runner, number, seed, keep) for number in numbers]


def _run(runner: Runner, number: int, seed: int, keep: str | None) -> _Result:
    try:
        made = case(number, seed)
        faults = [f"{' '.join(route)}: {fault}" for route in ROUTES for fault in _faults(runner, made, route)]
        if faults and keep:
            (Path(keep) / f"{number}.spv").write_bytes(made.spirv)
        return number, made.name, faults, sorted(made.features)
    except Exception as error:  # what a tool or the device says counts as a fault of this module
        return number, f"module {number}", [f"{type(error).__name__}: {error}"], []


def _faults(runner: Runner, made: Case, route: tuple[str, ...]) -> Iterator[str]:
    try:
        yield from runner.faults(made, route)
    except Exception as error:
        yield f"{type(error).__name__}: {str(error)[:1500]}"
