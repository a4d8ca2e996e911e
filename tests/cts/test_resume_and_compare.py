"""Reports that are read again: to go on with a run, and to compare two."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from html_pages import Page
from hypothesis import given, strategies as st

from coopmat.cts.outcome import Outcome, Status
from coopmat.cts.report.differences import compare, render, render_html, render_json
from coopmat.cts.report.json import VERSION
from coopmat.cts.report.read import Report, parse, read
from coopmat.devices import DeviceInfo
from coopmat.options import UsageError

TEXT = st.text(max_size=12)
OUTCOMES = st.builds(
    Outcome,
    test=st.text(min_size=1, max_size=12),
    variant=TEXT,
    route=TEXT,
    status=st.sampled_from(Status),
    seconds=st.floats(0, 1e6).map(lambda x: round(x, 4)),
    log=TEXT,
    directory=TEXT,
    machine=TEXT,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
)


def document(outcomes: list[Outcome], **changes: Any) -> dict[str, Any]:
    """A report as `report.json.render` has it, as far as it is read."""
    words = {Status.PASSED: "passed", Status.FAILED: "failed", Status.NOT_SUPPORTED: "not_supported"}
    names = ("test", "variant", "route", "seconds", "log", "directory", "machine")
    rows = [{**{name: getattr(o, name) for name in names}, "status": words[o.status], "repeat": "-"} for o in outcomes]
    device = {"platform": "P", "name": "D", "version": "V", "driver": "1"}
    return {"version": VERSION, "device": device, "routes": ["one"], "options": {}, "outcomes": rows, **changes}


def report(outcomes: list[Outcome], **changes: Any) -> Report:
    return parse(document(outcomes, **changes), "report.json")


@given(st.lists(OUTCOMES, max_size=5))
def test_outcomes_are_read_as_they_were_written(outcomes: list[Outcome]) -> None:
    assert list(report(outcomes).outcomes) == outcomes


@given(JSON, st.sampled_from(["device", "routes", "options", "outcomes", "version", "row"]))
def test_anything_else_is_refused(value: Any, field: str) -> None:
    fields = {**document([]), **({field: value} if field != "row" else {"outcomes": [value]})}
    for given_ in (value, fields):
        try:
            found = parse(given_, "it.json")
        except UsageError as error:
            assert "it.json" in str(error)
        else:
            assert isinstance(found, Report)


def test_files_that_are_no_reports(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    for text in ("", "[", "[" * 100_000, "\0", '{"version": 2}'):
        path.write_text(text)
        with pytest.raises(UsageError, match=r"it\.json"):
            read(str(path))


def test_differences() -> None:
    passed = Outcome("c_add", "1x3.A.s8", "one", Status.PASSED, machine="here")
    failed = replace(passed, variant="2x2.A.s8", status=Status.FAILED, log="a[0] is 1, not 2\nmore")
    a = report([passed, failed, replace(passed, variant="gone")])
    b = report([replace(passed, status=Status.FAILED, log="worse"), failed, replace(passed, variant="new")])
    comparison = compare(a, b)
    assert comparison.same == 1 and comparison.is_worse and compare(b, a).is_worse is False
    text = render(comparison)
    assert "     1 passed -> failed" in text and "     1 passed -> -" in text and "     1 - -> passed" in text
    assert "c_add  1x3.A.s8  one    passed  failed  worse" in text and "on here: 2 passed, 1 failed" in text
    rows = json.loads(render_json(comparison))
    assert [row["variant"] for row in rows["differences"]] == ["1x3.A.s8", "gone", "new"] and rows["worse"]
    assert render(compare(a, a)).endswith("     3 the same\n") and not compare(a, a).is_worse
    # Two devices with a route each.
    other = report([replace(o, route="lanes") for o in a.outcomes], routes=["lanes"])
    assert compare(a, other).differences == ()


def test_differences_as_a_page() -> None:
    nasty = "</pre><script>alert(1)</script> <img src=x onerror=alert(1)> & \x1b"
    passed = Outcome(f"c_{nasty}", nasty, "one", Status.PASSED, machine=nasty)
    failed = replace(passed, status=Status.FAILED, log=f"{nasty}\na [1 x 2 int A]\n 1 2\n")
    comparison = compare(report([passed]), report([failed], device={"name": nasty}))
    text = render_html(comparison)
    page = Page(text)
    page.require_links()
    assert page.text.count("<img src=x") >= 4 and "\x1b" not in text and "://" not in text
    assert "B has 1 failure that A lacks." in page.text and "passed \u2192 failed" in page.text
    assert "<caption>a [1 x 2 int A]</caption>" in text
    same = Page(render_html(compare(report([passed]), report([passed])))).text
    assert "B has no failure that A lacks." in same and "the same" in same


def test_a_comparison_is_written_to_files(tmp_path: Path) -> None:
    passed = Outcome("c_add", "1x3.A.s8", "one", Status.PASSED)
    for name, status in (("a.json", Status.PASSED), ("b.json", Status.FAILED)):
        (tmp_path / name).write_text(json.dumps(document([replace(passed, status=status)])))
    for files, printed in ((["--html", "c.html"], "A "), (["--html", "c.html", "--json", "c.json"], "A ")):
        process = run("--compare", "a.json", "b.json", *files, directory=tmp_path)
        output = process.communicate()[0]
        assert process.returncode == 1 and output.startswith(printed), output
    assert "B has 1 failure" in Page((tmp_path / "c.html").read_text()).text
    process = run("--compare", "a.json", "b.json", "--html", "-", directory=tmp_path)
    assert "B has 1 failure" in Page(process.communicate()[0]).text
    for wrong in (["--junit", "x"], ["--html", "-", "--json", "-"]):
        process = run("--compare", "a.json", "b.json", *wrong, directory=tmp_path)
        process.communicate()
        assert process.returncode == 2


def run(*words: str, directory: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "coopmat", "cts", *words]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=directory,
        preexec_fn=default_interrupt,
    )


def default_interrupt() -> None:
    """A job in the background ignores Ctrl-C, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def rows(path: Path) -> list[tuple[str, str, str, str]]:
    found = json.loads(path.read_text())["outcomes"]
    assert all(row["machine"] for row in found)
    return [(row["test"], row["variant"], row["route"], row["status"]) for row in found]


def test_an_interrupted_run_goes_on(device: DeviceInfo, tmp_path: Path) -> None:
    """By Ctrl-C in the middle; the rows are those of an uninterrupted run, in the same order."""
    words = ["c_add", "c_sub", "spirv_add", "--wimpy", "--route", "one", "--device", device.index]
    whole, part, rest = (tmp_path / f"{name}.json" for name in ("whole", "part", "rest"))
    process = run(*words, "-j", "2", "--json", str(whole), directory=tmp_path)
    assert process.communicate(timeout=300) and process.returncode == 0
    process = run(*words, "--json", str(part), directory=tmp_path)
    assert process.stdout is not None
    for line in process.stdout:
        if line == "passed\n":
            break
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 130 and json.loads(part.read_text())["interrupted"]
    done = rows(part)
    assert 0 < len(done) < len(rows(whole))
    process = run(*words, "--resume", str(part), "--json", str(rest), directory=tmp_path)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0 and rows(rest) == rows(whole)
    assert output.count("passed\n") == len(rows(whole)) - len(done)
    process = run("--compare", str(whole), str(rest), directory=tmp_path)
    assert "the same" in process.communicate(timeout=60)[0] and process.returncode == 0
    process = run(*words, "--seed", "1", "--resume", str(part), directory=tmp_path)
    assert "its seed is 0, not 1" in process.communicate(timeout=60)[1] and process.returncode == 2
