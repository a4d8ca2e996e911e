"""Every page of the documentation site in a browser, from files: no errors, no network, as wide as its window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browser, errors, overflow, prefer, requested, resize

pytestmark = pytest.mark.site
WIDTHS = {"desktop": 1280, "phone": 360}
# One page of each kind; all pages run with --all.
SOME = (
    *("index", "language", "builtins", "architecture", "vendors", "search", "genindex", "changelog"),
    *("reference/index", "reference/files", "reference/limits", "reference/environment"),
    *("reference/codes/index", "reference/codes/coop-mat-shape", "reference/codes/unused-variable"),
    *("reference/codes/spirv-invalid", "reference/command-line/compile", "reference/command-line/cluster"),
    *("reference/python/coopmat", "inside/faults", "inside/contributing", "results/index", "results/conformance"),
)


@pytest.fixture
def driver(profile: Path, site: Path) -> Iterator[Any]:
    with browser(profile) as page:
        yield page


def check(driver: Any, path: Path, site: Path) -> list[str]:
    """Return what is wrong with a page, in both color schemes and all widths."""
    found = []
    for scheme, (name, width) in [(s, item) for s in ("light", "dark") for item in WIDTHS.items()]:
        prefer(driver, scheme)
        resize(driver, width, 800)
        driver.get(path.as_uri())
        found += [f"{name}, {scheme}: {text}" for text in errors(driver)]
        found += [f"{name}, {scheme}: loads {url}" for url in requested(driver) if not url.startswith(site.as_uri())]
        if overflow(driver) > 0:
            found.append(f"{name}, {scheme}: {overflow(driver)} pixels too wide")
        if _brightness(driver) == (scheme == "dark"):
            found.append(f"{name}, {scheme}: the background has the other scheme")
    return [f"{path.relative_to(site)}: {text}" for text in found]


def _brightness(driver: Any) -> bool:
    """Whether the background of the page is bright."""
    text: str = driver.execute_script("return getComputedStyle(document.body).backgroundColor;")
    return sum(map(int, text.partition("(")[2].rstrip(")").split(",")[:3])) > 3 * 127


def test_pages_of_each_kind(driver: Any, site: Path) -> None:
    assert [fault for name in SOME for fault in check(driver, site / f"{name}.html", site)] == []


@pytest.mark.slow
def test_every_page(driver: Any, site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 300
    assert [fault for path in pages for fault in check(driver, path, site)] == []


@pytest.mark.parametrize(
    ("word", "page"), [("coop_mat_load", "language.html"), ("unchecked-shapes", "unchecked-shapes")]
)
def test_search_finds_a_word(driver: Any, site: Path, word: str, page: str) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    driver.get((site / "index.html").as_uri())
    driver.find_element("css selector", ".sidebar-search").send_keys(word, "\n")
    links = "#search-results li a"
    WebDriverWait(driver, 60).until(lambda d: page in _addresses(d, links))
    assert errors(driver) == []


def _addresses(driver: Any, selector: str) -> str:
    script = "return Array.from(document.querySelectorAll(arguments[0])).map(a => a.href).join(' ');"
    text: str = driver.execute_script(script, selector)
    return text
