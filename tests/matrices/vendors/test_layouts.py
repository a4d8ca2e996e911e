"""The rows of the vendors' instructions and the tables of their registers: what must hold whoever wrote them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from vendor_layouts import BITS, USES, Array, component, shape, table

from coopmat.diagnostics import Diagnostics
from coopmat.frontend.preprocess import PreprocessOptions, preprocess
from coopmat.matrices import fragments
from coopmat.matrices.fragments import products
from coopmat.matrices.lane_layouts import Tile
from coopmat.matrices.variants import Use
from coopmat.matrices.vendor_instructions import FAMILIES, INSTRUCTIONS, Instruction, source

ROWS = list(INSTRUCTIONS.values())
IDS = list(INSTRUCTIONS)
SIZES = {"char": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4, "double": 8}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_every_component_is_held_equally_often(row: Instruction, use: str) -> None:
    entries, (rows, columns) = table(row, use), shape(row, use)
    counts = np.zeros((rows, columns), int)
    np.add.at(counts, (entries[..., 0], entries[..., 1]), 1)
    assert counts.min() == counts.max() == copies(row, use)
    # Copies are lanes apart, not in one lane.
    for lane in entries:
        assert len({tuple(place) for place in lane}) == len(lane)


def copies(row: Instruction, use: str) -> int:
    """How many lanes hold a component."""
    # Where dpas has a single row, the upper half of the subgroup has none of its own.
    single = row.a == "tf32" and (row.m, use) == (1, "A")
    return 2 if single or (row.devices == ("gfx11",) and use != "C") else 1


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_registers_have_room_for_just_the_components(row: Instruction, use: str) -> None:
    registers = {"A": row.a_registers, "B": row.b_registers, "C": row.c_registers}[use]
    lanes, components, _ = table(row, use).shape
    assert lanes == row.lanes
    assert components * BITS[component(row, use)] == 8 * SIZES[registers.element] * registers.count


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("emulated", [False, True])
def test_both_forms_have_the_signatures_of_the_rows(family: str, emulated: bool) -> None:
    text = preprocess(source(family, emulated), "vendor.cl", PreprocessOptions(), Diagnostics()).to_text()
    heads = re.findall(r"static inline (\w+)\s+(cm_\w+)\s*\((\w+) a, (\w+) b, (\w+) c\)", text)
    signatures = [f"{c} {name}({a} a, {b} b, {of_c} c)" for c, name, a, b, of_c in heads]
    assert sorted(signatures) == sorted(row.signature for row in ROWS if row.family == family)


def test_names_say_shapes_and_types() -> None:
    for row in ROWS:
        assert f"_m{row.m}n{row.n}k{row.k}_{row.a}" in row.name and row.name.endswith(f"_{row.c}")
        assert row.name.count("_") == len({row.a, row.b}) + 3 + row.name.count("_gfx"), row.name
        assert row.devices and row.citation


LAYOUTS = [
    *((product.tiles, product.instructions[0]) for family in FAMILIES for product in products(family)),
    # The language has no tf32, and its layouts are there.
    *((fragments._dpas(row), row) for row in ROWS if (row.family, row.a) == ("dpas", "tf32")),
]
TILES = [
    pytest.param(tiles[Use["ACCUMULATOR" if use == "C" else use]], row, use, id=f"{row.name}-{use}")
    for tiles, row in LAYOUTS
    for use in USES
]


def places(tile: Tile, lanes: int) -> Array:
    """What the lane layout says: of each lane's components, row and column."""
    numbers = np.indices((lanes, tile.components))
    return np.stack(np.broadcast_arrays(*tile.place(*numbers)), -1)


@pytest.mark.parametrize(("tile", "row", "use"), TILES)
def test_lane_layouts_are_what_the_tables_say(tile: Tile, row: Instruction, use: str) -> None:
    """Entry by entry; two exchanged digits of a lane, or of a slot, are seen."""
    entries = table(row, use)
    assert (places(tile, row.lanes) == entries).all()
    assert tile.copies == copies(row, use)
    for digits in ("lanes", "slots"):
        exchanged = getattr(tile, digits)[::-1]
        if len(exchanged) > 1:
            assert (places(replace(tile, **{digits: exchanged}), row.lanes) != entries).any()
    # Rows for columns, of one shape or of another, is no layout of the matrix.
    shifted = tuple(replace(digit, row=digit.column, column=digit.row) for digit in tile.lanes)
    with pytest.raises(ValueError, match="does not hold each component"):
        replace(tile, lanes=shifted)


@pytest.mark.parametrize("copies", [1, 4])
def test_copies_are_declared(copies: int) -> None:
    """RDNA3's A is held by two lanes each; the layout that says otherwise, or says nothing, is refused."""
    (tile, *_), *_ = (p.tiles for p in products("wmma") if p.devices == ("gfx11",))
    with pytest.raises(ValueError, match=f"does not hold each component {copies} times"):
        replace(tile, copies=copies)
