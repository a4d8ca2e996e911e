"""docs/operations.md is what the tables and the compiler say now."""

from __future__ import annotations

from pathlib import Path

from pages.operations import OPERATIONS, cell, document, native

from coopmat.matrices.variants import COMPONENT_TYPES

ROOT = Path(__file__).parents[2]


def test_the_page_in_docs_is_up_to_date() -> None:
    assert (ROOT / "docs/operations.md").read_text(encoding="utf-8") == document()


def test_it_tells_what_is_in_the_modules() -> None:
    khr, igc = (native(profile, COMPONENT_TYPES["f32"]) for profile in ("khr", "igc"))
    assert khr["`*` by component"] == "`FMul`" and "loop" in igc["`*` by component"]
    assert khr["multiply-add"] == "`CooperativeMatrixMulAddKHR`" == igc["multiply-add"]
    assert "local tile" in khr["load, checked"] and "local tile" not in khr["load by rows"]
    assert khr.keys() == {row.title for row in OPERATIONS if not row.integers}


def test_the_usual_way_needs_no_types() -> None:
    assert cell({"a": "x", "b": "y", "c": "x", "d": "z"}) == "x; b: y; d: z"
    assert cell({}) == ""
