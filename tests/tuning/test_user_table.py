"""The rows that tuning adds to the user's table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coopmat.linalg import parameters
from coopmat.linalg.parameters import Tiling, listed, table, tilings_of
from coopmat.matrices.variants import COMPONENT_TYPES
from coopmat.tuning import Row, user_table

NEW = Tiling((6, 48, 2), (), 0, ("f32", "f32"))
Shape = tuple[int, int, int, int]


@pytest.fixture
def write(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A function that writes a new tiling of a type and shape on the route x86, and returns the classes of the type."""
    for module in (parameters, user_table):
        if hasattr(module, "route_of"):
            monkeypatch.setattr(module, "route_of", lambda _: "x86")
    monkeypatch.setattr(parameters, "instructions_of", lambda *_: ("vdpbf16ps",))

    def write_row(kind: str, shape: Shape, new: Tiling | None = NEW, measured: str = "here") -> Any:
        name = parameters.shape_class(*shape)
        row = Row(kind, shape, name, Tiling((1, 1, 1)), new, 2.0, 1.0, 9, 0)
        assert user_table.write(None, "x86", [row], measured) == (new is not None)
        return json.loads((directory / "x86.json").read_text())["gemm"][kind] if new else None

    return write_row


def shipped(kind: str, name: str) -> list[Any]:
    return listed(table("x86")["gemm"][kind][name])


def used(kind: str, shape: Shape) -> Tiling:
    component = COMPONENT_TYPES[kind]
    return tilings_of(None, (component, component), shape)[0]


def test_a_new_row_replaces_the_one_in_use_and_keeps_its_conditions(write: Any) -> None:
    before = shipped("f32", "rows")
    assert [row.get("rows") for row in before] == [1, 2, 4, None]
    one, several, other = (1, 1, 999, 999), (1, 8, 999, 999), (1, 999, 999, 999)
    tilings = used("f32", one), used("f32", several), used("f32", other)
    row = {"tile": [6, 48, 2], "panels": ["f32", "f32"]}
    assert write("f32", several) == {"rows": [*before[:3], row]}
    assert (used("f32", one), used("f32", several), used("f32", other)) == (tilings[0], NEW, tilings[2])
    assert write("f32", one, Tiling((1, 64, 4))) == {"rows": [{"tile": [1, 64, 4], "rows": 1}, *before[1:3], row]}
    assert (used("f32", one), used("f32", several)) == (Tiling((1, 64, 4)), NEW)


def test_a_class_without_a_row_for_the_shape_gets_one_at_its_end(write: Any) -> None:
    whole, ragged = (1, 320, 320, 320), (1, 333, 333, 333)
    before, tiling = shipped("f16", "medium"), used("f16", whole)
    assert write("f16", ragged) == {"medium": [*before, {"tile": [6, 48, 2], "panels": ["f32", "f32"]}]}
    assert used("f16", whole) == tiling and used("f16", ragged) == NEW


def test_the_instruction_that_a_row_needs_is_kept(write: Any) -> None:
    row = write("bf16", (1, 8, 999, 999), Tiling((4, 64, 8)))["rows"][1]
    assert row == {"tile": [4, 64, 8], "needs": "vdpbf16ps"}


def test_blocks_are_written(write: Any) -> None:
    new = Tiling((4, 8, 1), (64, 64, 16), 1)
    assert write("f64", (1, 999, 999, 999), new)["large"] == [
        {"tile": [4, 8, 1], "block": [64, 64, 16], "sub_group_size": 1}
    ]
    assert Tiling.from_dict(table("x86")["gemm"]["f64"]["large"][0]) == new


def test_other_rows_of_the_user_stay(write: Any, directory: Path) -> None:
    directory.mkdir(parents=True)
    own = {"f32": {"wide": {"tile": [4, 32, 1]}}, "s8": {"large": {"tile": [8, 8, 8]}}}
    content = {"schema": 2, "measured": "my laptop", "gemm": own, "deny": ["vpdpbusd"], "comment": "mine"}
    (directory / "x86.json").write_text(json.dumps(content))
    write("f32", (1, 999, 999, 999))
    written = json.loads((directory / "x86.json").read_text())
    own["f32"]["large"] = [{"tile": [6, 48, 2], "panels": ["f32", "f32"]}]  # type: ignore[assignment]
    assert written == content | {"measured": "my laptop; here", "gemm": own}
    write("f32", (1, 999, 999, 999), Tiling((2, 16, 1)))
    assert json.loads((directory / "x86.json").read_text())["measured"] == "my laptop; here"
    assert [path.name for path in directory.iterdir()] == ["x86.json"]


def test_without_a_new_tiling_nothing_is_written(write: Any, directory: Path) -> None:
    write("f32", (1, 999, 999, 999), None)
    assert not directory.exists()


def test_a_failure_leaves_the_old_table(write: Any, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("f32", (1, 999, 999, 999))
    before = (directory / "x86.json").read_bytes()

    def fail(*_words: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        write("f32", (1, 999, 999, 999), Tiling((2, 16, 1)))
    assert (directory / "x86.json").read_bytes() == before
    assert [path.name for path in directory.iterdir()] == ["x86.json"]


def test_a_tile_that_does_not_divide_the_shape_is_used_for_it(write: Any) -> None:
    whole = (1, 512, 512, 512)
    old = used("f32", whole)
    write("f32", whole, Tiling((12, 32, 4)))
    assert used("f32", whole).tile == (12, 32, 4) != old.tile


def test_shapes_that_the_new_tile_does_not_divide_keep_the_old_one(write: Any) -> None:
    whole, other = (1, 512, 512, 512), (1, 320, 320, 320)
    old = used("f32", other)
    write("f32", whole, Tiling((16, 128, 8)))
    assert used("f32", whole).tile == (16, 128, 8) and used("f32", other) == old
