"""SARIF: the address of each rule's documentation exists, and fix-its are fixes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pages import codes, markdown

from coopmat.diagnostics import Diagnostic, FixIt, Label, Severity, Span
from coopmat.sarif import DOCUMENTATION, help_address, to_sarif

ROOT = Path(__file__).parents[2]


def run_of(*items: Diagnostic) -> Any:
    (run,) = json.loads(to_sarif(items, "0"))["runs"]
    return run


def test_the_address_is_where_the_project_says() -> None:
    match = re.search(r'^Documentation = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert match is not None and match[1].replace("/tree/", "/blob/") == DOCUMENTATION


@pytest.mark.parametrize("code", codes.names())
def test_the_documentation_of_each_code_exists(code: str) -> None:
    page, _, anchor = help_address(code).removeprefix(f"{DOCUMENTATION}/").partition("#")
    assert anchor in markdown.anchors((ROOT / "docs" / page).read_text(encoding="utf-8"))


def test_a_rule_has_its_address_and_a_warning_its_meaning() -> None:
    items = [Diagnostic(Severity.WARNING, "shadow", "a"), Diagnostic(Severity.ERROR, "swizzle", "b")]
    shadow, swizzle = run_of(*items)["tool"]["driver"]["rules"]
    assert shadow["helpUri"] == f"{DOCUMENTATION}/warnings.md#shadow"
    assert shadow["shortDescription"]["text"] == "a variable hides another one"
    assert swizzle == {"id": "swizzle", "helpUri": f"{DOCUMENTATION}/diagnostics.md#swizzle"}


def test_the_fixits_of_a_diagnostic_are_one_fix() -> None:
    first, second = Span("a.cl", 1, 5, 1, 8), Span("a.cl", 2, 1, 2, 1)
    item = Diagnostic(
        Severity.WARNING,
        "parentheses",
        "c",
        first,
        (Label(second, "here"),),
        (),
        (FixIt(first, "x"), FixIt(second, "(")),
    )
    (result,) = run_of(item)["results"]
    ((change,),) = [fix["artifactChanges"] for fix in result["fixes"]]
    assert change["artifactLocation"] == {"uri": "a.cl"}
    texts = [(part["deletedRegion"]["startLine"], part["insertedContent"]["text"]) for part in change["replacements"]]
    assert texts == [(1, "x"), (2, "(")]
    assert [place["message"]["text"] for place in result["relatedLocations"]] == ["here"]
