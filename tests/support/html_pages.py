"""HTML pages as tests read them: every element is closed, and what has ids, links and classes is collected."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = ("meta", "br", "input")
_WORDS = """
    html head meta title style body script h1 h2 h3 p div span section main form fieldset legend label input button
    table caption thead tbody tr th td pre code a b ul li dialog details summary small strong
"""
TAGS = frozenset(_WORDS.split())


class Page(HTMLParser):
    """A page; `elements` has (tag, attributes) of each element, in order.

    Fails if an element is not closed, has an unknown tag, or runs scripts by an attribute.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, f"the page has an element <{tag}>"
        attributes = {name: value or "" for name, value in attrs}
        assert len(attributes) == len(attrs) and not any(name.startswith("on") for name in attributes), attrs
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes no element, line {self.getpos()[0]}"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def ids(self) -> list[str]:
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]

    def values(self, name: str, tag: str = "") -> list[str]:
        """The values of an attribute, in order."""
        return [found[name] for of, found in self.elements if name in found and tag in ("", of)]

    def require_links(self) -> None:
        """Each id is unique; each link and each reference by an attribute leads to an element of the page."""
        ids = set(self.ids)
        assert len(ids) == len(self.ids)
        links = self.values("href")
        assert all(link.startswith("#") and link[1:] in ids for link in links), set(links) - {f"#{i}" for i in ids}
        for name in ("aria-controls", "aria-labelledby"):
            assert ids.issuperset(self.values(name))
