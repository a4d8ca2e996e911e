"""The reference against what can be worked out by hand, and against exact rational arithmetic."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from coopmat.matrices import numpy_reference
from coopmat.matrices.numpy_reference import numpy_binary, numpy_convert, numpy_mul_add, numpy_negate
from coopmat.matrices.variants import COMPONENT_TYPES, Layout, MatrixShape, Operands, default_operands

C = COMPONENT_TYPES
SIGNED = Operands.A_SIGNED | Operands.B_SIGNED | Operands.C_SIGNED | Operands.RESULT_SIGNED


def test_layouts_by_hand():
    memory = np.arange(100, dtype=np.int8)
    shape = MatrixShape(4, 2)
    assert numpy_reference.load(memory, shape, Layout.ROW_MAJOR, 10).tolist() == [[0, 1], [10, 11], [20, 21], [30, 31]]
    assert numpy_reference.load(memory, shape, Layout.COLUMN_MAJOR, 10).tolist() == [[0, 10], [1, 11], [2, 12], [3, 13]]
    assert numpy_reference.load(memory, shape, Layout.PACKED, 10).tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]]
    halves = memory.astype(np.float16)
    assert numpy_reference.load(halves, shape, Layout.PACKED, 10).tolist() == [[0, 2], [1, 3], [10, 12], [11, 13]]
    assert numpy_reference.load(memory, shape, Layout.ROW_MAJOR, 0).tolist() == [[0, 1]] * 4
    assert numpy_reference.load(memory, shape, Layout.COLUMN_MAJOR, 0).tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]


@given(
    st.integers(1, 9), st.integers(1, 9), st.sampled_from(list(Layout)), st.integers(0, 5), st.sampled_from([1, 2, 4])
)
def test_store_then_load_gives_the_matrix_and_changes_nothing_else(rows, columns, layout, padding, size):
    dtype = np.dtype(f"int{8 * size}")
    matrix = np.arange(rows * columns, dtype=dtype).reshape(rows, columns)
    stride = 4 * max(rows, columns) + padding
    memory = np.full(stride * 10, -1, dtype)
    numpy_reference.store(memory, matrix, layout, stride)
    assert np.array_equal(numpy_reference.load(memory, MatrixShape(rows, columns), layout, stride), matrix)
    assert np.count_nonzero(memory != -1) == matrix.size


def test_integer_division_truncates():
    x, y = np.array([7, -7, 7, -7, -128], np.int8), np.array([2, 2, -2, -2, 3], np.int8)
    assert numpy_binary("div", x, y).tolist() == [3, -3, -3, 3, -42]


def test_integers_wrap():
    x = np.array([-128, 127], np.int8)
    assert numpy_negate(x).tolist() == [-128, -127]
    assert numpy_binary("add", x, x).tolist() == [0, -2]
    assert numpy_binary("mul", x, x).tolist() == [0, 1]
    assert numpy_negate(np.array([1], np.uint16)).tolist() == [65535]
    assert numpy_reference.scalar_mul(np.array([100], np.uint8), 300).tolist() == [100 * 300 % 256]


def test_reductions_by_hand():
    x = np.array([[1, 2, 100, 4], [5, 6, 100, -8]], np.int8)
    results = {1: [[107] * 2, [103] * 2], 2: [[6, 8, -56, -4]] * 3, 3: [[-46] * 3], 4: [[14, -60]]}
    for how, wanted in results.items():
        found = numpy_reference.reduce(np.add, how, x, MatrixShape(*np.shape(wanted)))
        assert found.dtype == np.int8 and found.tolist() == wanted
    assert numpy_reference.reduce(np.maximum, 1, x, MatrixShape(2, 1)).tolist() == [[100], [100]]


def test_fill_converts_the_scalar():
    assert numpy_reference.fill(MatrixShape(2, 3), C["s8"], 3.9).tolist() == [[3] * 3] * 2
    assert numpy_reference.fill(MatrixShape(1, 1), C["u8"], -1).tolist() == [[255]]
    assert numpy_reference.fill(MatrixShape(1, 1), C["f16"], 70000.0).tolist() == [[math.inf]]


def test_floats_are_ieee():
    x = np.array([np.inf, np.inf, 0.0, 1.0, -1.0], np.float32)
    y = np.array([np.inf, -np.inf, 0.0, 0.0, 0.0], np.float32)
    assert np.array_equal(numpy_binary("add", x, y)[:2], [np.inf, np.nan], equal_nan=True)
    assert np.array_equal(numpy_binary("div", x, y)[2:], [np.nan, np.inf, -np.inf], equal_nan=True)
    assert np.signbit(numpy_negate(np.array([0.0], np.float16)))[0]


@given(st.floats(-3e38, 3e38), st.sampled_from(["rte", "rtz", "rtp", "rtn"]))
def test_directed_rounding_to_float(value, rounding):
    got = float(numpy_convert(np.array([value]), C["f32"], rounding)[0])
    below, above = np.nextafter(np.float32(got), np.float32([-np.inf, np.inf]))
    exact = Fraction(value)
    if rounding == "rte":
        assert abs(Fraction(got) - exact) <= min(abs(Fraction(float(v)) - exact) for v in (below, above))
    elif rounding == "rtp" or (rounding == "rtz" and value < 0):
        assert Fraction(float(below)) < exact <= Fraction(got)
    else:
        assert Fraction(got) <= exact < Fraction(float(above))


@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_to_half_round_once(value):
    # 65520 is half way between the greatest half and the next power of two.
    if abs(value) < 65520:
        expected = struct.unpack("e", struct.pack("e", value))[0]
    else:
        expected = math.copysign(math.inf, value)
    assert numpy_convert(np.array([value]), C["f16"])[0] == expected


def test_conversion_to_integers():
    x = np.array([2.5, -2.5, 3.5, -0.5])
    rounded = {r: numpy_convert(x, C["s8"], r).tolist() for r in ("", "rtz", "rte", "rtp", "rtn")}
    assert rounded[""] == rounded["rtz"] == [2, -2, 3, 0]
    assert rounded["rte"] == [2, -2, 4, 0]
    assert rounded["rtp"] == [3, -2, 4, 0]
    assert rounded["rtn"] == [2, -3, 3, -1]
    wild = np.array([1e30, -1e30, np.nan, np.inf, -np.inf])
    assert numpy_convert(wild, C["s64"], saturate=True).tolist() == [
        2**63 - 1,
        -(2**63),
        0,
        2**63 - 1,
        -(2**63),
    ]
    assert numpy_convert(wild, C["u8"], saturate=True).tolist() == [255, 0, 0, 255, 0]
    ints = np.array([-1, 300, -300])
    assert numpy_convert(ints, C["u8"]).tolist() == [255, 44, 212]
    assert numpy_convert(ints, C["s8"], saturate=True).tolist() == [-1, 127, -128]


def test_mul_add_by_hand():
    a, b = np.array([[1, -2]], np.int8), np.array([[3], [4]], np.int8)
    c = np.array([[10]], np.int32)
    assert numpy_mul_add(a, b, c, SIGNED).tolist() == [[5]]
    unsigned_a = SIGNED & ~Operands.A_SIGNED
    assert numpy_mul_add(a, b, c, unsigned_a).tolist() == [[3 + 254 * 4 + 10]]


@pytest.mark.parametrize(
    ("c", "mask", "expected"),
    [
        (100, SIGNED, 127),
        (-100, SIGNED, -36),
        (-100, SIGNED & ~Operands.C_SIGNED, 127),  # c is read as 156
    ],
)
def test_only_the_final_addition_saturates(c, mask, expected):
    a, b = np.array([[8]], np.int8), np.array([[8]], np.int8)
    got = numpy_mul_add(a, b, np.array([[c]], np.int8), mask | Operands.SATURATING)
    assert got.tolist() == [[expected]]


def test_the_sum_of_products_wraps_before_it_saturates():
    a, b = np.array([[16, 16]], np.int8), np.array([[16], [1]], np.int8)
    got = numpy_mul_add(a, b, np.array([[120]], np.int8), SIGNED | Operands.SATURATING)
    assert got.tolist() == [[127]]  # 256 + 16 is 16 modulo 256; 16 + 120 saturates


def test_unsigned_results_saturate_at_both_ends():
    a, b = np.array([[5]], np.uint8), np.array([[5]], np.uint8)
    for c, mask, expected in [(240, Operands.NONE, 255), (200, Operands.C_SIGNED, 0), (255, Operands.C_SIGNED, 24)]:
        got = numpy_mul_add(a, b, np.array([[c]], np.uint8), mask | Operands.SATURATING)
        assert got.tolist() == [[expected]]


@given(st.integers(1, 6), st.integers(0, 2**32))
def test_float_mul_add_is_within_its_own_bound_of_exact(k, seed):
    rng = np.random.default_rng(seed)
    a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((3, k), (k, 4), (3, 4)))
    got = numpy_mul_add(a, b, c, default_operands(C["f32"], C["f32"], C["f32"]))
    bound = numpy_reference.mul_add_bound(a, b, c)
    for i in range(3):
        for j in range(4):
            exact = sum(Fraction(float(a[i, p])) * Fraction(float(b[p, j])) for p in range(k)) + Fraction(
                float(c[i, j])
            )
            assert abs(Fraction(float(got[i, j])) - exact) <= bound[i, j]
