"""The check of the links of a built site: each leads to a page and an anchor that exist, and nothing is loaded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes whose address a browser loads with the page.
_LOADED = {("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src"), ("object", "data")}
# Values of a link's `rel` whose address is not loaded.
_ONLY_NAMED = {"canonical", "index", "search", "next", "prev", "author", "copyright"}
# Schemes of addresses outside of the site; such pages cannot be checked without a network.
_OUTSIDE = {"http", "https", "mailto"}


class _Page(HTMLParser):
    """A page's anchors and the addresses that its elements name.

    anchors: the values of `id` and `name`.
    links: the addresses of links.
    loaded: the addresses that a browser loads with the page.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value is not None}
        self.anchors.update(values[name] for name in ("id", "name") if name in values)
        for name, value in values.items():
            if (tag, name) in _LOADED:
                self.loaded.append(value)
            elif tag == "link" and name == "href":
                is_named = values.get("rel", "") in _ONLY_NAMED
                (self.links if is_named else self.loaded).append(value)
            elif tag == "a" and name == "href":
                self.links.append(value)


def faults(site: Path) -> list[str]:
    """Return a message for each broken link, and for each address that a page would load from the network."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name}: loads {address}" for address in page.loaded if _is_outside(address)]
        found += [f"{name}: broken link {address}" for address in _broken(path, page, pages)]
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(site)}: loads from the network"] * ("url(http" in text or "@import" in text)
    return found


def _is_outside(address: str) -> bool:
    return urlsplit(address).scheme in _OUTSIDE or address.startswith("//")


def _broken(path: Path, page: _Page, pages: dict[Path, _Page]) -> Iterator[str]:
    for address in dict.fromkeys([*page.links, *page.loaded]):
        parts = urlsplit(address)
        if _is_outside(address) or parts.scheme == "data":
            continue
        target = path if not parts.path else Path(os.path.normpath(path.parent / unquote(parts.path)))
        anchors = pages[target].anchors if target in pages else {""}
        if not target.is_file() or (unquote(parts.fragment) not in anchors and parts.fragment):
            yield address
