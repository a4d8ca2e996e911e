"""Diagnostics as a SARIF 2.1.0 log: each rule with the address of its documentation, fix-its as fixes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from . import warning_options
from .diagnostics import Diagnostic, FixIt, Severity, Span

# The address of the pages of docs/, where pyproject.toml says that the documentation is.
DOCUMENTATION = "https://github.com/coopmat/coopmat/blob/main/docs"


def help_address(code: str) -> str:
    """Return the address of the documentation of a code: a heading of docs/warnings.md or docs/diagnostics.md."""
    page = "warnings" if code in warning_options.ROWS else "diagnostics"
    return f"{DOCUMENTATION}/{page}.md#{code.replace('#', 'directive-')}"


def to_sarif(items: Iterable[Diagnostic], version: str) -> str:
    """Return the diagnostics as JSON text of a SARIF 2.1.0 log with one run; `version` is this compiler's."""
    items = list(items)
    rules = [_sarif_rule(code) for code in sorted({item.code for item in items})]
    driver = {"name": "coopmat", "version": version, "informationUri": DOCUMENTATION, "rules": rules}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    results = [_sarif_result(item) for item in items]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2)


def _sarif_rule(code: str) -> dict[str, object]:
    rule: dict[str, object] = {"id": code, "helpUri": help_address(code)}
    if code in warning_options.ROWS:
        rule["shortDescription"] = {"text": warning_options.ROWS[code].meaning}
    return rule


def _sarif_result(item: Diagnostic) -> dict[str, object]:
    levels = {Severity.NOTE: "note", Severity.REMARK: "note", Severity.WARNING: "warning"}
    result: dict[str, object] = {
        "ruleId": item.code,
        "level": levels.get(item.severity, "error"),
        "message": {"text": item.message},
    }
    if item.span is not None:
        result["locations"] = [{"physicalLocation": _sarif_place(item.span)}]
    related = [(label.text, label.span) for label in item.labels if label.text]
    related += [(note.message, note.span) for note in item.notes if note.span is not None]
    if related:
        result["relatedLocations"] = [
            {"message": {"text": text}, "physicalLocation": _sarif_place(span)} for text, span in related
        ]
    if item.fixits:
        result["fixes"] = [_sarif_fix(item.fixits)]
    return result


def _sarif_fix(fixits: Sequence[FixIt]) -> dict[str, object]:
    """Return one fix that makes all replacements."""
    changes: dict[str, list[dict[str, object]]] = {}
    for fixit in fixits:
        replacement = {
            "deletedRegion": _sarif_place(fixit.span)["region"],
            "insertedContent": {"text": fixit.replacement},
        }
        changes.setdefault(fixit.span.file, []).append(replacement)
    return {
        "artifactChanges": [
            {"artifactLocation": {"uri": file}, "replacements": replacements} for file, replacements in changes.items()
        ]
    }


def _sarif_place(span: Span) -> dict[str, object]:
    names = ("startLine", "startColumn", "endLine", "endColumn")
    return {"artifactLocation": {"uri": span.file}, "region": dict(zip(names, span[1:], strict=True))}
