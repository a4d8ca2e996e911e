"""Tables of tiles that users write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coopmat.linalg import parameters
from coopmat.linalg.parameters import table, tilings_of
from coopmat.matrices.variants import COMPONENT_TYPES

F32 = (COMPONENT_TYPES["f32"], COMPONENT_TYPES["f32"])


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(parameters, "user_directory", lambda: tmp_path)
    monkeypatch.setattr(parameters, "route_of", lambda _: "one")
    table.cache_clear()
    yield tmp_path
    table.cache_clear()


def write(directory: Path, content: Any) -> None:
    (directory / "one.json").write_text(content if isinstance(content, str) else json.dumps(content))


def test_rows_of_the_user_take_the_place_of_others(directory: Path) -> None:
    before = tilings_of(None, F32, (1, 999, 999, 99))
    table.cache_clear()
    write(directory, {"schema": 2, "measured": "here", "gemm": {"f32": {"large": {"tile": [2, 8, 2]}}}})
    assert tilings_of(None, F32, (1, 999, 999, 99))[0].tile == (2, 8, 2)
    assert tilings_of(None, F32, (1, 99, 99, 99)) == before  # another class
    assert table("one")["measured_by_user"] == "here" and table("one")["gemm"]["s8"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("{", "Expecting property name"),
        ("[1]", "list indices"),
        ({"schema": 1, "gemm": {}}, "schema 1 is not supported .supported: 2."),
        ({"schema": 2}, "gemm"),
        ({"schema": 2, "gemm": {"f33": {}}}, "the type f33 is not supported"),
        ({"schema": 2, "gemm": {"f32": {"large": {"tile": [2, 8]}}}}, "expected three positive sizes of a tile"),
        ({"schema": 2, "gemm": {"f32": {"large": [{"tile": [2, 8, 0]}]}}}, "expected three positive sizes of a tile"),
        ({"schema": 2, "gemm": {"f32": {"large": {"tile": ["2", "8", "; }"]}}}}, "expected three positive sizes"),
        ({"schema": 2, "gemm": {"f32": {"large": {"panels": ["f32", "f32"]}}}}, "tile"),
        ({"schema": 2, "gemm": {}, "deny": [[2, 8]]}, "expected a list of tiles"),
        ({"schema": 2, "gemm": {}, "allow": [8]}, "expected a list of tiles"),
        ({"schema": 2, "gemm": {}, "allow": "vpdpbusd"}, "expected a list of tiles"),
    ],
)
def test_tables_of_another_form(directory: Path, content: Any, text: str) -> None:
    write(directory, content)
    with pytest.raises(ValueError, match=text) as error:
        table("one")
    assert str(directory / "one.json") in str(error.value)


def test_the_lists_allow_and_deny(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, rows = (1, 999, 999, 99), [{"tile": [2, 8, 2], "needs": "dot"}, {"tile": [4, 8, 2]}, {"tile": [8, 8, 2]}]
    monkeypatch.setattr(parameters, "instructions_of", lambda *_: ("dot",))

    def tiles(**lists: Any) -> list[tuple[int, ...]]:
        write(directory, {"schema": 2, "gemm": {"f32": {"large": rows}}, **lists})
        table.cache_clear()
        return [tiling.tile for tiling in tilings_of(None, F32, shape)][:1]

    assert tiles() == [(2, 8, 2)]
    assert tiles(deny=[[2, 8, 2]]) == tiles(deny=["dot"]) == tiles(deny=[[3, 3, 3], "dot"]) == [(4, 8, 2)]
    assert tiles(deny=["dot", [4, 8, 2]]) == tiles(allow=[[8, 8, 2]]) == [(8, 8, 2)]
    assert tiles(allow=["dot"]) == [(2, 8, 2)]
    assert tiles(allow=[[2, 8, 2], [8, 8, 2]], deny=["dot"]) == [(8, 8, 2)]
    assert parameters.rows_of(None, F32, shape, with_excluded=True)[0] == rows[0]
    with pytest.raises(ValueError, match="allow and deny exclude all tiles for f32") as error:
        tiles(allow=[])
    assert str(directory / "one.json") in str(error.value)
