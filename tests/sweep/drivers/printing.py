"""printf, whose row has no signatures and whose result goes to standard output."""

from __future__ import annotations

from cases import Driver

DRIVERS = (Driver("printf", lambda o: o.name == "printf", covered_by="tests/runtime/test_printf_on_device.py"),)
