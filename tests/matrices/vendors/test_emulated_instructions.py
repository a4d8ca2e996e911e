"""The emulated forms of the vendors' matrix instructions on a device, before numpy: registers are filled and read by
tables of another source. An error in a table or in a formula is found."""

from __future__ import annotations

import numpy as np
import pytest
from repeats import slow_where
from valid_modules import assert_valid
from vendor_layouts import BITS, USES
from vendor_programs import Experiment, Program, kernels, numbers_of, program, rows_of, with_neighbours_exchanged

import coopmat
from coopmat.devices import DeviceInfo
from coopmat.matrices.vendor_instructions import FAMILIES, INSTRUCTIONS, Instruction, source

ROWS = list(INSTRUCTIONS.values())
IDS = list(INSTRUCTIONS)
# The device's compiler takes longest over these, which are tested in the same ways.
LATER = ("dpas", "mfma")
# The others repeat the first.
FORMULAS = [
    pytest.param(use, side, marks=[] if (use, side) == ("A", "COLUMN") else [pytest.mark.slow])
    for use in USES
    for side in ("ROW", "COLUMN")
]


@pytest.mark.parametrize("family", FAMILIES)
def test_our_front_end_takes_them(family: str) -> None:
    text = source(family, emulated=True) + kernels(rows_of(family))
    assert_valid(coopmat.compile(text, ["-cl-std=CL3.0"]))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_our_spirv_gives_numpys_products(device: DeviceInfo, family: str) -> None:
    text = source(family, emulated=True) + kernels(rows_of(family))
    ours = Program(device, coopmat.compile(text, ["-cl-std=CL3.0"]).spirv)
    for row in rows_of(family):
        experiment = Experiment.random(row)
        assert experiment.is_right(ours.result(experiment)), row.name


@pytest.mark.parametrize("row", slow_where(lambda row: row.family in LATER, ROWS), ids=IDS)
def test_products_are_numpys(device: DeviceInfo, row: Instruction) -> None:
    for seed in range(2):
        experiment = Experiment.random(row, seed)
        assert experiment.is_right(program(device, row.family).result(experiment))


# Every function's tables are as right or wrong as its products are: these show that the products tell.
SHOWN = {"cm_mma_m16n8k16_f16_f32", "cm_wmma_gfx11_m16n16k16_f16_f32"}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("row", slow_where(lambda row: row.name not in SHOWN, ROWS), ids=IDS)
def test_two_entries_of_a_table_exchanged_are_found(device: DeviceInfo, row: Instruction, use: str) -> None:
    experiment = Experiment.random(row)
    entries = experiment.tables[use]
    values = experiment.components[use][entries[..., 0], entries[..., 1]]
    first, other = entries[0, 0], entries[values != values[0, 0]][0]
    # All copies of a component are exchanged.
    at_first, at_other = ((entries == place).all(axis=-1, keepdims=True) for place in (first, other))
    experiment.tables[use] = np.where(at_first, other, np.where(at_other, first, entries))
    assert not experiment.is_right(program(device, row.family).result(experiment))


EIGHT_BITS = [
    "cm_wmma_gfx12_m16n16k16_e4m3_f32",
    "cm_wmma_gfx12_m16n16k16_e5m2_f32",
    "cm_mfma_m16n16k32_e4m3fnuz_f32",
    "cm_mfma_m16n16k32_e5m2fnuz_f32",
]


@pytest.mark.parametrize("name", slow_where(lambda name: INSTRUCTIONS[name].family in LATER, EIGHT_BITS))
def test_every_pattern_of_8_bits_is_its_number(device: DeviceInfo, name: str) -> None:
    row = INSTRUCTIONS[name]
    experiment = Experiment.random(row)
    a, b, c = (experiment.components[use] for use in USES)
    # What is multiplied by the identity is A itself; NaNs and infinities make a whole row NaNs.
    a[:], c[:] = 0, 0
    a[:, :16] = np.arange(256, dtype=np.uint8).reshape(16, 16)
    ones = numbers_of(row.b, np.arange(256, dtype=np.uint8)) == 1
    b[:] = np.eye(row.k, 16, dtype=np.uint8) * np.flatnonzero(ones)[0].astype(np.uint8)
    with np.errstate(invalid="ignore"):
        expected = numbers_of(row.a, a) @ numbers_of(row.b, b)
    registers = program(device, row.family).result(experiment)
    rows, columns = np.moveaxis(experiment.tables["C"], -1, 0)
    assert np.array_equal(registers, expected[rows, columns].astype(np.float32), equal_nan=True)


@pytest.mark.parametrize(("use", "side"), FORMULAS)
@pytest.mark.parametrize("family", slow_where(LATER.__contains__, FAMILIES))
def test_a_wrong_formula_is_found(device: DeviceInfo, family: str, use: str, side: str) -> None:
    # One row for each layout, the last: those before it have fewer rows.
    rows = {(row.lanes, row.n, row.k, BITS[row.a], row.devices): row for row in rows_of(family)}
    wrong = Program(device, with_neighbours_exchanged(family, f"_{use}_{side}") + kernels(rows.values()))
    for row in rows.values():
        experiment = Experiment.random(row)
        assert not experiment.is_right(wrong.result(experiment)), row.name
