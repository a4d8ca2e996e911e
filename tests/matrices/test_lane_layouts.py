"""That each lane layout has every component in one slot of one lane, and all that follows from that."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from repeats import slow_where

from coopmat.matrices import fragments
from coopmat.matrices.lane_layouts import Columns, Fragments, Interleaved, LaneLayout, Term, Whole
from coopmat.matrices.routes import LISTED_ROUTES, LOWERED_ROUTES
from coopmat.matrices.variants import COMPONENT_TYPES, EVERY_COMPONENT_TYPE, MatrixType, Use
from coopmat.matrices.vendor_instructions import FAMILIES

SHAPES = tuple(itertools.product((1, 2, 3, 7, 8, 16, 17, 33, 48), repeat=2))


def check(layout: LaneLayout) -> None:
    """AssertionError where a component has not as many places as copies, or where one of the rules is broken."""
    lanes, slots = np.indices((layout.lanes, layout.slots))
    rows, columns = np.broadcast_arrays(*layout.place(lanes, slots))
    held = (rows < layout.rows) & (columns < layout.columns)
    counts = np.zeros((layout.rows, layout.columns), int)
    np.add.at(counts, (rows[held], columns[held]), 1)
    assert (counts == layout.copies).all()
    # What a lane holds comes first in its slots.
    length = np.broadcast_to(layout.length(np.arange(layout.lanes)), layout.lanes)
    assert (held == (slots < length[:, None])).all()
    assert layout.is_full == held.all()
    # There and back again.
    r, c = np.indices((layout.rows, layout.columns))
    lane, slot = np.broadcast_arrays(*layout.holder(r, c))
    assert (lanes[lane, slot] == lane).all() and (slot < layout.slots).all()
    assert (rows[lane, slot] == r).all() and (columns[lane, slot] == c).all()
    # Copies of a lane's components are in the same slots of others, of which the first is the holder.
    first = np.broadcast_to(layout.first_lane(np.arange(layout.lanes)), layout.lanes)
    assert (rows[first] == rows)[held].all() and (columns[first] == columns)[held].all()
    assert np.isin(lane, first).all() and (first <= np.arange(layout.lanes)).all()
    check_neighbours(layout, lane, slot)
    assert layout.lanes == 1 or not layout.has_vectors
    if isinstance(layout, Whole) and not isinstance(layout, Interleaved):
        assert (slot == r * layout.columns + c).all()


def check_neighbours(layout: LaneLayout, lane: np.ndarray, slot: np.ndarray) -> None:
    """Check the distances to neighbours, and that lane 0 shows which slots of every lane begin their vectors."""
    for down, count in itertools.product((False, True), (2, 4, 8, 16)):
        lanes, slots = (x.T if down else x for x in (lane, slot))
        if slots.shape[1] % count:
            continue
        lanes, slots = (x.reshape(slots.shape[0], -1, count) for x in (lanes, slots))
        distances = layout.neighbours(count, down)
        assert (distances is not None) == (lanes == lanes[:, :, :1]).all()
        if distances is not None:
            assert (slots == slots[:, :, :1] + np.array(distances)).all()
            begins = layout.place(0, np.arange(layout.slots))[not down] % count == 0
            assert np.broadcast_to(begins, layout.slots)[slots[:, :, 0]].all()
            assert not np.broadcast_to(begins, layout.slots)[slots[:, :, 1:]].any()
            if distances == tuple(range(count)):
                assert (slots[:, :, 0] % count == 0).all()


@pytest.mark.parametrize("lanes", [1, 4, 5, 8, 16, 32, 64])
@pytest.mark.parametrize("kind", [Whole, Columns])
def test_every_component_is_held_once(kind, lanes):
    for rows, columns in SHAPES:
        if not kind.has_vectors or lanes == 1:
            check(kind(rows, columns, lanes))


@pytest.mark.parametrize("pack", [2, 4])
def test_packs_of_rows_lie_as_in_the_packed_layout(pack):
    for rows, columns in SHAPES:
        layout = Interleaved(rows * pack, columns, 1, pack)
        check(layout)
        r, c = np.indices((rows * pack, columns))
        stride = columns * pack
        assert (layout.holder(r, c)[1] == r // pack * stride + c * pack + r % pack).all()


# The emulated routes have the layouts of their instructions.
@pytest.mark.parametrize("name", slow_where(lambda name: name.endswith(":emulated"), LISTED_ROUTES[1:]))
def test_every_matrix_is_held(name):
    route = LOWERED_ROUTES[name]
    for lanes in {route.size(8), *(row.lanes for row in route.products)}:
        for component, use, (rows, columns) in itertools.product(COMPONENT_TYPES.values(), Use, SHAPES):
            check(route.lane_layout(MatrixType(component, rows, columns, use), lanes))


FRAGMENTS = {row.name: row for family in FAMILIES for row in fragments.products(family)}


@pytest.mark.parametrize("name", FRAGMENTS)
def test_operands_of_instructions_are_held(name):
    """RDNA3 has A and B twice, and 16 lanes the 8 floats of a row. A lane's part fills the function's registers."""
    product = FRAGMENTS[name]
    copied = (Use.A, Use.B) if product.devices == ("gfx11",) else (Use.A,) if name == "dpas_m1n16k8_tf32_f32" else ()
    for use, types, tile in zip(Use, (product.a, product.b, product.c), product.tiles, strict=True):
        for down, along in ((1, 1), (3, 2), (2, 5)):
            matrix = MatrixType(EVERY_COMPONENT_TYPE[types[0]], tile.rows * down, tile.columns * along, use)
            layout = product.lane_layout(matrix)
            check(layout)
            assert layout.copies == (2 if use in copied else 1)
            assert layout.slots == tile.components * down * along
        for row in product.instructions:
            registers = row.registers[use]
            size = {"int": 4, "uint": 4, "float": 4, "short": 2, "ushort": 2, "double": 8}[registers.element]
            bits = 4 if matrix.component.is_nibble else matrix.component.bits
            assert registers.count * size * 8 == tile.components * bits


@dataclass(frozen=True)
class Wrong(Columns):
    """With one mistake, which `what` names."""

    what: str = ""

    def place(self, lane, slot):
        row, column = super().place(lane, slot)
        if self.what == "two in one place":
            return np.where((lane == 1) & (slot == 0), 0, row), np.where((lane == 1) & (slot == 0), 0, column)
        return (row, column + 1) if self.what == "shifted" else (row, column)

    def holder(self, row, column):
        lane, slot = super().holder(row, column)
        return (lane, slot ^ 1) if self.what == "another slot" else (lane, slot)

    def length(self, lane):
        return super().length(lane) - (self.what == "short")

    def first_lane(self, lane):
        return lane // 2 * 2 if self.what == "copies" else lane


@pytest.mark.parametrize("what", ["two in one place", "shifted", "another slot", "short", "copies"])
def test_a_planted_error_is_found(what):
    check(Wrong(16, 24, 8))
    with pytest.raises((AssertionError, IndexError)):
        check(Wrong(16, 24, 8, what))


def value(text: str, **names: int) -> int:
    """What an expression of OpenCL C gives for integers that are not negative."""
    return int(eval(text.replace("/", "//"), {}, names))


LAYOUTS = (
    Whole(7, 12, 1),
    Interleaved(8, 12, 1, 4),
    Columns(7, 12, 5),
    Columns(16, 32, 16),
    Fragments(32, 48, 32, FRAGMENTS["mma_m16n8k16_f16_f32"].tiles[Use.A]),
    Fragments(16, 32, 32, FRAGMENTS["mma_m16n8k16_f16_f32"].tiles[Use.B]),
    Fragments(32, 16, 64, FRAGMENTS["mfma_m16n16k4_f64_f64"].tiles[Use.ACCUMULATOR]),
    Fragments(32, 16, 32, FRAGMENTS["wmma_gfx11_m16n16k16_f16_f32"].tiles[Use.A]),
)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_the_text_says_the_same(layout):
    macros = layout.macros()
    for lane, slot in itertools.product(range(layout.lanes), range(layout.slots)):
        row, column = (value(macros[name], l=lane, s=slot) for name in ("ROW(l, s)", "COLUMN(l, s)"))
        assert (row, column) == layout.place(lane, slot)
        assert value(macros["HELD"], CM_LANE=lane) == layout.length(lane)
        first = value(macros["FIRST(l)"], l=lane)
        assert first == layout.first_lane(lane)
        if row < layout.rows and column < layout.columns:
            holder = (value(macros[name], r=row, c=column) for name in ("HOLDER(r, c)", "SLOT(r, c)"))
            assert tuple(holder) == (first, slot)


def test_terms_print_their_operators():
    x = Term("x")
    assert str((x + 1) * 2 - x // 3 % 4) == "(((x + 1) * 2) - ((x / 3) % 4))"
    assert str(7 - x) == "(7 - x)"
