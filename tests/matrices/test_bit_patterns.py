"""Floats that numpy lacks: against numpy's own half, which the same rows describe, and by exhaustion."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from coopmat.matrices.numpy_reference import decode_bits, encode_bits
from coopmat.matrices.variants import COMPONENT_TYPES, ComponentType

HALF = COMPONENT_TYPES["f16"]
E4M3, E5M2 = COMPONENT_TYPES["e4m3"], COMPONENT_TYPES["e5m2"]
HALF_BITS = replace(HALF, numpy="uint16")
SMALL = [E4M3, E5M2, COMPONENT_TYPES["bf16"], HALF_BITS]


def _patterns(component: ComponentType) -> np.ndarray:
    return np.arange(2**component.bits, dtype=component.numpy)


def test_halves_are_numpys() -> None:
    patterns = _patterns(HALF_BITS)
    expected = patterns.view(np.float16).astype(np.float32)
    assert np.array_equal(decode_bits(HALF_BITS, patterns), expected, equal_nan=True)
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.standard_normal(5000) * np.exp2(rng.integers(-30, 18, 5000)), [65519.99, 65520.0, 1e9]])
    with np.errstate(over="ignore"):
        assert np.array_equal(encode_bits(HALF_BITS, x), x.astype(np.float16).view(np.uint16))


@pytest.mark.parametrize("component", SMALL, ids=str)
@pytest.mark.parametrize("rounding", ["", "rte", "rtz", "rtp", "rtn"])
def test_every_pattern_comes_back(component: ComponentType, rounding: str) -> None:
    patterns = _patterns(component)
    numbers = decode_bits(component, patterns)
    back = encode_bits(component, numbers, rounding)
    nan = np.isnan(numbers)
    assert np.array_equal(back[~nan], patterns[~nan])
    assert np.isnan(decode_bits(component, back[nan])).all() and nan.any()
    finite = numbers[np.isfinite(numbers)]
    assert finite.max() == component.largest == -finite.min()


@pytest.mark.parametrize("component", [E4M3, E5M2, COMPONENT_TYPES["bf16"]], ids=str)
def test_roundings_are_those_of_exact_fractions(component: ComponentType) -> None:
    numbers = np.unique(decode_bits(component, _patterns(component)).astype(np.float64))
    numbers = numbers[np.isfinite(numbers)]
    rng = np.random.default_rng(2)
    at = rng.integers(0, len(numbers) - 1, 400)
    for low, high in zip(numbers[at], numbers[at + 1], strict=True):
        for share in (Fraction(1, 2), Fraction(1, 2**20), Fraction(3, 4)):
            between = float(Fraction(low) + share * (Fraction(high) - Fraction(low)))
            got = {
                r: float(decode_bits(component, encode_bits(component, np.array([between]), r))[0])
                for r in ("rtz", "rtp", "rtn", "rte")
            }
            assert (got["rtn"], got["rtp"]) == (low, high)
            assert got["rtz"] == (high if between < 0 else low)
            if share != Fraction(1, 2):
                assert got["rte"] == (high if share > Fraction(1, 2) else low)
            else:
                assert encode_bits(component, np.array([got["rte"]]))[0] & 1 == 0


def test_what_is_too_large() -> None:
    x = np.array([480.0, 1e6, np.inf, -np.inf, np.nan])
    assert [hex(p) for p in encode_bits(E4M3, x)] == ["0x7f", "0x7f", "0x7f", "0xff", "0x7f"]
    assert [hex(p) for p in encode_bits(E4M3, x, saturate=True)] == ["0x7e", "0x7e", "0x7e", "0xfe", "0x7f"]
    assert [hex(p) for p in encode_bits(E5M2, x)] == ["0x60", "0x7c", "0x7c", "0xfc", "0x7e"]
    assert [hex(p) for p in encode_bits(E5M2, x, saturate=True)] == ["0x60", "0x7b", "0x7b", "0xfb", "0x7e"]
    assert E4M3.largest == 448 and E5M2.largest == 57344
