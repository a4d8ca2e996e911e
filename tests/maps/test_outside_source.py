"""Maps against the package tensor-layouts, entry by entry: NVIDIA, AMD and Intel. Its atoms are layouts of CuTe.

Where the package describes something else than a work-item's registers, the test says what, and by which source:

- mma: no difference (PTX ISA, "Matrix Fragments for mma").
- mfma: the package numbers the lanes block first, lane = block + blocks * thread; its own text, the guides of CDNA
  ("Matrix Arithmetic Instructions") and AMD's matrix instruction calculator have lane = block * 16 + thread. It gives
  the first block's part of K to all blocks ("broadcast"); in the guides each block has the next part.
- wmma: the lanes are numbered in the same way. Its atoms RDNA3 are what the guide of RDNA4 says ("Wave Matrix Multiply
  Accumulate"). By that section of RDNA3's guide, both halves of the lanes hold whole rows of A and columns of B, and a
  lane has every second row of C. Its atoms RDNA4 have K = 32, which gfx12 does not have.
- dpas: the package has the instruction of the hardware (Intel Graphics Compiler, "DPAS"), in which K counts registers
  of 32 bits and all channels read A. In cl_intel_subgroup_matrix_multiply_accumulate ("New OpenCL C Functions"), K
  counts components, and each work-item passes its columns of A. Its names of the devices have each other's size.
- AMX: the package has the order of components of the formula, by columns, not of the tiles' bytes (Intel's SDM,
  volume 1, "Tile Architecture"), in which the rows of B are interleaved.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from coopmat.maps import lane_map
from coopmat.matrices.variants import COMPONENT_TYPES, MatrixType, Use

pytest.importorskip("tensor_layouts", reason="no tensor-layouts: pip install 'coopmat[test]'")
from tensor_layouts import atoms_amd, atoms_amx, atoms_nv, atoms_xe

ATOMS = {
    name: atom
    for module in (atoms_nv, atoms_amd, atoms_xe, atoms_amx)
    for name, atom in vars(module).items()
    if type(atom).__name__ == "MMAAtom"
}


def atom_table(name: str, use: Use) -> np.ndarray:
    """(row, column) of each component: an array of shape (lanes, slots, 2)."""
    atom = ATOMS[name]
    m, n, _ = atom.shape_mnk
    layout = (atom.a_layout, atom.b_layout, atom.c_layout)[use]
    lanes, slots = (int(np.prod(np.array(_flat(shape)))) for shape in layout.shape)
    at = np.array([[layout(lane, slot) for slot in range(slots)] for lane in range(lanes)])
    first = n if use is Use.B else m
    return np.stack((at // first, at % first) if use is Use.B else (at % first, at // first), axis=-1)


def _flat(shape: object) -> list[int]:
    return [number for part in shape for number in _flat(part)] if isinstance(shape, tuple) else [shape]  # type: ignore[list-item]


def own_table(rows: int, columns: int, use: Use, component: str, route: str, lanes: int | None = None) -> np.ndarray:
    """The same of a map by the route of one generation of devices."""
    made = lane_map(MatrixType(COMPONENT_TYPES[component], rows, columns, use), route, lanes)
    assert made.product is not None or route == "x86"
    table = np.full((made.lane_layout.lanes, made.lane_layout.slots, 2), -1)
    for lane, slot, row, column in made.places:
        table[lane, slot] = row, column
    assert table.min() >= 0
    return table


def shape(name: str, use: Use) -> tuple[int, int]:
    m, n, k = ATOMS[name].shape_mnk
    return ((m, k), (k, n), (m, n))[use]


def lanes_by_block(table: np.ndarray, blocks: int) -> np.ndarray:
    """The table with lanes numbered block * threads + thread, of one with block + blocks * thread."""
    lanes, slots, _ = table.shape
    return table.reshape(lanes // blocks, blocks, slots, 2).swapaxes(0, 1).reshape(table.shape)


NVIDIA = re.compile(r"SM(75|80|89)_(\d+)x(\d+)x(\d+)_(F16|F32|F64|S32)(F16|BF16|F64|S8|U8|E4M3|E5M2)\6\5_TN")
# Instructions that coopmat does not use: others with twice the K exist on the same devices.
UNUSED = ("SM80_16x8x16_S32S8S8S32_TN", "SM80_16x8x8_F32BF16BF16F32_TN")
MMA = [
    (name, match[6].lower(), match[5].lower(), f"mma@sm_{match[1]}")
    for name in sorted(ATOMS)
    if (match := NVIDIA.fullmatch(name)) and name not in UNUSED
]


@pytest.mark.parametrize("use", Use)
@pytest.mark.parametrize(("name", "a", "c", "route"), MMA, ids=[row[0] for row in MMA])
def test_nvidia(name: str, a: str, c: str, route: str, use: Use) -> None:
    component = c if use is Use.ACCUMULATOR else a
    np.testing.assert_array_equal(own_table(*shape(name, use), use, component, route), atom_table(name, use))


def test_every_instruction_of_nvidia_is_compared() -> None:
    assert {ATOMS[row[0]].shape_mnk for row in MMA} == {(16, 8, 8), (8, 8, 16), (16, 8, 16), (8, 8, 4), (16, 8, 32)}


MFMA = [
    ("CDNA_16x16x16_F32F16F16_MFMA", "f16", "f32", "gfx908"),
    ("CDNA_16x16x8_F32BF16BF16_MFMA", "bf16", "f32", "gfx908"),
    ("CDNA_16x16x16_F32BF16BF16_1K_MFMA", "bf16", "f32", "gfx90a"),
    ("CDNA_16x16x16_I32I8I8_MFMA", "s8", "s32", "gfx90a"),
    ("CDNA_16x16x4_F64F64F64_MFMA", "f64", "f64", "gfx90a"),
    ("CDNA3_16x16x16_F32F16F16_MFMA", "f16", "f32", "gfx942"),
    ("CDNA3_16x16x32_I32I8I8_MFMA", "s8", "s32", "gfx942"),
]


@pytest.mark.parametrize("use", Use)
@pytest.mark.parametrize(("name", "a", "c", "device"), MFMA, ids=[row[0] for row in MFMA])
def test_cdna(name: str, a: str, c: str, device: str, use: Use) -> None:
    own = own_table(*shape(name, use), use, c if use is Use.ACCUMULATOR else a, f"mfma@{device}")
    theirs = lanes_by_block(atom_table(name, use), 4)
    if use is not Use.ACCUMULATOR:
        along = 1 if use is Use.A else 0
        each = ATOMS[name].shape_mnk[2] // 4
        theirs[..., along] += each * (np.arange(64) // 16)[:, None]
    np.testing.assert_array_equal(own, theirs)


WMMA = [("F32F16F16", "f16", "f32"), ("F32BF16BF16", "bf16", "f32"), ("I32I8I8", "s8", "s32")]


@pytest.mark.parametrize("use", Use)
@pytest.mark.parametrize(("types", "a", "c"), WMMA)
def test_rdna(types: str, a: str, c: str, use: Use) -> None:
    name = f"RDNA3_16x16x16_{types}_WMMA"
    component = c if use is Use.ACCUMULATOR else a
    rdna3, rdna4 = (own_table(*shape(name, use), use, component, f"wmma@{device}") for device in ("gfx11", "gfx12"))
    theirs = lanes_by_block(atom_table(name, use), 2)
    np.testing.assert_array_equal(rdna4, theirs)
    half = np.arange(32)[:, None] // 16
    if use is Use.ACCUMULATOR:
        theirs[..., 0] = 2 * (theirs[..., 0] - 8 * half) + half
        np.testing.assert_array_equal(rdna3, theirs)
    else:
        # Lanes l and l + 16 each hold what the package divides between them.
        both = np.concatenate([theirs[:16], theirs[16:]], axis=1)
        np.testing.assert_array_equal(rdna3, np.concatenate([both, both]))


DPAS = [
    ("XeHPC_8x8x8_F32F16F16_DPAS", "f16", "f32", "dg2"),
    ("XeHPC_8x8x8_I32I8I8_DPAS", "s8", "s32", "dg2"),
    ("XeHPG_8x16x8_F32F16F16_DPAS", "f16", "f32", "pvc"),
    ("XeHPG_8x16x8_F32BF16BF16_DPAS", "bf16", "f32", "pvc"),
    ("XeHPG_8x16x8_I32I8I8_DPAS", "s8", "s32", "pvc"),
]


@pytest.mark.parametrize(("name", "a", "c", "device"), DPAS, ids=[row[0] for row in DPAS])
def test_intel_gpus(name: str, a: str, c: str, device: str) -> None:
    m, n, channels = ATOMS[name].shape_mnk
    packed = 32 // COMPONENT_TYPES[a].bits
    k, route = channels * packed, f"dpas@{device}"
    accumulator = own_table(m, n, Use.ACCUMULATOR, c, route, n)
    np.testing.assert_array_equal(accumulator, atom_table(name, Use.ACCUMULATOR))
    # A register has `packed` components of one column of B.
    b = own_table(k, n, Use.B, a, route, n).reshape(n, channels, packed, 2)
    theirs = atom_table(name, Use.B)[:, :, None] * (packed, 1) + np.array([(e, 0) for e in range(packed)])
    np.testing.assert_array_equal(b, theirs)
    # The instruction reads the same registers of A in all channels; the work-items pass them together, each once.
    places = own_table(m, k, Use.A, a, route, n).reshape(-1, 2)
    assert sorted(map(tuple, places.tolist())) == [(row, column) for row in range(m) for column in range(k)]
    registers = {(row, column // packed) for row, column in map(tuple, places.tolist())}
    assert all(set(map(tuple, lane)) == registers for lane in atom_table(name, Use.A).tolist())


@pytest.mark.parametrize("use", Use)
@pytest.mark.parametrize(
    ("name", "a", "c"), [("AMX_16x16x32_F32BF16BF16F32", "bf16", "f32"), ("AMX_16x16x64_S32S8S8S32", "s8", "s32")]
)
def test_amx(name: str, a: str, c: str, use: Use) -> None:
    own = own_table(*shape(name, use), use, c if use is Use.ACCUMULATOR else a, "x86")[0]
    rows, columns = shape(name, use)
    pack = rows // 16 if use is Use.B else 1
    # Tiles have a row of 64 bytes after the other; one of B has `pack` components of each column.
    order = own.reshape(rows // pack, columns, pack, 2).swapaxes(1, 2).reshape(rows, columns, 2)
    theirs = atom_table(name, use)[0]
    by_rows = theirs.reshape(rows, columns, 2) if use is Use.B else theirs.reshape(columns, rows, 2).swapaxes(0, 1)
    np.testing.assert_array_equal(order, by_rows)
