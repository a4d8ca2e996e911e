"""Programs as LLVM IR of other dialects, also optimised by LLVM: read, lowered, run on a device, against numpy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from matrix_programs import Target, run
from matrix_table import execution, table
from matrix_table.axes import NATIVE, targets
from test_programs_on_device import THEMES

import coopmat
from coopmat.devices import DeviceInfo

sys.path.append(str(Path(__file__).parents[1] / "ir"))
from optimise import optimised

TARGETS = (Target("one", 1), Target("lanes", 16))
compile_source = coopmat.compile


def through(dialect: str, passes: str) -> Callable[..., coopmat.Module]:
    """A compiler by way of IR: the source as native IR, that as `dialect` and through `passes`, which is read back."""

    def compile(source: str, options: Sequence[str] = (), *, name: str) -> coopmat.Module:
        text = compile_source(source, ["--dialect", dialect], name=name).llvm_ir
        text = optimised(text, passes) if passes else text
        return compile_source(text, options, name="cases.ll", language="ir")

    return compile


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize(("dialect", "passes"), [("rfc", "O1"), ("clang", "sroa")])
def test_programs(
    device: DeviceInfo, target: Target, dialect: str, passes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coopmat, "compile", through(dialect, passes))
    for name in ("functions", "structures", "control", "sub_groups"):
        run(device, target, list(THEMES[name](np.random.default_rng(7), target))[:2])


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_operations(device: DeviceInfo, target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """A selection of what native matrices can do, as IR of the dialect rfc; bfloat16 has no lowering there yet."""
    chosen = table.covering((*targets(device), NATIVE), 0)
    there = {row.name for row in table.rows_on(target.route)}
    rows = [row for where, row in chosen if where == NATIVE and row.name in there and "bf16" not in row.name][::8]
    assert len(rows) > 15
    monkeypatch.setattr(coopmat, "compile", through("rfc", ""))
    found = execution.Runner(device, 0).run(target, rows)
    assert not found, "\n".join(map(str, found))
