"""The table of error codes as a page of documentation (`docs/diagnostics.md`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from coopmat.compiler import compile
from coopmat.diagnostics import CompileError, Diagnostic, SourceMap, render_text

from .error_codes import FAMILIES, ErrorCode
from .error_codes.fixes import ADVICE, FIXES
from .error_codes.others import OTHERS, TITLE

NAME = "example.cl"
_HEAD = """\
# Diagnostics

Made by `tools/pages diagnostics > docs/diagnostics.md`; do not edit.

Every error has a code. The first line of the error's message ends with the code in brackets. Each code has a section on
this page:

- Most sections have an example, the message that the compiler prints for it, and a similar source without the error.
- In some sections, advice replaces the source without the error.
- The [last sections](#devices-launches-commands-and-other-inputs) have only an explanation and advice, since no
  OpenCL C source alone causes these errors.

A message marks the position of the error with a caret (`^`). If the compiler can suggest a correction, the line below
the caret shows the text to write. Notes with further information may follow. The compiler sorts the errors by their
position in the source, and stops after 20 errors (`-ferror-limit=N` sets another limit).

[warnings.md](warnings.md) describes the warnings. `--diagnostics json` and `--diagnostics sarif` print errors, warnings
and notes as JSON or SARIF, which other programs can read. In SARIF, each code has a link to its section of this page or
of warnings.md.
"""


def findings(row: ErrorCode, before: str = "") -> tuple[list[Diagnostic], str]:
    """Return the diagnostics of a row's example, compiled down to LLVM IR, and their text."""
    with TemporaryDirectory() as folder:
        for name, text in row.files:
            (Path(folder) / name).write_text(text, encoding="utf-8")
        source = row.example if isinstance(row.example, bytes) else ("" if row.bare else before) + row.example + "\n"
        items, sources = compiled(source, [*row.options, "-I", folder])
        return items, render_text(items, sources).replace(f"{folder}/", "")


def compiled(source: str | bytes, options: list[str]) -> tuple[list[Diagnostic], SourceMap]:
    """Return the diagnostics of a source that is compiled down to LLVM IR, and the texts that they refer to."""
    try:
        module = compile(source, options, name=NAME)
        module.llvm_ir  # noqa: B018
    except CompileError as error:
        return error.diagnostics, error.sources or SourceMap()
    return module.diagnostics, module.sources


def document() -> str:
    """Return the page as Markdown: an index, then each row with its example, the diagnostics and a fix."""
    lines_ = [_HEAD]
    for title, before, rows in FAMILIES:
        lines_ += [f"## {title}", ""]
        if before:
            lines_ += ["The examples below begin with these lines, which are shown only here:", "", *block(before), ""]
        lines_ += ["| code | meaning |", "|---|---|", *(f"| [`{r.code}`](#{r.code}) | {r.meaning} |" for r in rows), ""]
        for row in rows:
            lines_ += [f"### {row.code}", "", f"{sentence(row.meaning)}.{_options(row)}", "", *lines(row, before)]
    lines_ += [f"## {TITLE}", ""]
    for other in OTHERS:
        lines_ += [f"### {other.code}", "", f"{sentence(other.meaning)}. {other.advice}", ""]
    return "\n".join(lines_).rstrip("\n") + "\n"


def sentence(meaning: str) -> str:
    """Return a meaning with a capital letter."""
    return f"{meaning[0].upper()}{meaning[1:]}"


def lines(row: ErrorCode, before: str, with_before: bool = False) -> Iterator[str]:
    """Yield the example of a row, what the compiler says, and the fix; `with_before`: also the text before these."""
    _, text = findings(row, before)
    shown = row.shown or str(row.example)
    shown = "\n".join([f"// {name}: {text.strip()}" for name, text in row.files] + [shown])
    if with_before:
        if before and not row.bare:
            yield from ("The examples begin with these lines:", "", *block(before), "")
        if row.options:
            yield from (f"The options are `{' '.join(row.options)}`.", "")
    yield from (*block(shown), *block(text, ""), "")
    if row.code in FIXES:
        yield from ("A similar source without the error:", "", *block(FIXES[row.code]), "")
    if row.code in ADVICE:
        yield from (ADVICE[row.code], "")


def _options(row: ErrorCode) -> str:
    return f" The example is compiled with `{' '.join(row.options)}`." if row.options else ""


def block(text: str, language: str = "c") -> list[str]:
    """Return a fenced block of a text, as lines."""
    return [f"```{language}", *text.rstrip("\n").split("\n"), "```"]
