from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from coopmat.matrices.variants import (
    COMPONENT_TYPES,
    MatrixShape,
    MatrixType,
    Operands,
    Use,
    Variant,
    default_operands,
)

C = COMPONENT_TYPES
DRAFT = [row for row in C.values() if row.value is not None]


def test_the_numbers_are_the_drafts():
    names = ["f16", "f32", "f64", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"]
    assert [row.name for row in sorted(DRAFT, key=lambda row: row.value)] == names
    assert sorted(row.value for row in DRAFT) == list(range(11))
    assert [(use.letter, int(use)) for use in Use] == [("A", 0), ("B", 1), ("C", 2)]


def test_component_sizes_are_numpys():
    import numpy as np

    for row in DRAFT:
        dtype = np.dtype(row.numpy)
        assert dtype.itemsize == row.size
        assert dtype.kind == ("f" if not row.is_integer else "i" if row.signed else "u")


def test_names():
    assert MatrixType(C["f16"], 16, 8, Use.A).name == "16x8.A.f16"
    variant = Variant(8, 16, 32, C["s8"], C["u8"], C["s32"], C["s32"], saturating=True)
    assert str(variant) == "8x16x32.s8xu8_s32_s32.sat"
    assert [m.name for m in variant.matrix_types()] == ["8x32.A.s8", "32x16.B.u8", "8x16.C.s32", "8x16.C.s32"]
    assert variant.to_record() == (8, 16, 32, 3, 7, 5, 5, 1)


@pytest.mark.parametrize("size", [0, -1, 2**20])
def test_dimensions_are_checked(size):
    with pytest.raises(ValueError, match="rows and columns"):
        MatrixShape(size, 4)
    with pytest.raises(ValueError, match="rows and columns"):
        MatrixType(C["f32"], 4, size, Use.B)
    with pytest.raises(ValueError, match="rows and columns"):
        Variant(4, 4, size, *[C["f32"]] * 4)


def test_component_types_of_a_variant_are_of_one_class():
    with pytest.raises(ValueError, match="all floating point"):
        Variant(4, 4, 4, C["s8"], C["s8"], C["f32"], C["f32"])
    with pytest.raises(ValueError, match="only integers saturate"):
        Variant(4, 4, 4, *[C["f32"]] * 4, saturating=True)


sizes = st.integers(1, 2**20 - 1)
integers = st.sampled_from([row for row in DRAFT if row.is_integer])
floats = st.sampled_from([row for row in DRAFT if not row.is_integer])


@given(sizes, sizes, sizes, st.one_of(st.tuples(*[integers] * 4), st.tuples(*[floats] * 4)), st.booleans())
def test_records_round_trip(m, n, k, types, saturating):
    variant = Variant(m, n, k, *types, saturating=saturating and types[0].is_integer)
    assert Variant.from_record(variant.to_record()) == variant


@pytest.mark.parametrize(
    "record", [(1, 1, 1), (1, 1, 1, 0, 0, 0, 11, 0), (1, 1, 1, 0, 0, 0, 0, 2), (0, 1, 1, *[0] * 5)]
)
def test_bad_records_are_refused(record):
    with pytest.raises(ValueError):
        Variant.from_record(record)


def test_bf16_has_no_record():
    with pytest.raises(ValueError, match="bf16"):
        Variant(4, 4, 4, C["bf16"], C["bf16"], C["f32"], C["f32"]).to_record()


def test_default_operands_follow_the_types():
    assert default_operands(C["s8"], C["u8"], C["s32"]) == (
        Operands.A_SIGNED | Operands.C_SIGNED | Operands.RESULT_SIGNED
    )
    assert default_operands(C["u8"], C["s8"], C["u32"]) == Operands.B_SIGNED
    assert default_operands(C["f16"], C["f16"], C["f32"]) == Operands.NONE
    assert [int(bit) for bit in Operands] == [1, 2, 4, 8, 16, 32]
