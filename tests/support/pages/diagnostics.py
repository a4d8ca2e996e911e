"""The table of error codes as a page of documentation (`docs/diagnostics.md`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from coopmat.compiler import compile
from coopmat.diagnostics import CompileError, Diagnostic, SourceMap, render_text

from .error_codes import FAMILIES, ErrorCode

NAME = "example.cl"
_HEAD = """\
# Diagnostics

Made by `tools/pages diagnostics > docs/diagnostics.md`; do not edit.

Every error that a source can earn has a code, which ends its first line in brackets. Here is one example of each, and
what the compiler says to it: the place with a caret and the range, what else matters with `note:`, and below the
caret the text that would mend it, where there is one. All errors of a file are told, in the order of the source, up to
`-ferror-limit=` (20). Warnings are in [warnings.md](warnings.md); `--diagnostics json` and `sarif` give all as data.
"""


def findings(row: ErrorCode, before: str = "") -> tuple[list[Diagnostic], str]:
    """Return the diagnostics of a row's example, compiled down to LLVM IR, and their text."""
    with TemporaryDirectory() as folder:
        for name, text in row.files:
            (Path(folder) / name).write_text(text, encoding="utf-8")
        source = row.example if isinstance(row.example, bytes) else ("" if row.bare else before) + row.example + "\n"
        items, sources = _compiled(source, [*row.options, "-I", folder])
        return items, render_text(items, sources).replace(f"{folder}/", "")


def _compiled(source: str | bytes, options: list[str]) -> tuple[list[Diagnostic], SourceMap]:
    try:
        module = compile(source, options, name=NAME)
        module.llvm_ir  # noqa: B018
    except CompileError as error:
        return error.diagnostics, error.sources or SourceMap()
    return module.diagnostics, module.sources


def document() -> str:
    """Return the page as Markdown: an index, then each row with its example and the diagnostics."""
    lines = [_HEAD]
    for title, before, rows in FAMILIES:
        lines += [f"## {title}", ""]
        if before:
            lines += ["The examples begin with these lines:", "", "```c", *before.rstrip("\n").split("\n"), "```", ""]
        lines += ["| code | meaning |", "|---|---|", *(f"| [`{r.code}`](#{r.code}) | {r.meaning} |" for r in rows), ""]
        for row in rows:
            lines += _entry(row, before)
    return "\n".join(lines).rstrip("\n") + "\n"


def _entry(row: ErrorCode, before: str) -> Iterator[str]:
    _, text = findings(row, before)
    shown = row.shown or str(row.example)
    shown = "\n".join([f"// {name}: {text.strip()}" for name, text in row.files] + [shown])
    options = f" (with `{' '.join(row.options)}`)" if row.options else ""
    yield from (f"### {row.code}", "", f"{row.meaning[0].upper()}{row.meaning[1:]}{options}.", "")
    yield from (
        "```c",
        *shown.split("\n"),
        "```",
        "```",
        *text.rstrip("\n").split("\n"),
        "```",
        "",
    )
