"""docs/porting.md: what it says to write here compiles, and every foreign name that messages know stands on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import markdown
from repeats import slow_where
from valid_modules import assert_valid

import coopmat
from coopmat.frontend import foreign_names

PATH = Path(__file__).parents[2] / "docs/porting.md"
PAGE = PATH.read_text(encoding="utf-8")
(FRAME,) = markdown.blocks(PAGE, "c")
PLACE = "    // here\n"
TABLES = [cells for cells in markdown.rows(PAGE) if len(cells) == 3]
# The texts, each once, with the language's word in the first row that has it.
TEXTS = {markdown.codes(cells[2])[0]: cells[1] for cells in reversed(TABLES) if cells[2].startswith("`")}
OPTIONS = {
    "one": ("--matrices", "one"),
    "lanes": ("--matrices", "lanes"),
    "native": ("--native-profile", "maint1", "--spirv-version", "1.4"),
}


def source(text: str) -> str:
    """The frame with this text, and what keeps its values from being unused."""
    assert FRAME.text.count(PLACE) == 1
    uses = "{ coop_mat_store(out, c + d + (C)h, ROW_MAJOR, 16); coop_mat_store((global int *)out, i32, ROW_MAJOR, 16);"
    uses += " coop_mat_store(out, coop_mat_mulAdd(a, b, c), ROW_MAJOR, 16); }"
    kernel = FRAME.text.replace(PLACE, f"    {{ {text} }}\n    {uses}\n")
    size = "__attribute__((reqd_work_group_size(64, 1, 1)))" if "WORKGROUP" in text else ""
    return kernel.replace("kernel void", f"kernel {size} void")


# The texts are about the language: all routes have the same front end.
@pytest.mark.parametrize("route", slow_where(lambda route: route != "native", OPTIONS))
@pytest.mark.parametrize("text", TEXTS, ids=TEXTS.get)
def test_what_is_written_here_compiles(text: str, route: str) -> None:
    module = coopmat.compile(source(text), OPTIONS[route])
    assert not module.diagnostics, "\n".join(str(item) for item in module.diagnostics)
    assert_valid(module)


def test_every_row_has_a_text_or_says_none() -> None:
    heads = [cells for cells in TABLES if cells[2] == "here"]
    assert len(TABLES) - len(heads) > 100
    missing = [cells for cells in TABLES if cells not in heads and not re.match(r"`|none\b", cells[2])]
    assert not missing


@pytest.mark.parametrize("table", ["FUNCTIONS", "CONSTANTS", "TYPES", "WORK_ITEMS", "QUALIFIERS"])
def test_names_that_messages_know_are_on_the_page(table: str) -> None:
    words = set(re.findall(r"\w+", PAGE))
    assert [name for name in getattr(foreign_names, table) if name not in words] == []
