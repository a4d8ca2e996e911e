"""The emulated forms of the vendors' matrix instructions on a device, before numpy: registers are filled and read by
tables of another source. An error in a table or in a formula is found."""

from __future__ import annotations

import numpy as np
import pytest
from vendor_layouts import BITS, USES
from vendor_programs import Experiment, Program, kernels, planted, program

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.matrices.instructions import FAMILIES, INSTRUCTIONS, Instruction, source

ROWS = list(INSTRUCTIONS.values())
IDS = list(INSTRUCTIONS)
# The others repeat the first.
FORMULAS = [
    pytest.param(use, side, marks=[] if (use, side) == ("A", "COLUMN") else [pytest.mark.slow])
    for use in USES
    for side in ("ROW", "COLUMN")
]


@pytest.mark.parametrize("family", FAMILIES)
def test_our_front_end_takes_them(family: str) -> None:
    text = source(family, emulated=True) + kernels(row for row in ROWS if row.family == family)
    assert coopmat.compile(text, ["-cl-std=CL3.0"]).spirv


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_products_are_numpys(device: DeviceInfo, row: Instruction) -> None:
    for seed in range(3):
        experiment = Experiment.random(row, seed)
        assert experiment.is_right(program(device, row.family).result(experiment))


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_two_entries_of_a_table_exchanged_are_found(device: DeviceInfo, row: Instruction, use: str) -> None:
    experiment = Experiment.random(row)
    entries = experiment.tables[use] = experiment.tables[use].copy()
    flat = entries.reshape(-1, 2)
    values = experiment.components[use][flat[:, 0], flat[:, 1]]
    other = np.flatnonzero(values != values[0])[0]
    flat[[0, other]] = flat[[other, 0]]
    assert not experiment.is_right(program(device, row.family).result(experiment))


@pytest.mark.parametrize(("use", "side"), FORMULAS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_wrong_formula_is_found(device: DeviceInfo, family: str, use: str, side: str) -> None:
    # One row for each layout, the last: those before it have fewer rows.
    rows = {(row.lanes, row.n, row.k, BITS[row.a], row.devices): row for row in ROWS if row.family == family}
    wrong = Program(device, list(rows.values()), planted(family, f"_{use}_{side}"))
    for row in rows.values():
        experiment = Experiment.random(row)
        assert not experiment.is_right(wrong.result(experiment)), row.name
