"""The documentation site: it is built without warnings, has a page for each thing, and needs no network."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from docs_site import api, codes as code_pages, docstrings, links, results, staging
from pages import codes

from coopmat.budgets import BUDGETS
from coopmat.cli.app import COMMANDS

BUILT = pytest.mark.site
ROOT = Path(__file__).parents[2]
# A report of `coopmat bench --json`, shortened.
BENCH = {
    **{
        "schema": 1,
        "date": "2026-11-27",
        "device": "a device",
        "driver": "1.0",
        "processor": "a CPU",
        "system": "Linux",
    },
    **{"threads": 2, "versions": {"numpy": "2.4"}, "summary": []},
    "results": [
        {
            "case": {"operation": "gemm", "type": "f32", "shape": [1, 64, 64, 64]},
            "seconds": {"coopmat": [0.001, 0.003, 0.002], "numpy": [0.004]},
            "flop": 2_000_000,
            "ratios": {"numpy": {"value": 2.0, "low": 1.5, "high": 2.5}},
        }
    ],
}


@BUILT
def test_each_code_has_a_page(site: Path) -> None:
    for name in codes.names():
        text = (site / "reference/codes" / f"{code_pages.name_of(name)}.html").read_text(encoding="utf-8")
        assert f"<h1>{name}" in text


@BUILT
def test_each_command_has_a_page_with_its_options(site: Path) -> None:
    for name in COMMANDS:
        text = (site / "reference/command-line" / f"{name}.html").read_text(encoding="utf-8")
        assert f"<h1>coopmat {name}" in text
    assert "with TEST or --variant" in (site / "reference/command-line/cts.html").read_text(encoding="utf-8")
    assert "--matrix-stride-multiple" in (site / "reference/command-line/compile.html").read_text(encoding="utf-8")


@BUILT
@pytest.mark.parametrize("module", api.MODULES)
def test_each_public_name_has_an_entry(site: Path, module: str) -> None:
    text = (site / "reference/python" / f"{module}.html").read_text(encoding="utf-8")
    names = api.names_of(module)
    assert names and [name for name in names if f'id="{module}.{name}"' not in text] == []


@BUILT
def test_pages_of_tables_have_all_rows(site: Path) -> None:
    limits = (site / "reference/limits.html").read_text(encoding="utf-8")
    assert [name for name in BUDGETS if name not in limits] == []
    faults = (site / "inside/faults.html").read_text(encoding="utf-8")
    assert "<h2>loop_starts" in faults and "<h2>divergence" not in faults


@BUILT
def test_every_page_of_docs_is_in_the_site(site: Path) -> None:
    missing = [
        path.name
        for path in (ROOT / "docs").rglob("*.md")
        if not (site / path.relative_to(ROOT / "docs")).with_suffix(".html").exists()
    ]
    assert sorted(missing) == ["diagnostics.md", "warnings.md"]


@BUILT
def test_the_search_index_has_the_builtins(site: Path) -> None:
    assert "coop_mat_load" in (site / "searchindex.js").read_text(encoding="utf-8")


def write_site(folder: Path, **pages: str) -> Path:
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


def test_broken_links_are_found(tmp_path: Path) -> None:
    write_site(tmp_path, a='<h1 id="x">a</h1><a href="b.html#y">1</a><a href="#z">2</a>', b='<a href="none.html">3</a>')
    expected = ["a.html: broken link b.html#y", "a.html: broken link #z", "b.html: broken link none.html"]
    assert links.faults(tmp_path) == expected


def test_valid_links_are_no_faults(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("p { color: red }")
    text = '<link rel="stylesheet" href="a.css"><i id="y"></i><a href="#y">1</a><a href="https://x.org">2</a>'
    assert links.faults(write_site(tmp_path, a=text)) == []


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://x.org/a.js"></script>',
        '<link rel="stylesheet" href="//x.org/a.css">',
        '<img src="http://x.org/a.png">',
    ],
)
def test_what_comes_from_a_network_is_found(tmp_path: Path, text: str) -> None:
    (fault,) = links.faults(write_site(tmp_path, a=text))
    assert fault.startswith("a.html: loads ")


@pytest.mark.parametrize(
    ("text", "page", "expected"),
    [
        ("[a](run.md#lines)", "docs/batch.md", "[a](run.md#lines)"),
        ("[a](../run.md)", "docs/start/first.md", "[a](../run.md)"),
        ("[a](docs/run.md)", "CONTRIBUTING.md", "[a](../run.md)"),
        ("[a](../CONTRIBUTING.md)", "docs/tools.md", "[a](inside/contributing.md)"),
        ("[a](../kernels/gemm_f16.cl)", "docs/run.md", "[a](S/kernels/gemm_f16.cl)"),
        ("[a](diagnostics.md#swizzle)", "docs/run.md", "[a](reference/codes/swizzle.md)"),
        ("[a](diagnostics.md#matrix-types)", "docs/run.md", "[a](reference/codes/index.md#matrix-types)"),
        ("[a](https://x.org) [b](#c)", "docs/run.md", "[a](https://x.org) [b](#c)"),
        ("```c\nx[1](run.md)\n```\n", "docs/start/a.md", "```c\nx[1](run.md)\n```\n"),
        ("[a](none.md)", "docs/run.md", "[a](none.md)"),
    ],
)
def test_links_are_rewritten(text: str, page: str, expected: str) -> None:
    assert staging.rewritten(text, page, "S") == expected


def test_pages_of_no_part_are_listed() -> None:
    assert staging.tree_of_others(["run", "new"], ["```{toctree}\n../run\n```"]).split()[-3:] == [
        "More",
        "../new",
        "```",
    ]
    assert staging.tree_of_others(["run"], ["../run\n"]) == ""


def test_a_link_by_a_file_name_gets_the_title(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Routes: what becomes of a matrix\n")
    text = staging.with_titles("([a.md](a.md#x), [text](a.md), [b.md](b.md))", tmp_path)
    assert text == "([Routes](a.md#x), [text](a.md), [b.md](b.md))"


def test_a_first_page_lists_its_pages_in_the_order_of_its_links(tmp_path: Path) -> None:
    for name in ("a", "b", "c", "index"):
        (tmp_path / f"{name}.md").write_text("# x\n")
    tree = staging.tree_of("[1](c.md) [2](a.md#x) [3](../run.md)", tmp_path)
    assert re.findall(r"^\w$", tree, re.MULTILINE) == ["c", "a", "b"]


def test_docstrings_become_restructuredtext() -> None:
    text = "A `Kernel`s *table.\n\nname, other: the text\n    of both.\nlast: x_.\n\n    code()\n\nEnd."
    assert docstrings.rewritten(text.split("\n")) == [
        *(r"A ``Kernel``\ s \*table.", "", "``name``, ``other``", "    the text of both.", ""),
        *("``last``", r"    x\_.", "", "::", "", "    code()", "", "End.", ""),
    ]


def test_results_of_reports(tmp_path: Path) -> None:
    (tmp_path / "machine.json").write_text(json.dumps(BENCH))
    (stored,) = (ROOT / "docs/results").glob("intel-cpu-wimpy.json")
    (tmp_path / stored.name).write_bytes(stored.read_bytes())
    found = results.pages(tmp_path)
    assert "| gemm | f32 | 1x64x64x64 | 2.000 ms | 1 G/s | numpy 2.00 (1.50 to 2.50) |" in found["results/speed.md"]
    assert "| `c_length` | one | 7 | 0 | 0 |" in found["results/conformance.md"]
    assert "| 2026-11-27 | a device | speed, 1 cases |" in found["results/index.md"]


@pytest.mark.parametrize("path", sorted((ROOT / "docs/results").glob("*.json")), ids=lambda path: path.stem)
def test_stored_reports_are_small_and_have_no_paths(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    report = json.loads(text)
    assert len(text) < 50_000 and report == results.shortened(report)
    assert not re.search(r"\"/(?!/)[\w.-]+/", text)
