"""The reports: that what reads such files can read them, and finds everything in them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from datetime import datetime, timezone
from html.parser import HTMLParser

import pytest
from test_profile import CPU

from coopmat.cts.outcome import Outcome, Results, Status
from coopmat.cts.report import html, json as json_report, junit, logs
from coopmat.cts.report.features import Features, features
from coopmat.cts.report.text import TextReport
from coopmat.cts.schedule import Settings

SETTINGS = Settings("0:0", "one")
NASTY = 'a < b & "c" </pre><script>alert(1)</script> \x00\x1b[31m \ud800 ж'
OUTCOMES = [
    Outcome("c_add", "16x16.A.f16", "one", Status.PASSED, 0.25),
    Outcome("c_add", "3x5.B.s8", "lanes", Status.FAILED, 0.5, NASTY, "kept/here & there"),
    Outcome("c_convert", "8x3.A.f16.8x3.A.u64", "one", Status.PASSED, 0.125),
    Outcome("spirv_matrixmuladd", "2x3x4.s8xu8_s32_s32.nosat", "one", Status.PASSED, 0.5),
    Outcome("spirv_length", "", "native", Status.NOT_SUPPORTED, log="no such matrices"),
]


@pytest.fixture
def results():
    started = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    found = Results(CPU, ["one", "lanes"], ["cts", "<all>"], {"seed": 7}, 6, started, 12.5, True)
    found.outcomes = list(OUTCOMES)
    return found


class _Page(HTMLParser):
    """Checks that elements are closed as they were opened; collects what matters."""

    VOID = ("meta", "br", "input")

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text, self.keys, self.links = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        attributes = dict(attrs)
        self.links += [attributes[name] for name in ("src", "href") if name in attributes]
        if "data-k" in attributes:
            self.keys.append((tag, attributes["data-k"]))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_is_whole_and_escaped(results):
    text = html.render(results, SETTINGS)
    text.encode()
    page = _Page()
    page.feed(text)
    page.close()
    assert page.open == [] and page.tags.count("script") == 1
    seen = "".join(page.text)
    for wanted in ("FAILED 1 of 4 tests.", CPU.name, "5 of 6 variants were run", "coopmat cts <all>", 'b & "c" </pre>'):
        assert wanted in seen
    assert all(link.startswith("#") for link in page.links) and "://" not in text
    assert "light-dark(" in text and "width=device-width" in text


def test_each_cell_has_words_and_finds_its_variants(results):
    page = _Page()
    page.feed(html.render(results, SETTINGS))
    cells = {key for tag, key in page.keys if tag == "a"}
    behind = [set(keys.split(";")) for tag, keys in page.keys if tag == "li"]
    assert len(behind) == len(OUTCOMES)
    assert {"t|c_add|f16", "u|c_add|B", "r|c_add|lanes", "m|s8 × u8|s32", "c|f16|u64", "r|spirv_length|native"} <= cells
    assert cells == set().union(*behind)
    assert {"✗ 0/1", "1/1", "n/s", "✗ 1/2"} >= {t for t in page.text if "/" in t and len(t) < 6} > {"✗ 0/1", "n/s"}


def test_the_page_begins_with_failures_and_links_to_their_files(results, tmp_path, monkeypatch):
    """Paths are relative to the page; facts follow the tables; reductions are no conversions."""
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "kept" / "here & there"
    kept.mkdir(parents=True)
    (kept / "test.cl").write_text("")
    results.outcomes.append(Outcome("c_reduce_row", "1x64.C.f16.1x64.C.f16.sum", "one", Status.PASSED, 0.1))
    text = html.render(results, SETTINGS, tmp_path / "pages")
    order = [text.index(part) for part in ("<h2>Failures", "<details open>", "Tests by component", "Device and run")]
    assert order == sorted(order) and "id='filter'" in text and "max-width: 40rem" in text
    assert "overflow-wrap: anywhere; min-width" in text  # otherwise headers are one letter wide on a phone
    page = _Page()
    page.feed(text)
    assert "../kept/here%20%26%20there/test.cl" in page.links
    assert {key for tag, key in page.keys if tag == "a" and key.startswith("c|")} == {"c|f16|u64"}
    results.outcomes = [outcome for outcome in results.outcomes if outcome.status is Status.PASSED]
    assert "<h2>Failures" not in html.render(results, SETTINGS, tmp_path)


def test_matrices_in_logs_are_tables(results):
    lines = [
        "c: 1 of 4 components are wrong",
        "  row 3, column 6: 9, not 4",
        "  got, 16x16.C.s32 (rows 2 to 3, columns 5 to 6):",
    ]
    lines += [
        "     1  2",
        "     3 9*",
        "it printed:",
        "a <b> [1 x 2 int A]",
        "  5  6",
        "0 0 0 0 7",
        "b [2 x 2 int A]",
        "1 2",
    ]
    text = logs.render(lines)
    assert '<th scope="col">5</th><th scope="col">6</th>' in text and "<caption>got, 16x16.C.s32 (rows 2 to 3" in text
    assert '<tr><th scope="row">3</th><td>3</td><td class="fail">9 \u2717</td></tr>' in text
    assert "<caption>a &lt;b&gt; [1 x 2 int A]</caption>" in text and "<caption>coop_mat_print_lanes</caption>" in text
    # An incomplete matrix, and one whose rows differ in length, are text.
    assert "b [2 x 2 int A]\n1 2</pre>" in text
    assert logs.render(["  got, 2x2.C.s32:", "    1 2", "    3"]) == "<pre>  got, 2x2.C.s32:\n    1 2\n    3</pre>"


def test_lines_have_a_count_on_terminals(results):
    lines: list[str] = []
    report = TextReport(SETTINGS, 1, lines.append, counts=True)
    report.begin(6)
    for outcome in OUTCOMES[:2]:
        report.done(outcome)
    assert lines[1] == "passed  [1 of 6]" and lines[3].startswith("FAILED  [2 of 6]\n")


def test_junit_counts_and_carries_every_log(results):
    text = junit.render(results, SETTINGS)
    root = ET.fromstring(text.encode())
    assert {k: root.get(k) for k in ("tests", "failures", "skipped", "errors")} == {
        **{"tests": "5", "failures": "1", "skipped": "1", "errors": "1"}
    }
    failure = root.find(".//testcase/failure")
    assert 'a < b & "c" </pre><script>' in failure.text and "kept/here & there" in failure.text
    assert "coopmat cts c_add --variant 3x5.B.s8 --route lanes" in failure.text
    cases = [case.get("name") for case in root.iter("testcase")]
    assert cases == [*(o.variant or o.test for o in OUTCOMES[:1]), *cases[1:]] and len(cases) == 6


def test_json_says_everything(results):
    report = json.loads(json_report.render(results, SETTINGS))
    assert report["totals"] == {"passed": 3, "failed": 1, "not_supported": 1}
    assert (report["planned"], report["complete"], report["interrupted"]) == (6, False, True)
    assert [o["status"] for o in report["outcomes"]] == ["passed", "failed", "passed", "passed", "not_supported"]
    assert report["outcomes"][1]["log"] == NASTY
    assert report["outcomes"][1]["repeat"] == "coopmat cts c_add --variant 3x5.B.s8 --route lanes"
    tests = {(t["test"], t["route"]): t["status"] for t in report["tests"]}
    assert tests["c_add", "one"] == "passed" and tests["c_add", "lanes"] == "failed"


def test_upstream_results_have_a_word_for_each_test(results):
    report = json.loads(json_report.render_upstream(results, SETTINGS))
    assert report["results"] == {
        **{"c_add": "fail", "c_convert": "pass", "spirv_matrixmuladd": "pass", "spirv_length": "skip"}
    }


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("16x16.A.f16.rowm.colm.sg8", Features("f16", "A")),
        ("8x3.C.bf16.8x3.C.u64.sg8", Features("bf16", "C", target="u64")),
        ("5x3x2.s8xu16_s32_s32.sat.2subgroups", Features("s32", pairing="s8 × u16")),
        ("5x3x2.e4m3xe5m2_f32_f32.nosat", Features("f32", pairing="e4m3 × e5m2")),
        ("3x4.A.e4m3.3x4.A.f16", Features("e4m3", "A", target="f16")),
        ("", Features()),
    ],
)
def test_features_are_read_from_names(name, wanted):
    assert features(name) == wanted


@pytest.mark.parametrize("jobs", [1, 2])
def test_lines_are_those_that_upstream_prints(results, jobs):
    lines: list[str] = []
    report = TextReport(SETTINGS, jobs, lines.append)
    for outcome in OUTCOMES[:2]:
        report.started(outcome.test, outcome.variant, outcome.route)
        assert (len(lines) % 2 == 1) is (jobs == 1)
        report.done(outcome)
    assert lines[:3] == [
        *("c_add --variant 16x16.A.f16", "passed", "c_add --variant 3x5.B.s8 --route lanes"),
    ]
    assert lines[3].startswith("FAILED\n    a < b")
    report.summary(results)
    assert lines[-1] == "FAILED 1 of 4 tests." and "1 of 6 variants were not run" in lines[-2]


def test_a_run_without_a_test_has_not_passed(results):
    results.outcomes = [outcome for outcome in OUTCOMES if outcome.status is Status.NOT_SUPPORTED]
    assert json.loads(json_report.render(results, SETTINGS))["verdict"] == "No test was run."
    assert "class='verdict fail'>No test was run.</p>" in html.render(results, SETTINGS)
