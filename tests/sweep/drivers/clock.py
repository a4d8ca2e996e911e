"""The clock, of which no two reads are equal."""

from __future__ import annotations

from cases import Driver

DRIVERS = (
    Driver("clock", lambda o: o.name.startswith("clock_read_"), covered_by="tests/runtime/test_kernel_clock.py"),
)
