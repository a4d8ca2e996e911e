"""Products whose work-groups copy blocks of A and B to local memory, which the table of `mma` has: here in `lanes`."""

from __future__ import annotations

import itertools
import json
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from coopmat.devices import DeviceInfo, opencl
from coopmat.linalg import gemm, kernels
from coopmat.linalg.parameters import Tiling
from coopmat.matrices.variants import COMPONENT_TYPES

RANDOM = np.random.default_rng(23)
TILINGS = {
    "f16": Tiling((16, 16, 16), (32, 32, 32), 16),
    "s8": Tiling((16, 16, 32), (32, 64, 64), 16),
    "f32": Tiling((8, 16, 8), (16, 32, 16), 16),
}
DTYPES = {"f16": np.float16, "s8": np.int8, "f32": np.float32}
# m, n and k: multiples of the blocks, multiples of the pieces of 16 bytes, and others.
SHAPES = ((64, 128, 128), (40, 80, 96), (33, 48, 64), (32, 33, 64), (16, 16, 16))


@pytest.fixture
def queue(device: DeviceInfo) -> Any:
    cl = opencl()
    # The queue of the CPU's runtime does not keep its context.
    context = cl.Context([device.handle])
    yield cl.CommandQueue(context)


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[Tiling]:
    """Return the tilings of the products that the test calls, in order; they are those of TILINGS."""
    seen: list[Tiling] = []

    def tiling_of(_device: Any, types: Any, _shape: Any, *, in_pieces: bool) -> Tiling:
        tiling = TILINGS[types[0].name]
        seen.append(tiling if in_pieces else Tiling(tiling.tile))
        return seen[-1]

    monkeypatch.setattr(kernels, "tiling_of", tiling_of)
    return seen


def product(queue: Any, name: str, shape: tuple[int, int, int], by_columns: tuple[bool, bool]) -> bool:
    """Multiply with a bias and an activation, and return whether the result equals numpy's."""
    import pyopencl.array as arrays

    (m, n, k), (first, second) = shape, by_columns
    a = RANDOM.integers(-4, 5, (k, m) if first else (m, k)).astype(DTYPES[name])
    b = RANDOM.integers(-4, 5, (n, k) if second else (k, n)).astype(DTYPES[name])
    bias = RANDOM.integers(-4, 5, n).astype(np.float32)
    on_device = [arrays.to_device(queue, x) for x in (a, b, bias)]
    how: dict[str, Any] = {"trans_a": first, "trans_b": second, "out_dtype": np.float32}
    result = gemm(queue, *on_device[:2], bias=on_device[2], activation="relu", **how)
    left, right = (a.T if first else a), (b.T if second else b)
    wanted = np.maximum(left.astype(np.float32) @ right.astype(np.float32) + bias, 0)
    return np.array_equal(result.get(), wanted)


@pytest.mark.parametrize("name", TILINGS)
def test_products_of_blocks(queue: Any, chosen: list[Tiling], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COOPMAT_ROUTE", "lanes")
    piece = 16 // np.dtype(DTYPES[name]).itemsize
    for shape, by_columns in itertools.product(SHAPES, itertools.product((False, True), repeat=2)):
        assert product(queue, name, shape, by_columns), (shape, by_columns)
        m, n, k = shape
        along = (m if by_columns[0] else k, k if by_columns[1] else n)
        assert bool(chosen[-1].block) == all(number % piece == 0 for number in along), (shape, by_columns)


def test_without_columns_nothing_is_read(queue: Any, chosen: list[Tiling], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COOPMAT_ROUTE", "lanes")
    assert product(queue, "f16", (32, 32, 0), (False, False)) and not chosen[-1].block


def test_subgroups_of_another_size_compute_no_blocks(
    queue: Any, chosen: list[Tiling], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COOPMAT_ROUTE", "one")
    assert product(queue, "f32", (64, 64, 64), (False, False)) and chosen[-1].block


def test_tables_have_tiles_that_divide_their_blocks() -> None:
    for path in (files("coopmat.linalg") / "tables").iterdir():
        table = json.loads(path.read_text(encoding="utf-8"))
        assert table["schema"] == 1 and set(table["gemm"]) <= set(COMPONENT_TYPES)
        for name, classes in table["gemm"].items():
            for row in classes.values():
                tile, block, size = row[:3], row[3:6], row[6:]
                assert len(row) in (3, 7) and all(outer % inner == 0 for inner, outer in zip(tile, block, strict=False))
                if block:
                    work_items = block[0] // tile[0] * (block[1] // tile[1]) * size[0]
                    for side in block[:2]:
                        components = side * block[2]
                        assert components * COMPONENT_TYPES[name].size % (16 * work_items) == 0, (path.name, row)
