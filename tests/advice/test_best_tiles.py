"""The tiles of coopmat.linalg, and those of docs/performance.md, get no advice."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from coopmat.advice import Device, advise
from coopmat.advice.thresholds import BYTES
from coopmat.compiler import compile
from coopmat.diagnostics import Diagnostic
from coopmat.linalg.panels import CHUNK, line_of, pack_of
from coopmat.matrices.routes import LOWERED_ROUTES, Tuning
from coopmat.matrices.variants import COMPONENT_TYPES

ROOT = Path(__file__).parents[2]
VNNI = Tuning(instructions=("vpdpbusd", "vdpbf16ps"))
GEMM = ROOT / "coopmat/linalg/gemm.cl"


def rows() -> list[tuple[str, str, str, dict[str, Any]]]:
    """Return (route, component type, shape class, row) of all tables whose tiles were measured.

    Rows of dot.cl are no matrices.
    """
    found = []
    for path in sorted((GEMM.parent / "tables").glob("*.json")):
        table = json.loads(path.read_text())
        for name, classes in table["gemm"].items() if table["measured"] else ():
            for key, value in classes.items():
                if key != "dots":
                    found += [(path.stem, name, key, row) for row in (value if isinstance(value, list) else [value])]
    return found


def definitions(name: str, row: dict[str, Any]) -> list[str]:
    """Return the options with which coopmat.linalg builds gemm.cl for a row, with one of two layouts of B."""
    inputs = [COMPONENT_TYPES[component] for component in row.get("panels", (name, name))]
    total = COMPONENT_TYPES["s32" if inputs[0].is_integer else "f64" if name == "f64" else "f32"].opencl_c
    values: dict[str, object] = {"A_TYPE": inputs[0].opencl_c, "B_TYPE": inputs[1].opencl_c, "SUM_TYPE": total}
    values |= {"REAL_TYPE": total, "D_TYPE": total, "WHOLE": 1}
    values |= dict(zip(("TILE_M", "TILE_N", "TILE_K"), row["tile"], strict=True))
    if "block" in row:
        values |= dict(zip(("BLOCK_M", "BLOCK_N", "DEPTH"), row["block"], strict=True))
        values |= {"STAGED": 1, "SUB_GROUP_SIZE": row["sub_group_size"], "PIECE": "uint4"}
    if "panels" in row:
        values |= {"PANELS": 1, "LINE": line_of(inputs[0], row["tile"][2]), "PACK": pack_of(inputs[0]), "CHUNK": CHUNK}
    return [f"-D{key}={value}" for key, value in values.items()]


def device_of(route: str, row: dict[str, Any]) -> Device:
    if route == "x86":
        names = dict.fromkeys(["vpdpbusd", "vdpbf16ps", row.get("needs", "vpdpbusd")])
        tuned = LOWERED_ROUTES["x86"].tuned(Tuning(instructions=tuple(names)))
        return Device.of(tuned, None, None, (512, 32)) if "needs" in row else Device.of(LOWERED_ROUTES["one"], tuned)
    own = LOWERED_ROUTES[route].tuned(Tuning(sub_group_size=32))
    # Tiles of one work-item are for a GPU's ordinary instructions.
    return Device.of(LOWERED_ROUTES["one"], own) if row.get("sub_group_size") == 1 else Device.of(own)


@pytest.mark.parametrize(("route", "name", "shape_class", "row"), rows(), ids=str)
def test_the_tiles_of_linalg_get_no_advice(route: str, name: str, shape_class: str, row: dict[str, Any]) -> None:
    module = compile(GEMM, ["--no-validate", "-w", *definitions(name, row)])
    found = list(advise(module.unit, device_of(route, row)))
    if route == "mma" and "block" not in row and name in ("s8", "u8", "e4m3", "e5m2"):
        # Without a block, B is read from global memory by rows: linalg has to take it as it is.
        assert {item.code for item in found} == {"matrix-performance-layout"}
    elif route == "x86" and shape_class == "small" and name in BYTES and not row.get("whole"):
        # The advice is for large products. In a small one, much of a large tile is outside of the matrices.
        assert {item.code for item in found} == {"matrix-performance-tile"}
    else:
        assert found == []


def test_there_are_rows() -> None:
    assert {route for route, *_ in rows()} == {"mma", "x86"} and len(rows()) > 60


# Tiles of the table in docs/performance.md, with the component type and K that they were measured with.
TILES = {
    "char": ((96, 96, 96), (160, 96, 192), (64, 64, 256), (96, 96, 192)),
    "bfloat16": ((8, 32, 16), (96, 96, 96)),
    "half": ((8, 48, 4), (4, 64, 4)),
    "float": ((12, 32, 4), (8, 32, 8)),
}


@pytest.mark.parametrize(("name", "tile"), [(name, tile) for name, tiles in TILES.items() for tile in tiles], ids=str)
def test_the_tiles_of_the_page_get_no_advice(name: str, tile: tuple[int, int, int]) -> None:
    text = (ROOT / "docs/performance.md").read_text(encoding="utf-8") + (ROOT / "kernels/gemm_blocks.cl").read_text()
    assert " x ".join(map(str, tile)) in text, "the page no longer names this tile"
    side = tile[0] * tile[1] * tile[2]
    sizes = [f"-D{letter}={side}" for letter in "MNK"] + [f"-D{name}={side + 16}" for name in ("LDA", "LDB", "LDC")]
    shape = [f"-DTILE_{letter}={part}" for letter, part in zip("MNK", tile, strict=True)]
    options = [*sizes, *shape, f"-DIN={name}", f"-DOUT={'int' if name == 'char' else 'float'}"]
    unit = compile(ROOT / "kernels/gemm_blocks.cl", ["--no-validate", "-w", *options]).unit
    assert list(advise(unit, Device.of(LOWERED_ROUTES["x86"].tuned(VNNI), None, None, (512, 32)))) == []


def test_what_the_kernels_are_told() -> None:
    """On a processor with VNNI, only the bytes in small tiles are told so: these reach 0.6 of the best tile."""
    found: dict[str, list[Diagnostic]] = {}
    for path in sorted((ROOT / "kernels").glob("*.cl")):
        for run in re.findall(r"// run:(.*?)// check:", path.read_text(), re.DOTALL):
            words = re.findall(r"-D\w+(?:=\S+)?", run)
            unit = compile(path, ["--no-validate", "-w", *words]).unit
            tuned = LOWERED_ROUTES["x86"].tuned(VNNI)
            if unit.has_matrices:
                found.setdefault(path.name, []).extend(advise(unit, Device.of(tuned, None, None, (512, 32))))
    assert len(found) > 10
    told = {name: {item.code for item in items} for name, items in found.items() if items}
    assert told == {name: {"matrix-performance-tile"} for name in ("gemm_bias_scale.cl", "gemm_s8.cl")}
