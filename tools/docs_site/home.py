"""The first page of the site, and the first pages of its parts, which docs/ has no use for."""

from __future__ import annotations

from pathlib import Path

PAGES = Path(__file__).parent / "parts"
_START = """\
If this is new to you, begin with [the start](start/index.md). If you have a goal, look for it in the
[how-to pages](howto/index.md).
"""
# The parts in their order. A part is a folder with a page `index.md`.
PARTS = ("start", "howto", "reference", "inside", "results")


def pages(present: set[str]) -> dict[str, str]:
    """Return path -> text of these pages; `present` has the parts that docs/ has."""
    texts = {path.relative_to(PAGES).as_posix(): path.read_text(encoding="utf-8") for path in PAGES.rglob("*.md")}
    found = [part for part in PARTS if part in present or f"{part}/index.md" in texts or part == "results"]
    tree = ["", "```{toctree}", ":hidden:", "", *(f"{part}/index" for part in found), "changelog", "```", ""]
    begin = _START if {"start", "howto"} <= present else ""
    texts["index.md"] = texts["index.md"].replace("<!-- start -->\n", begin) + "\n".join(tree)
    return texts
