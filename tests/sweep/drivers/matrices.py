"""Cooperative matrices: their rows have no signatures, and tests of their own run every operation of every strategy."""

from __future__ import annotations

from cases import Driver

_PROGRAMS = "tests/matrices"

DRIVERS = (Driver("matrices", lambda o: o.name.startswith(("coop_mat_", "coop_matmul_")), covered_by=_PROGRAMS),)
