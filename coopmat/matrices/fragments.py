"""The layouts of the operands of vendors' matrix instructions, and the `Product`s that routes make of them.

The tiles are derived from the documents that vendor_instructions.py cites. library/vendors has the same layouts as
formulas, written independently, for the emulated instructions. A mistake in one of the two makes a wrong result.
"""

from __future__ import annotations

from .hardware_multiplies import BYTES, NIBBLES, WORDS, FragmentProduct
from .lane_layouts import Digit, Tile
from .variants import EVERY_COMPONENT_TYPE
from .vendor_instructions import INSTRUCTIONS, Instruction

Tiles = tuple[Tile, Tile, Tile]


def _tile(rows: int, columns: int, lanes: str, slots: str = "", copies: int = 1) -> Tile:
    """Return a tile from the texts of its digits, such as "c4*2 r8".

    This text has two digits: four steps of two columns, then eight steps of one row. "x2" is two copies, which `copies`
    must declare too.
    """
    return Tile(rows, columns, _digits(lanes), _digits(slots), copies)


def _digits(text: str) -> tuple[Digit, ...]:
    """Parse a text of digits; see `_tile`."""
    digits = []
    for word in text.split():
        size, _, step = word[1:].partition("*")
        digits.append(Digit(int(size), *(int(step or 1) if word[0] == way else 0 for way in "rc")))
    return tuple(digits)


def _mma(row: Instruction) -> Tiles:
    """Return the tiles of an mma (PTX ISA, "Matrix Fragments for mma.m...").

    Four lanes share a row of A, a column of B and a row of C. The registers have 32 bits. Successive registers are
    eight rows apart, or four registers' components along K.
    """
    m, n, k = row.m, row.n, row.k
    pack = max(1, 32 // EVERY_COMPONENT_TYPE[row.factor].bits)
    in_register = pack if pack > 1 else 0
    down, along = m // 8, k // (4 * pack)
    a = _some(("c", in_register, 1), ("r", down, 8), ("c", along, 4 * pack))
    b = _some(("r", in_register, 1), ("r", along, 4 * pack))
    return (
        _tile(m, k, f"c4*{pack} r8", a),
        _tile(k, n, f"r4*{pack} c8", b),
        _tile(m, n, "c4*2 r8", _some(("c", 2, 1), ("r", down, 8))),
    )


def _some(*digits: tuple[str, int, int]) -> str:
    """Return the text of the digits that have more than one value; a digit is its direction, size and step."""
    return " ".join(f"{way}{size}*{step}" for way, size, step in digits if size > 1)


def _dpas(row: Instruction) -> Tiles:
    """Return the tiles of a dpas (cl_intel_subgroup_matrix_multiply_accumulate, "New OpenCL C Functions").

    Each work-item has K / N columns of A, one column of B and one column of the accumulator.
    """
    m, n, k = row.m, row.n, row.k
    if k < n:
        # tf32: half of the lanes have A's even rows, the others the odd rows. If A has one row, both halves have it.
        a = _tile(m, k, f"c{k} r2", _some(("r", m // 2, 2))) if m > 1 else _tile(m, k, f"c{k} x2", copies=2)
    else:
        a = _tile(m, k, f"c{n}*{k // n}", _some(("c", k // n, 1), ("r", m, 1)))
    return a, _tile(k, n, f"c{n}", f"r{k}"), _tile(m, n, f"c{n}", _some(("r", m, 1)))


def _wmma(row: Instruction) -> Tiles:
    """Return the tiles of a wmma (the guides of RDNA3 and RDNA4, "Wave Matrix Multiply Accumulate").

    16 lanes have the rows of A and the columns of B. On RDNA3 the other 16 lanes repeat these, and have every other row
    of C. On RDNA4 they have the other half of K and of C's rows.
    """
    if row.devices == ("gfx11",):
        a, b = _tile(16, 16, "r16 x2", "c16", copies=2), _tile(16, 16, "c16 x2", "r16", copies=2)
        return a, b, _tile(16, 16, "c16 r2", "r8*2")
    return _tile(16, 16, "r16 c2*8", "c8"), _tile(16, 16, "c16 r2*8", "r8"), _tile(16, 16, "c16 r2*8", "r8")


def _mfma(row: Instruction) -> Tiles:
    """Return the tiles of an mfma (the guides of CDNA, "Matrix Arithmetic Instructions").

    16 lanes have the rows of A and the columns of B, and the four groups of 16 lanes share K. Each group has four
    consecutive rows of C; of doubles, every fourth row.
    """
    each = row.k // 4
    c = _tile(16, 16, "c16 r4", "r4*4") if row.c == "f64" else _tile(16, 16, "c16 r4*4", "r4")
    return (
        _tile(16, row.k, f"r16 c4*{each}", _some(("c", each, 1))),
        _tile(row.k, 16, f"c16 r4*{each}", _some(("r", each, 1))),
        c,
    )


_TILES = {"mma": _mma, "dpas": _dpas, "wmma": _wmma, "mfma": _mfma}


def _is_usable(row: Instruction) -> bool:
    """Return whether a `FragmentProduct` can use the instruction.

    Excluded are mfma's of 32 x 32: the rows of the accumulator in a lane would depend on K and on B's columns.
    """
    return {row.factor, row.c} <= EVERY_COMPONENT_TYPE.keys() and not (row.family == "mfma" and row.m == 32)


def _group(row: Instruction) -> tuple[object, ...]:
    """Return the properties that the instructions of one `FragmentProduct` share.

    The signs of bytes, and the choice between two 8-bit floats, are not among them.
    """
    return (
        -row.k,
        -row.m,
        row.name.partition("_m")[0],
        row.lanes,
        row.devices,
        EVERY_COMPONENT_TYPE[row.factor].width,
        row.c,
    )


def _product(rows: tuple[Instruction, ...]) -> FragmentProduct:
    """Return the `FragmentProduct` of the instructions `rows`, which differ only in the component types of A and B."""
    row = rows[0]
    a, b, c = (tuple(dict.fromkeys(getattr(each, operand) for each in rows)) for operand in "abc")
    if row.factor != row.a:
        a = b = (row.factor,)
    if row.c == "s32":
        # The mask gives the signs, because SPIR-V's types have none. Signed and unsigned bytes have the same layout.
        factors = NIBBLES if row.a in NIBBLES else BYTES
        a, b, c = factors, factors, WORDS
    shape = (row.m, row.n, row.k, row.lanes)
    return FragmentProduct(
        row.name.removeprefix("cm_"), "MUL_ADD_FRAGMENTS", a, b, c, *shape, _TILES[row.family](row), rows, row.devices
    )


def products(family: str) -> tuple[FragmentProduct, ...]:
    """Return the `FragmentProduct`s of a family's usable instructions (`_is_usable`), larger shapes first."""
    groups: dict[tuple[object, ...], list[Instruction]] = {}
    for row in INSTRUCTIONS.values():
        if row.family == family and _is_usable(row):
            # Each type of 16-bit floats has a separate `FragmentProduct`.
            groups.setdefault((*_group(row), row.a if EVERY_COMPONENT_TYPE[row.factor].bits == 16 else ""), []).append(
                row
            )
    return tuple(_product(tuple(rows)) for _, rows in sorted(groups.items(), key=lambda item: item[0][:2]))
