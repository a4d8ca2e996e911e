"""The wimpy run on the device: every operation in both modes, by every lowering."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from repeats import slow_where

from coopmat.cts.operations import OPERATIONS

ROOT = Path(__file__).parents[2]


# The table of cases (tests/matrices/test_table.py) has each operation on each route, from OpenCL C.
QUICK = (("one", "spirv"),)


@pytest.mark.parametrize(
    ("route", "mode"), slow_where(lambda *pair: pair not in QUICK, product(("one", "lanes", "scratch"), ("c", "spirv")))
)
def test_a_few_variants_of_every_operation_pass(route, mode, device, tmp_path):
    command = ["cts", f"{mode}_*", "--wimpy", "--route", route, "--device", device.index, "--json", "results.json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "coopmat", *command], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, "\n".join([*done.stdout.splitlines()[-120:], done.stderr])
    report = json.loads((tmp_path / "results.json").read_text())
    wanted = {f"{mode}_{operation.name}" for operation in OPERATIONS.values() if mode in operation.modes}
    assert {test["test"] for test in report["tests"]} == wanted
    assert {test["status"] for test in report["tests"]} == {"passed"}
    assert report["totals"]["passed"] == report["planned"] > 4 * len(wanted)
    assert done.stdout.splitlines()[-1] == f"PASSED {len(wanted)} of {len(wanted)} tests."
