"""The spaces of candidates."""

from __future__ import annotations

import itertools
import json
from importlib.resources import files
from types import SimpleNamespace

import pytest

from coopmat.linalg.parameters import Tiling
from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.tuning import TYPES
from coopmat.tuning.space import parameters, restriction, tiling_of, values_of

SHAPE = (1, 4096, 4096, 4096)
GPU = SimpleNamespace(local_mem_size=96 << 10)


def candidates(route: str, name: str, shape: tuple[int, int, int, int] = SHAPE, **lists: object) -> list[Tiling]:
    kind, space = COMPONENT_TYPES[name], parameters(route, COMPONENT_TYPES[name])
    is_useful = restriction(GPU, kind, shape, lists)
    every = (dict(zip(space, values, strict=True)) for values in itertools.product(*space.values()))
    found = [tiling_of(values, kind) for values in every if is_useful(values)]
    for tiling in found:
        values = values_of(tiling, space, kind)
        assert values is not None and tiling_of(dict(zip(space, values, strict=True)), kind) == tiling
    return found


@pytest.mark.parametrize("route", ["one", "x86", "lanes", "mma"])
@pytest.mark.parametrize("name", TYPES)
def test_a_space_is_small_and_its_candidates_are_different(route: str, name: str) -> None:
    found = candidates(route, name)
    assert 10 < len(found) < 1000 and len(set(found)) == len(found)


@pytest.mark.parametrize("name", TYPES)
def test_sums_of_tiles_on_a_cpu_fit_its_registers(name: str) -> None:
    size = 8 if name == "f64" else 4
    for tiling in candidates("x86", name):
        m, n, _k = tiling.tile
        if tiling.panels and (m, n) == (32, 32):  # four of AMX's tiles
            assert COMPONENT_TYPES[tiling.panels[0]].size <= 2
        else:
            assert m * n * size <= 32 * 64 or (not tiling.panels and 2048 <= m * n <= 16384)


def test_work_items_on_a_gpu_copy_equal_shares() -> None:
    for name in TYPES:
        for tiling in candidates("mma", name):
            if not tiling.block:
                continue
            m, n, depth = tiling.block
            work_items, size = tiling.sub_groups * tiling.sub_group_size, COMPONENT_TYPES[name].size
            assert 32 <= work_items <= 256 and tiling.local_size(size) <= GPU.local_mem_size
            assert m * depth * size % (8 * work_items) == n * depth * size % (8 * work_items) == 0
            assert all(side % part == 0 for side, part in zip(tiling.block, tiling.tile, strict=True))


@pytest.mark.parametrize("route", ["x86", "mma"])
def test_the_tiles_of_the_package_are_in_the_space(route: str) -> None:
    shipped = json.loads((files("coopmat.linalg") / "tables" / f"{route}.json").read_text())["gemm"]
    for name, classes in shipped.items():
        for shape_class, rows in classes.items():
            for row in rows if isinstance(rows, list) else [rows]:
                if shape_class in ("dots", "axpys"):
                    continue  # `tune` measures tiles of matrices
                shape = (1, row.get("rows", 8 if shape_class == "rows" else 4096), 4096, 4096)
                assert Tiling.from_dict(row) in candidates(route, name, shape), (name, shape_class)


def test_tiles_are_not_much_larger_than_the_matrices() -> None:
    found = candidates("x86", "f32", (1, 8, 4096, 4096))
    assert found and all(tiling.tile[0] <= 16 for tiling in found)


def test_the_lists_restrict_the_space() -> None:
    assert {tiling.tile for tiling in candidates("x86", "f32", allow=[[12, 32, 1]])} == {(12, 32, 1)}
    denied = {tiling.tile for tiling in candidates("x86", "f32", deny=[[12, 32, 1]])}
    assert denied == {tiling.tile for tiling in candidates("x86", "f32")} - {(12, 32, 1)}
