"""The examples of the codes: each fix has no error, each warning's example earns it, and no code lacks a page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pages import codes, markdown
from pages.diagnostics import compiled, findings
from pages.error_codes import FAMILIES, ErrorCode
from pages.error_codes.fixes import ADVICE, FIXES
from pages.error_codes.others import OTHERS
from pages.warning_examples import EXAMPLES, WarningExample

from coopmat.warning_options.table import WARNINGS

ROOT = Path(__file__).parents[2]
FIXED = [(row, before) for _, before, rows in FAMILIES for row in rows if row.code in FIXES]
EXAMPLES_WITH_SOURCE = {name: example for name, example in EXAMPLES.items() if example.source}
# The functions that make a diagnostic -> the place of the code among their arguments.
MAKERS = {
    **dict.fromkeys(("error", "fail", "warning", "warn", "Malformed", "Refused", "refused", "LiteralError"), 0),
    **dict.fromkeys(("Diagnostic", "launch_error", "_failure"), 1),
}
# No source is known that earns it: the grammar asks for names already.
UNREACHED = {"missing-name"}


def test_every_error_has_a_fix_or_advice() -> None:
    rows = {row.code for _, _, family in FAMILIES for row in family}
    assert rows == FIXES.keys() | ADVICE.keys()
    assert not FIXES.keys() & ADVICE.keys()


@pytest.mark.parametrize(("row", "before"), FIXED, ids=[row.code for row, _ in FIXED])
def test_a_fix_has_no_error(row: ErrorCode, before: str) -> None:
    items, text = findings(replace(row, example=FIXES[row.code]), before)
    assert not items, text


def test_every_warning_has_an_example_or_advice() -> None:
    assert EXAMPLES.keys() == {row.name for row in WARNINGS}
    assert all(bool(example.source) == bool(example.fix) != bool(example.advice) for example in EXAMPLES.values())


@pytest.mark.parametrize(("name", "example"), EXAMPLES_WITH_SOURCE.items(), ids=EXAMPLES_WITH_SOURCE)
def test_an_example_has_the_warning_and_its_fix_does_not(name: str, example: WarningExample) -> None:
    for source, expected in ((example.source, {name}), (example.fix, set())):
        items, _ = compiled(f"{example.before}{source}\n", [f"-W{name}", *example.options])
        assert {item.code for item in items} == expected, source


def _codes_made() -> Iterator[str]:
    """Yield the codes that calls in the package pass to the makers of diagnostics.

    `coopmat/advice` writes its codes without their common beginning.
    """
    for path in (ROOT / "coopmat").rglob("*.py"):
        if path.parent.name == "advice":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            values = node.args[MAKERS[name] : MAKERS[name] + 1] if name in MAKERS else []
            values += [word.value for word in node.keywords if name in MAKERS and word.arg == "code"]
            for value in values:
                if isinstance(value, ast.Constant) and re.fullmatch(r"[#a-z]+(-[a-z0-9]+)*", str(value.value)):
                    yield str(value.value)


def test_every_code_of_the_package_has_a_page() -> None:
    made = set(_codes_made())
    assert len(made) > 150
    assert made - set(codes.names()) - UNREACHED == set()
    assert {other.code for other in OTHERS} - made - {"spirv-tools"} == set(), "codes that nothing reports"


def test_all_environment_variables_are_on_their_page() -> None:
    page = (ROOT / "docs/reference/environment.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"COOPMAT_[A-Z_]+[A-Z]", " ".join(markdown.codes(page))))
    texts = [
        path.read_text(encoding="utf-8") for suffix in ("py", "c") for path in (ROOT / "coopmat").rglob(f"*.{suffix}")
    ]
    read = set(re.findall(r"\"(COOPMAT_[A-Z_]+[A-Z])\"", "\n".join(texts)))
    assert len(read) > 5 and read <= listed
