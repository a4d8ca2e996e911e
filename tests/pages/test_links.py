"""Links between the pages lead to files and headings that there are."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import markdown

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert markdown.broken_links(page) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A `heading`, twice\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text("[a](other.md#a-heading-twice) [b](other.md#b) [c](none.md) [d](#e) [f](https://g)\n# D\n[d](#d)")
    assert markdown.broken_links(page) == ["other.md#b", "none.md", "#e"]
