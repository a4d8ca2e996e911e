"""The pages in a browser: mouse, keyboard, routes, maps, themes, narrow windows and print."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import browser
import pytest

from coopmat.cts.outcome import Outcome, Results, Status
from coopmat.cts.report import html as report
from coopmat.cts.report.differences import compare, render_html
from coopmat.cts.report.read import Report
from coopmat.cts.schedule import Settings
from coopmat.devices import from_key_values
from coopmat.explain import explain
from coopmat.explain.page import render

KERNELS = Path(__file__).parents[2] / "kernels"
PRINTED = "it printed:\na <b>& [2 x 2 int A]\n   1    2\n   3    4"
COMPARED = (
    "c: 1 of 4 components are wrong\n  expected, 2x2.C.s32:\n    1  2\n    3  4\n  got, 2x2.C.s32:\n    1  2\n    3 9*"
)
OUTCOMES = [
    Outcome("c_add", "16x16.A.f16", "one", Status.PASSED, 0.25),
    Outcome("c_add", "2x2.C.s32", "one", Status.FAILED, 0.5, COMPARED),
    Outcome("c_print", "2x2.A.s32", "one", Status.FAILED, 0.5, PRINTED),
    Outcome("c_mul", "2x2.A.s32", "lanes", Status.NOT_SUPPORTED, 0.0, "no <such> matrices & types"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browser.browser(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


@pytest.fixture(scope="module", params=["gemm_f16", "gemm_epilogue"])
def kernel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    browser.require_browser()
    path = KERNELS / f"{request.param}.cl"
    made = render(explain(path.read_bytes(), path.name, routes=["one", "lanes"]))
    place: Path = tmp_path_factory.mktemp("pages") / f"{request.param}.html"
    place.write_text(made, encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    info = from_key_values('CL_DEVICE_TYPE=CPU\nCL_DEVICE_NAME="A <device>"\nCL_PLATFORM_NAME="P & Q"\n', "d")
    started = datetime(2026, 1, 2, tzinfo=timezone.utc)
    found = Results(info, ["one", "lanes"], ["cts", "<all>"], {"seed": 7}, 4, started, 1.0)
    found.outcomes = list(OUTCOMES)
    place: Path = tmp_path_factory.mktemp("pages") / "report.html"
    place.write_text(report.render(found, Settings("0:0", "one")), encoding="utf-8")
    return place


def all_of(page: Any, selector: str) -> list[Any]:
    found: list[Any] = page.find_elements("css selector", selector)
    return found


def one_of(page: Any, selector: str) -> Any:
    return page.find_element("css selector", selector)


def press(page: Any, *keys: str) -> Any:
    """Press keys where the focus is; return the element that has it afterwards."""
    for key in keys:
        page.switch_to.active_element.send_keys(key)
    return page.switch_to.active_element


def opened(page: Any, place: Path, width: int = 1280, height: int = 900) -> Any:
    browser.resize(page, width, height)
    browser.prefer(page, "light")
    browser.requested(page), browser.errors(page)
    page.get("about:blank")
    page.get(place.as_uri())
    return page


def visible_panel(page: Any) -> str:
    (panel,) = [element for element in all_of(page, "[role=tabpanel]") if element.is_displayed()]
    return str(panel.get_attribute("id"))


def background(page: Any, selector: str = "body") -> str:
    return str(
        page.execute_script("return getComputedStyle(document.querySelector(arguments[0])).backgroundColor", selector)
    )


def test_it_requests_nothing_and_reports_no_error(page: Any, kernel: Path, results: Path) -> None:
    for place in (kernel, results):
        opened(page, place)
        assert browser.requested(page) == {place.as_uri()} and browser.errors(page) == []


def test_a_click_on_a_line_goes_to_its_code_and_back(page: Any, kernel: Path) -> None:
    opened(page, kernel)
    one_of(page, "#tab-spv").click()
    line = [element.get_attribute("data-l") for element in all_of(page, "#panel-spv [data-route='1'] [data-l]")][-1]
    number = one_of(page, f"#L{line} > a.n")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", number)
    number.click()
    groups = [group for group in all_of(page, f"[data-l='{line}']") if group.is_displayed()]
    assert {"r0", "r1"} == {group.get_attribute("id")[:2] for group in groups}
    assert all("chosen" in group.get_attribute("class") for group in groups)
    assert page.switch_to.active_element.text == line and page.switch_to.active_element.get_attribute("href").endswith(
        f"#L{line}"
    )
    # The first group of each route is scrolled into its box.
    inside = "const g = arguments[0].getBoundingClientRect(), b = arguments[0].parentElement.getBoundingClientRect();"
    for route in "01":
        first = next(group for group in groups if group.get_attribute("id").startswith(f"r{route}"))
        assert page.execute_script(inside + "return g.bottom > b.top && g.top < b.bottom", first)
    page.switch_to.active_element.click()
    focused = page.switch_to.active_element
    assert focused.find_element("xpath", "..").get_attribute("id") == f"L{line}"


def test_hovering_marks_both_sides(page: Any, kernel: Path) -> None:
    from selenium.webdriver import ActionChains

    opened(page, kernel)
    group = next(g for g in all_of(page, "#panel-ast [data-l]") if g.is_displayed())
    ActionChains(page).move_to_element_with_offset(group, 5, 0).perform()
    line = group.get_attribute("data-l")
    assert "hot" in group.get_attribute("class") and "hot" in one_of(page, f"#L{line}").get_attribute("class")
    ActionChains(page).move_to_element(one_of(page, "h1")).perform()
    assert all_of(page, ".hot") == []


def test_the_keyboard_reaches_everything(page: Any, kernel: Path) -> None:
    from selenium.webdriver import Keys

    opened(page, kernel)
    tab = one_of(page, "[role=tab][aria-selected=true]")
    page.execute_script("arguments[0].focus()", tab)
    assert press(page, Keys.ARROW_RIGHT).get_attribute("id") == "tab-ll" and visible_panel(page) == "panel-ll"
    assert press(page, Keys.END).get_attribute("id") == "tab-asm"
    assert press(page, Keys.HOME, Keys.ARROW_RIGHT).get_attribute("id") == "tab-ll"
    # Only one tab and one number of each listing are stops of the Tab key.
    assert len([t for t in all_of(page, "[role=tab]") if t.get_attribute("tabindex") == "0"]) == 1
    number = press(page, Keys.TAB)
    assert number.get_attribute("class") == "n" and number.find_element("xpath", "../..").tag_name == "pre"
    width = page.execute_script("return getComputedStyle(arguments[0]).outlineWidth", number)
    assert width != "0px" and page.execute_script("return document.activeElement.matches(':focus-visible')")
    following = press(page, Keys.ARROW_DOWN)
    assert following.id != number.id and following.get_attribute("class") == "n"
    assert press(page, Keys.ARROW_UP).id == number.id
    line = number.text
    source = press(page, Keys.ENTER)
    assert source.find_element("xpath", "..").get_attribute("id") == f"L{line}"
    assert one_of(page, "#status").get_attribute("textContent") == f"line {line}"
    back = press(page, Keys.ARROW_RIGHT)
    assert back.find_element("xpath", "..").get_attribute("data-l") == line
    assert all_of(page, ".chosen") and press(page, Keys.ESCAPE) and not all_of(page, ".chosen")


def test_matrices_open_their_maps(page: Any, kernel: Path) -> None:
    from selenium.webdriver import Keys

    opened(page, kernel)
    link = next(link for link in all_of(page, ".code.source a.m") if link.text == "sum")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].focus()", link)
    press(page, Keys.ENTER)
    (dialog,) = all_of(page, "dialog[open]")
    assert dialog.get_attribute("id") == "map-16x16-C-f32" and "16 lanes, 16 slots each" in dialog.text
    cells = [cell for cell in dialog.find_elements("css selector", "[data-route='1'] td") if cell.is_displayed()]
    assert len(cells) == 256 and cells[17].text == "1:1"
    press(page, Keys.ESCAPE)
    assert all_of(page, "dialog[open]") == [] and page.switch_to.active_element.text == "sum"
    multiply_add = one_of(page, "a[href='#mul-0']")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", multiply_add)
    multiply_add.click()
    (dialog,) = all_of(page, "dialog[open]")
    assert "no matrix instruction on the route 'lanes'" in dialog.text
    dialog.find_element("css selector", "a[href='#map-16x16-A-f16']").click()
    (dialog,) = all_of(page, "dialog[open]")
    assert dialog.get_attribute("id") == "map-16x16-A-f16"
    dialog.find_element("css selector", "button").click()
    assert all_of(page, "dialog[open]") == []


def test_routes_are_compared_or_switched(page: Any, kernel: Path) -> None:
    opened(page, kernel)
    one_of(page, "#tab-c").click()
    shown = lambda: [s.get_attribute("data-route") for s in all_of(page, "#panel-c section") if s.is_displayed()]  # noqa: E731
    assert shown() == ["0", "1"]
    left, right = (s.rect for s in all_of(page, "#panel-c section"))
    assert left["x"] + left["width"] <= right["x"] and abs(left["width"] - right["width"]) < 2
    for value, wanted in (("0", ["0"]), ("1", ["1"]), ("both", ["0", "1"])):
        one_of(page, f".switch label:has([value='{value}'])").click()
        assert shown() == wanted
    remarks = [d for d in all_of(page, ".code.source .d.remark") if d.is_displayed()]
    one_of(page, ".switch label:has([value='1'])").click()
    assert len([d for d in all_of(page, ".code.source .d.remark") if d.is_displayed()]) == len(remarks) // 2


def test_the_theme_follows_the_system_or_the_button(page: Any, kernel: Path, results: Path) -> None:
    for place in (kernel, results):
        opened(page, place)
        page.execute_script("localStorage.clear()")
        page.refresh()
        light = background(page)
        browser.prefer(page, "dark")
        dark = background(page)
        assert light == "rgb(255, 255, 255)" and dark != light
        theme = one_of(page, "#theme")
        theme.click()
        assert background(page) == light and "light" in theme.text
        theme.click()
        assert background(page) == dark and "dark" in theme.get_attribute("aria-label")
        page.refresh()
        assert background(page) == dark and one_of(page, "html").get_attribute("data-theme") == "dark"
        one_of(page, "#theme").click()
        assert one_of(page, "html").get_attribute("data-theme") is None


def test_narrow_windows_scroll_in_one_direction(page: Any, kernel: Path, results: Path) -> None:
    for place in (kernel, results):
        opened(page, place, 360, 740)
        assert browser.overflow(page) == 0
        for button in all_of(page, "button, .switch label"):
            assert not button.is_displayed() or (button.rect["height"] >= 24 and button.rect["width"] >= 24)
    opened(page, kernel, 360, 740)
    one_of(page, "#tab-ll").click()
    left, right = (s.rect for s in all_of(page, "#panel-ll section"))
    assert left["y"] + left["height"] <= right["y"]  # one above the other
    number = one_of(page, "#panel-ll [data-route='1'] a.n")
    number.click()
    place_ = page.switch_to.active_element.find_element("xpath", "..")
    top = page.execute_script("return arguments[0].getBoundingClientRect().top", place_)
    assert place_.get_attribute("id").startswith("L") and 0 <= top <= 740
    link = one_of(page, ".code.source a.m")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", link)
    link.click()
    (dialog,) = all_of(page, "dialog[open]")
    assert dialog.rect["width"] <= 360 and browser.overflow(page) == 0


def test_print_has_every_stage(page: Any, kernel: Path) -> None:
    opened(page, kernel)
    browser.prefer(page, "dark", media="print")
    assert all(panel.is_displayed() for panel in all_of(page, "[role=tabpanel]"))
    assert not any(b.is_displayed() for b in all_of(page, "button, .switch"))
    assert all(h.is_displayed() for h in all_of(page, "[role=tabpanel] > h2"))
    assert all(d.is_displayed() for d in all_of(page, "dialog.map"))
    boxes = all_of(page, ".code")
    assert all(
        page.execute_script("return arguments[0].scrollHeight - arguments[0].clientHeight < 2", box) for box in boxes
    )
    browser.prefer(page, "light")
    assert browser.print_to_pdf(page).startswith(b"%PDF")


def test_the_page_works_without_its_script(tmp_path: Path, kernel: Path) -> None:
    with browser.browser(tmp_path, script=False) as page:
        page.get(kernel.as_uri())
        assert all(panel.is_displayed() for panel in all_of(page, "[role=tabpanel]"))
        assert not any(element.is_displayed() for element in all_of(page, "[role=tab], .switch, #theme"))
        number = one_of(page, "#panel-ll a.n")
        assert one_of(page, number.get_attribute("href").partition("#")[2].join(("#", ""))).is_displayed()


def test_the_report_of_a_run(page: Any, results: Path) -> None:
    from selenium.webdriver import Keys

    opened(page, results)
    tables = [table for table in all_of(page, "section .numbers") if table.is_displayed()]
    captions = [table.find_element("css selector", "caption").text for table in tables]
    assert captions == ["expected, 2x2.C.s32", "got, 2x2.C.s32", "a <b>& [2 x 2 int A]"]
    (wrong,) = tables[1].find_elements("css selector", "td.fail")
    assert wrong.text.startswith("9")
    cell = next(link for link in all_of(page, ".grid td.fail a"))
    page.execute_script("arguments[0].focus()", cell)
    press(page, Keys.ENTER)
    (dialog,) = all_of(page, "dialog[open]")
    assert "2x2.C.s32" in dialog.text or "c_" in dialog.text
    press(page, Keys.ESCAPE)
    one_of(page, "#filter").send_keys("not supported")
    assert [t.get_attribute("id") for t in all_of(page, "details.test") if t.is_displayed()] == ["c_mul.lanes"]


def test_the_comparison_of_two_runs(page: Any, tmp_path: Path) -> None:
    browser.require_browser()
    a = Report("a<b>.json", {"name": "D & E"}, ("one",), {}, tuple(OUTCOMES))
    b = Report(
        "b.json", {"name": "D"}, ("one",), {}, (Outcome("c_add", "16x16.A.f16", "one", Status.FAILED, 1, PRINTED),)
    )
    (tmp_path / "c.html").write_text(render_html(compare(a, b)), encoding="utf-8")
    opened(page, tmp_path / "c.html", 360, 740)
    assert browser.errors(page) == [] and browser.overflow(page) == 0
    assert "B has 1 failure that A lacks." in one_of(page, ".verdict").text
    assert "passed \u2192 failed" in one_of(page, "body").text and "a<b>.json" in one_of(page, "body").text
    one_of(page, "li.fail summary").click()
    assert one_of(page, "li.fail .numbers caption").text == "a <b>& [2 x 2 int A]"
    one_of(page, "#filter").send_keys("2x2.C")
    assert "16x16.A.f16" not in one_of(page, "body").text and "2x2.C.s32" in one_of(page, "body").text
