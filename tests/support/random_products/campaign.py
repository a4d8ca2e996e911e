"""Runs the calls of a range of seeds."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from coopmat.devices import DeviceInfo

from . import draw, invalid
from .execute import Device, Execution

INVALID_EACH = 8
"""One of so many seeds draws an invalid call."""


@dataclass
class Report:
    """The number of calls, and seed -> text of its failure."""

    calls: int = 0
    invalid: int = 0
    failures: dict[int, str] = field(default_factory=dict)


def run(
    device: DeviceInfo, seeds: Iterable[int], say: Callable[[str], None] = print, without: Container[str] = ()
) -> Report:
    """Check the calls of the seeds, and report each failure when it occurs."""
    opened, report = Device(device), Report()
    for seed in seeds:
        is_invalid = seed % INVALID_EACH == INVALID_EACH - 1
        text = check_invalid(opened, seed) if is_invalid else check(opened, seed, without)
        report.calls += 1
        report.invalid += is_invalid
        if text:
            report.failures[seed] = text
            say(f"seed {seed}: {text}")
    return report


def check(device: Device, seed: int, without: Container[str] = ()) -> str:
    """Return the failures of a valid call with its description, or nothing."""
    call = draw.call(seed, without)
    try:
        failures = Execution(device, call).run()
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        failures = [f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"]
    return "\n".join([*failures, str(call)]) if failures else ""


def check_invalid(device: Device, seed: int) -> str:
    """Return the failures of an invalid call with its description, or nothing."""
    call = invalid.base_call(seed)
    execution = Execution(device, call)
    fault = invalid.draw_fault(execution)
    failures = invalid.check(execution, fault)
    return "\n".join([*failures, f"fault: {fault.name}", str(call)]) if failures else ""
