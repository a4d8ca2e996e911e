"""Products that copy only B into panels, and read A where it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coopmat import linalg
from coopmat.linalg.operands import Operand
from coopmat.linalg.panels import with_a_in_place
from coopmat.linalg.parameters import Tiling
from coopmat.matrices.variants import COMPONENT_TYPES

FLOATS = Tiling((12, 32, 1), panels=("f32", "f32"))
BYTES = Tiling((12, 32, 4), panels=("u8", "s8"))


def height(tiling: Tiling, a: str, b: str, rows: int, strides: tuple[int, int, int] = (0, 100, 1)) -> int:
    """Return the rows of tiles of an A in place; 0 if it is copied."""
    left = Operand("a", COMPONENT_TYPES[a], (1, rows, 100), strides)
    right = Operand("b", COMPONENT_TYPES[b], (1, 100, 64), (0, 64, 1))
    found = with_a_in_place(tiling, (left, right))
    assert found == tiling or found.panels == ("", tiling.panels[1])
    return 0 if found == tiling else found.tile[0]


def test_an_a_that_needs_no_change_is_read_in_place() -> None:
    assert [height(FLOATS, "f32", "f32", rows) for rows in (1, 3, 4, 8, 12, 1000, 333)] == [1, 0, 4, 8, 4, 8, 0]
    assert height(BYTES, "u8", "s8", 64) == 8


def test_small_products_flip_a_in_place() -> None:
    """1 << 27 multiply-adds are the most; the helper's matrices have 100 x 64 for each row."""
    rows = (1 << 27) // 6400 // 8 * 8
    assert [height(BYTES, "s8", "s8", n) for n in (8, rows, rows + 8)] == [8, 8, 0]
    assert [height(BYTES, "u8", "s8", n) for n in (rows, rows + 8)] == [8, 8]


@pytest.mark.parametrize(
    ("tiling", "a", "b", "strides"),
    [
        (FLOATS, "f16", "f32", (0, 100, 1)),  # becomes float
        (FLOATS, "f32", "f32", (0, 1, 8)),  # by columns
        (BYTES, "u8", "u8", (0, 100, 1)),  # B becomes signed, and A's rows are added up
        (Tiling((32, 32, 128), panels=("bf16", "bf16")), "bf16", "bf16", (0, 100, 1)),  # many columns at a time
        (Tiling((8, 32, 8)), "f32", "f32", (0, 100, 1)),  # no panels
    ],
)
def test_others_are_copied(tiling: Tiling, a: str, b: str, strides: tuple[int, int, int]) -> None:
    assert height(tiling, a, b, 8, strides) == 0


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("shape", [(8, 33, 70), (24, 64, 130), (20, 100, 129), (1, 70, 65), (13, 40, 64)])
def test_products_with_gaps_and_offsets(queue: Any, shape: tuple[int, int, int], dtype: str, is_packed: bool) -> None:
    """Rows of A and C have gaps, K and N are no multiples of a tile's, and A has an offset; in a batch, too."""
    import pyopencl.array

    (m, n, k), random = shape, np.random.default_rng(3)
    for batch in ((), (3,)):
        whole = random.integers(0, 256, (*batch, m + 1, k + 7)).astype(dtype)
        b = random.integers(-100, 100, (*batch, k, n)).astype(np.int8)
        right = pyopencl.array.to_device(queue, b)
        left = pyopencl.array.to_device(queue, whole)[..., 1:, 3 : 3 + k]
        out = pyopencl.array.to_device(queue, np.full((*batch, m, n + 5), 7, np.int32))
        linalg.gemm(queue, left, linalg.pack(queue, right) if is_packed else right, out[..., 2 : 2 + n], beta=1)
        expected = np.full((*batch, m, n + 5), 7)
        expected[..., 2 : 2 + n] += whole[..., 1:, 3 : 3 + k].astype(int) @ b.astype(int)
        assert np.array_equal(out.get(), expected)
