"""Lists of variants, and what is nearest in them."""

from __future__ import annotations

import pytest

from coopmat.matrices.supported import Supported, multiply_add, parse_variants
from coopmat.matrices.variants import COMPONENT_TYPES, MatrixType, Operands, Use, Variant

F16, F32, S8, U8, S32 = (COMPONENT_TYPES[name] for name in ("f16", "f32", "s8", "u8", "s32"))


def test_variants_by_name_and_by_number() -> None:
    text = "16x16x16.f16xf16_f32_f32;8x16x32.s8xu8_s32_s32.sat\n 8,8,16,0,0,1,1,0"
    assert parse_variants(text) == (
        Variant(16, 16, 16, F16, F16, F32, F32),
        Variant(8, 16, 32, S8, U8, S32, S32, True),
        Variant(8, 8, 16, F16, F16, F32, F32),
    )
    assert parse_variants("") == ()
    for variant in parse_variants(text):
        assert parse_variants(variant.name) == (variant,)
        assert parse_variants(",".join(map(str, variant.to_record()))) == (variant,)


@pytest.mark.parametrize(
    "text", ["x", "1,2,3", "16x16x16.f16xf16_f32", "16x16x16.f16xf16_f32_f32.so", "1,1,1,99,0,0,0,0"]
)
def test_what_is_no_variant(text: str) -> None:
    with pytest.raises(ValueError):
        parse_variants(text)


def test_signs_are_the_masks() -> None:
    a, b, c = MatrixType(S8, 8, 32, Use.A), MatrixType(U8, 32, 16, Use.B), MatrixType(S32, 8, 16, Use.ACCUMULATOR)
    assert multiply_add(a, b, c, Operands(13)).name == "8x16x32.s8xu8_s32_s32.nosat"
    assert multiply_add(a, b, c, Operands(18)).name == "8x16x32.u8xs8_u32_u32.sat"
    a, b, c = MatrixType(F16, 8, 32, Use.A), MatrixType(F16, 32, 16, Use.B), MatrixType(F32, 8, 16, Use.ACCUMULATOR)
    assert multiply_add(a, b, c, Operands(31)).name == "8x16x32.f16xf16_f32_f32.nosat"


def test_the_nearest_types() -> None:
    supported = Supported(parse_variants("16x16x16.f16xf16_f32_f32 8x16x32.s8xs8_s32_s32 64x64x64.f64xf64_f64_f64"))
    assert supported.has_type(MatrixType(U8, 8, 32, Use.A))
    assert not supported.has_type(MatrixType(F16, 8, 32, Use.A))
    found = [m.name for m in supported.nearest_types(MatrixType(F16, 8, 32, Use.A))]
    assert found == ["16x16.A.f16", "64x64.A.f64", "8x32.A.s8", "16x16.B.f16"]


def test_the_nearest_multiply_adds() -> None:
    supported = Supported(parse_variants("16x16x16.f16xf16_f32_f32 8x16x32.s8xs8_s32_s32 8x16x16.f16xf16_f16_f16"))
    (wanted,) = parse_variants("8x16x16.f16xf16_f32_f32")
    found = [(variant.name, shared) for variant, shared in supported.nearest_multiply_adds(wanted)]
    assert found == [
        ("16x16x16.f16xf16_f32_f32.nosat", 7),
        ("8x16x16.f16xf16_f16_f16.nosat", 6),
        ("8x16x32.s8xs8_s32_s32.nosat", 3),
    ]
