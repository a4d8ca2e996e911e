"""The figures in docs/ are what the sources say now; `tools/figures` writes them."""

from __future__ import annotations

from pathlib import Path

import figures
import pytest


@pytest.mark.parametrize("page", figures.PAGES, ids=lambda page: page.name)
def test_figures_are_up_to_date(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<!-- figure: " in text
    assert text == figures.with_figures(text)


def test_lines_are_rounded_to_two_digits() -> None:
    assert [figures._rounded(n) for n in (2, 45, 104, 1250, 11_264)] == ["10", "40", "100", "1,200", "11,000"]


def test_the_picture_of_the_rooms_is_up_to_date() -> None:
    assert figures.PICTURE.read_text(encoding="utf-8") == figures.picture_of_rooms()
