"""The pages that Sphinx reads: those of docs/, some others of the repository, and the generated ones.

A link between pages stays; one to another file of the repository becomes an address of the project's source.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from pages import markdown

from . import api, codes, commands, faults, home, limits, results

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# A page outside of docs/ -> its page in the site. README.md says what the first page says.
OTHERS = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "inside/contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "inside/security.md",
}
# Pages with all codes, which have pages of their own in the site.
_CODE_PAGES = ("docs/diagnostics.md", "docs/warnings.md")
_LINK = re.compile(r"(\]\(|\]: |(?:src|href)=\")([^)\s\"]+)")
# A link whose text is the name of a page.
_NAMED = re.compile(r"\[[\w/-]+\.md\](?=\(([\w./-]+\.md)(?:#[^)]*)?\))")
_TITLE = re.compile(r"^# ([^:\n]*)", re.MULTILINE)
_SOURCE = re.compile(r'^Source = "(.*)"$', re.MULTILINE)


def write_pages(folder: Path) -> None:
    """Write all pages to `folder`, which does not exist."""
    shutil.copytree(DOCS, folder)
    for path in sorted(DOCS.rglob("*.md")):
        (folder / path.relative_to(DOCS)).write_text(staged(path), encoding="utf-8")
    for name in _CODE_PAGES:
        (folder / Path(name).name).unlink()
    for name, page in OTHERS.items():
        if not (folder / page).exists():
            (folder / page).parent.mkdir(parents=True, exist_ok=True)
            (folder / page).write_text(staged(ROOT / name), encoding="utf-8")
    for name, text in generated().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def generated() -> dict[str, str]:
    """Return path -> text of the pages that docs/ does not have."""
    parts = {path.parent.name for path in DOCS.glob("*/index.md")}
    modules = (codes, commands, api, limits, faults, results)
    pages = home.pages(parts) | {name: text for module in modules for name, text in module.pages().items()}
    names = {path.stem for path in DOCS.glob("*.md")} - {Path(name).stem for name in _CODE_PAGES}
    pages["reference/index.md"] += tree_of_others(names, pages.values())
    return pages


def tree_of_others(names: Iterable[str], texts: Iterable[str]) -> str:
    """Return a tree of the pages of docs/ that are in no other tree of the parts."""
    listed = {name for text in texts for name in re.findall(r"^\.\./([\w-]+)$", text, re.MULTILINE)}
    others = [f"../{name}" for name in sorted(set(names) - listed)]
    return "\n".join(["", "```{toctree}", ":caption: More", "", *others, "```", ""]) if others else ""


def staged(path: Path) -> str:
    """Return the text of a page with the links that it has in the site; a first page also lists its part's pages."""
    text = with_titles(path.read_text(encoding="utf-8"), path.parent)
    text = rewritten(text, path.relative_to(ROOT).as_posix(), source_address())
    return text + tree_of(text, path.parent) if path.name == "index.md" else text


def with_titles(text: str, folder: Path) -> str:
    """Return a page's text in which a link that names a page by its file names it by its title."""

    def title(match: re.Match[str]) -> str:
        target = folder / match[1]
        found = _TITLE.search(target.read_text(encoding="utf-8")) if target.is_file() else None
        return match[0] if found is None else f"[{found[1]}]"

    return _NAMED.sub(title, text)


def tree_of(text: str, folder: Path) -> str:
    """Return the tree of the pages of a folder: those that its first page links to, in this order, and all others."""
    linked = [match[2].partition("#")[0] for match in _LINK.finditer(text)]
    present = sorted(path.name for path in folder.glob("*.md") if path.name != "index.md")
    pages = dict.fromkeys([name for name in linked if name in present] + present)
    return "\n".join(["", "```{toctree}", ":hidden:", "", *(name.removesuffix(".md") for name in pages), "```", ""])


def source_address() -> str:
    """Return the address of the project's files, as pyproject.toml names it."""
    match = _SOURCE.search((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert match is not None
    return f"{match[1]}/blob/main"


def rewritten(text: str, page: str, source: str, others: Mapping[str, str] = OTHERS) -> str:
    """Return a page's text with the links of the site; `page` is its path in the repository."""
    own = _place(page, others)

    def link(match: re.Match[str]) -> str:
        target = match[2]
        if "://" in target or target.startswith(("#", "mailto:")):
            return match[0]
        name, hash_sign, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), name))  # noqa: PTH118, PTH120
        if path in _CODE_PAGES:
            place, anchor = codes.place_of(anchor)
            hash_sign = "#" if anchor else ""
        elif path.startswith("docs/") or path in others:
            place = _place(path, others)
        elif (ROOT / path).exists():
            return f"{match[1]}{source}/{path}{hash_sign}{anchor}"
        else:
            return match[0]
        return f"{match[1]}{os.path.relpath(place, os.path.dirname(own) or '.')}{hash_sign}{anchor}"  # noqa: PTH120

    spans = [m.span() for m in markdown.FENCE.finditer(text)]
    return _LINK.sub(lambda m: m[0] if any(a <= m.start() < b for a, b in spans) else link(m), text)


def _place(path: str, others: Mapping[str, str]) -> str:
    """Return the path in the site of a page of the repository."""
    return others.get(path, path.removeprefix("docs/"))
