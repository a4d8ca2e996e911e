"""Products whose work-groups copy blocks of A and B to local memory, which `mma` does: here on other routes."""

from __future__ import annotations

import itertools
import json
import os
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from coopmat.linalg import gemm, kernels, parameters, products
from coopmat.linalg.panels import CHUNK, line_of
from coopmat.linalg.parameters import Tiling
from coopmat.matrices.variants import COMPONENT_TYPES

RANDOM = np.random.default_rng(23)
TILINGS = {
    "lanes": {
        "f16": Tiling((16, 16, 16), (32, 32, 32), 16),
        "s8": Tiling((16, 16, 32), (32, 64, 64), 16),
        "f32": Tiling((8, 16, 8), (16, 32, 16), 16),
    },
    "one": {
        "f16": Tiling((8, 8, 4), (32, 32, 32), 1),
        "s8": Tiling((8, 8, 8), (32, 32, 64), 1),
        "f32": Tiling((4, 8, 2), (16, 32, 16), 1),
    },
}
DTYPES = {"f16": np.float16, "s8": np.int8, "f32": np.float32}
# m, n and k: multiples of the blocks, multiples of 16 bytes (which are copied at a time then), and others.
SHAPES = ((64, 128, 128), (40, 80, 96), (44, 36, 20), (33, 48, 64), (32, 33, 64), (16, 16, 16))


@pytest.fixture(params=TILINGS)
def chosen(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> list[Tiling]:
    """Choose a route and its TILINGS. Return the tilings of the kernels that the test builds, in order."""
    seen: list[Tiling] = []
    variant = kernels.Product._variant
    monkeypatch.setenv("COOPMAT_ROUTE", request.param)
    products._product.cache_clear()  # it keeps the launches, which have tilings

    def tilings_of(_device: Any, types: Any, shape: Any, by: str) -> list[Tiling]:
        tiling = TILINGS[request.param][types[0].name]
        return [*[tiling] * (shape[3] > 0), Tiling(tiling.tile)]

    def see(self: kernels.Product, operands: Any, tiling: Tiling, piece: int) -> kernels.Variant:
        seen.append(tiling)
        return variant(self, operands, tiling, piece)

    monkeypatch.setattr(kernels, "tilings_of", tilings_of)
    monkeypatch.setattr(kernels.Product, "_variant", see)
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


@pytest.mark.covering
@pytest.mark.parametrize("name", DTYPES)
def test_products_of_blocks(queue: Any, chosen: list[Tiling], name: str, pytestconfig: pytest.Config) -> None:
    """All shapes and layouts; without --all, each type has half of them, and each pair occurs with some type."""
    half = None if pytestconfig.getoption("--all") else list(DTYPES).index(name) % 2
    for number, (shape, by_columns) in enumerate(itertools.product(SHAPES, itertools.product((False, True), repeat=2))):
        if half is not None and (number + number // 4) % 2 != half:
            continue
        assert product(queue, name, shape, by_columns), (shape, by_columns)
        m, n, k = shape
        along = (m if by_columns[0] else k, k if by_columns[1] else n)
        size = np.dtype(DTYPES[name]).itemsize
        is_aligned = all(number * size % (4 if size == 4 else 8) == 0 for number in along)
        assert bool(chosen[-1].block) == is_aligned, (shape, by_columns)


@pytest.mark.covering
@pytest.mark.parametrize("name", DTYPES)
def test_views_that_are_not_aligned(queue: Any, chosen: list[Tiling], name: str) -> None:
    import pyopencl.array as arrays

    # One component behind a multiple of 16 bytes.
    a, b = RANDOM.integers(-4, 5, (2, 64, 65)).astype(DTYPES[name])
    on_device = [arrays.to_device(queue, x) for x in (a, b)]
    for first, last in ((0, 64), (1, 65)):
        result = gemm(queue, *(x[:, first:last] for x in on_device), out_dtype=np.float32)
        left, right = (x[:, first:last].astype(np.float32) for x in (a, b))
        assert np.array_equal(result.get(), left @ right) and bool(chosen[-1].block) == (name == "f32")


def test_without_columns_nothing_is_read(queue: Any, chosen: list[Tiling]) -> None:
    assert product(queue, "f16", (32, 32, 0), (False, False)) and not chosen[-1].block


def test_subgroups_of_another_size_compute_no_blocks(
    queue: Any, chosen: list[Tiling], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COOPMAT_ROUTE", "one" if os.environ["COOPMAT_ROUTE"] == "lanes" else "lanes")
    assert product(queue, "f32", (64, 64, 64), (False, False))
    assert [bool(tiling.block) for tiling in chosen] == [True, False]


def test_tilings_end_with_one_for_every_subgroup(monkeypatch: pytest.MonkeyPatch) -> None:
    def sizes(names: str, k: int = 4096) -> list[tuple[bool, int]]:
        device = SimpleNamespace(local_mem_size=48 * 1024)
        types = tuple(COMPONENT_TYPES[name] for name in names.split())
        tilings = parameters.tilings_of(device, types, (1, 4096, 4096, k))
        assert tilings[-1].tile == tilings[-2].tile and not tilings[-1].block
        return [(bool(tiling.block), tiling.sub_group_size) for tiling in tilings]

    monkeypatch.setattr(parameters, "route_of", lambda _: "mma")
    assert sizes("f16 f16") == [(True, 32), (False, 32), (True, 1), (False, 1), (False, 0)]
    assert sizes("s8 u8") == sizes("e4m3 e5m2") == sizes("f16 f16")
    assert sizes("f16 bf16") == [(True, 1), (False, 1), (False, 0)]
    # Components of two sizes, nothing to copy, and more local memory than the device has (for double, 51 KB).
    assert sizes("bf16 e4m3") == sizes("f16 bf16", 0) == [(False, 1), (False, 0)]
    assert sizes("f64 f64") == [(True, 32), (False, 32), (False, 1), (False, 0)]
    monkeypatch.setattr(parameters, "route_of", lambda _: "one")
    assert set(sizes("f16 f16")) == {(False, 0)}


def test_tables_have_tiles_that_divide_their_blocks() -> None:
    for path in (files("coopmat.linalg") / "tables").iterdir():
        table = json.loads(path.read_text(encoding="utf-8"))
        assert table["schema"] == 2 and set(table["gemm"]) <= set(COMPONENT_TYPES)
        for name, classes in table["gemm"].items():
            for row in itertools.chain.from_iterable(map(parameters.listed, classes.values())):
                tile, block, size = row["tile"], row.get("block", []), row.get("sub_group_size", 1)
                assert (
                    set(row) <= {"tile", "block", "sub_group_size", "panels", "needs", "rows", "whole", "dot"}
                    and len(tile) == 3
                )
                if row in (*classes.get("dots", ()), *classes.get("axpys", ())):
                    assert tile[2] in (4, 8, 16) and row["dot"].bit_count() == 1 and row["rows"] <= 16
                    assert not COMPONENT_TYPES[name].is_integer
                if row in classes.get("axpys", ()):
                    assert tile[1] % tile[2] == 0 and row["dot"] == 1
                assert all(outer % inner == 0 for inner, outer in zip(tile, block, strict=False))
                for other in row.get("panels", ()):
                    panels = COMPONENT_TYPES[other]
                    assert panels.kind is COMPONENT_TYPES[name].kind and panels.bits >= COMPONENT_TYPES[name].bits
                    line = line_of(panels, tile[2])
                    assert line == 1 or (line % tile[2] == 0 and CHUNK % line == 0)
                if block:
                    work_items = block[0] // tile[0] * (block[1] // tile[1]) * size
                    for side in block[:2]:
                        components = side * block[2]
                        assert components * COMPONENT_TYPES[name].size % (16 * work_items) == 0, (path.name, row)
