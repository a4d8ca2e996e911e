"""Modules made from LLVM IR in some dialect, perhaps optimized: kernels of the table of matrix cases."""

from __future__ import annotations

import zlib

from matrix_programs import PRELUDE, Target
from matrix_table import table
from optimise import optimised

import coopmat
from coopmat.foreign.llvm_ir import DIALECTS

from .execution import Case
from .memory import Buffer

# Operations that native modules stage in local memory, for subgroups of one size only.
_LEFT_OUT = {"checked", "private", "packed"}
_NATIVE = Target("native", 16)


def from_ir(seed: int) -> Case:
    """Return a row of the table for one subgroup, chosen by the seed."""
    rows = [row for row in table.rows_on("native") if row.sub_groups == 1 and not row.parts & _LEFT_OUT]
    # LLVM has no types for these.
    rows = [row for row in rows if not any(t in f"{row.name} {row.keys}" for t in ("e4m3", "e5m2"))]
    rows.sort(key=lambda row: zlib.crc32(row.name.encode()))
    row, dialect, passes = rows[seed % len(rows)], DIALECTS[seed % len(DIALECTS)], ("", "O1", "O2")[seed // 3 % 3]
    plan = row.plan(_NATIVE, seed)
    text = coopmat.compile(PRELUDE + plan.named("k"), ["--dialect", dialect], name="row.cl").llvm_ir
    text = optimised(text, passes) if passes else text
    spirv = coopmat.compile(text, name="row.ll", language="ir").spirv
    checks = {check.number: check.fault for check in plan.checks}
    buffers = [Buffer(array, checks.get(n)) for n, array in enumerate(plan.buffers)]
    return Case(f"ir {seed}: {row.name} {dialect} {passes}", spirv, buffers, features={"ir", dialect, passes or "O0"})
