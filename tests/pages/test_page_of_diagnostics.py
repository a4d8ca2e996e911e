"""The table of error codes: all there, each example earns its code alone, the page pins every rendered text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages.diagnostics import document, findings
from pages.error_codes import FAMILIES, ErrorCode

from coopmat.diagnostics import Severity

ROOT = Path(__file__).parents[2]
ROWS = [(row, before) for _, before, rows in FAMILIES for row in rows]
# What no source is known to earn: names that the grammar asks for already.
UNREACHED = {"missing-name"}
# What makes the parser miss something.
FOLLOWED = {"unterminated-literal", "invalid-pragma"}
# Functions whose first argument is a code where it is a constant; of a Diagnostic it is the second.
TELLING = {"error", "fail", "LiteralError", "Diagnostic", "_error"}
# The folders of coopmat/ that report errors in OpenCL C.
FOLDERS = ("frontend", "analysis", "matrix_types", "preambles", "ir/lower")
# Codes by another name: what recovery.py expects at a place, what target_check.py finds.
TABLES = {"expected-expression", "expected-declaration", "expected-identifier"}
TABLES |= {f"coop-mat-target-{what}" for what in ("type", "mul-add", "stride", "pointer")}


def _constants(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from _constants(node.body)
        yield from _constants(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def told() -> dict[str, str]:
    """Every code that the front end and the lowering tell as an error, with a file that does."""
    found = dict.fromkeys(TABLES, "tables")
    for file in [f for folder in FOLDERS for f in (ROOT / "coopmat" / folder).rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in TELLING:
                if name == "Diagnostic" and "WARNING" in ast.unparse(node.args[0]):
                    continue
                code = node.args[1 if name == "Diagnostic" else 0]
                found.update(dict.fromkeys(_constants(code), file.name))
    return found


def test_every_code_has_one_row() -> None:
    codes = [row.code for row, _ in ROWS]
    assert len(set(codes)) == len(codes)
    found = told()
    assert len(found) > 100 and found.keys() >= UNREACHED
    missing = {code: file for code, file in found.items() if code not in codes and code not in UNREACHED}
    assert not missing, f"codes without a row in tests/support/pages/error_codes: {missing}"
    assert set(codes) - found.keys() <= {"error-limit", "nesting-too-deep"}, "rows that nothing tells"


@pytest.mark.parametrize(("row", "before"), ROWS, ids=[row.code for row, _ in ROWS])
def test_the_example_earns_the_code(row: ErrorCode, before: str) -> None:
    items, text = findings(row, before)
    codes = {item.code for item in items if item.severity.is_error}
    if row.code == "error-limit":
        assert [item.code for item in items if item.severity is Severity.FATAL] == [row.code]
    elif row.code in FOLLOWED:
        assert items[0].code == row.code, text
    else:
        assert codes == {row.code}, text


def test_the_page_is_up_to_date() -> None:
    """Every rendered text is on it."""
    assert (ROOT / "docs/diagnostics.md").read_text(encoding="utf-8") == document()
