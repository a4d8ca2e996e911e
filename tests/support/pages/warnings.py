"""The table of warnings as a page of documentation (`docs/warnings.md`)."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.diagnostics import render_text
from coopmat.warning_options import MEMBERS
from coopmat.warning_options.table import WARNINGS, Warning

from .diagnostics import block, compiled, sentence
from .warning_examples import EXAMPLES

OPTIONS = """\
If clang also has a warning, its name, groups and default are the same as in clang. The following options control a
warning or a group of warnings (`<name>`). If two options contradict each other, the later option wins:

- `-W<name>` turns the warning on, and `-Wno-<name>` turns it off.
- `-Werror=<name>` turns the warning into an error, and `-Wno-error=<name>` reverses this.
- `-Werror` makes all enabled warnings errors.
- `-Weverything` turns all warnings on.
- `-w` turns all warnings off. The compiler then skips the analyses that only warnings need.

In a source file, pragmas that begin with `#pragma clang diagnostic` affect the rest of the file. They end with `push`,
`pop`, `ignored "-W<name>"`, `warning "-W<name>"` or `error "-W<name>"`.

`coopmat run` and `coopmat.Program` turn on the group `-Wmatrix-performance`. The warnings of this group give advice on
slow kernels ([performance.md](performance.md#advice-on-slow-kernels))."""

_HEAD = f"""\
# Warnings

Made by `tools/pages warnings > docs/warnings.md`; do not edit.

{OPTIONS}

In the table, *on* means that the warning is on by default, and *also with* lists the groups that contain the warning.
For each warning, this page has an example, the compiler's message, and a source without the warning. Examples with
cooperative matrices begin with [the same lines](diagnostics.md#cooperative-matrices) as the examples of errors.

| name | on | also with | meaning |
|---|---|---|---|
"""


def document() -> str:
    """Return the table of warnings as Markdown, then an example of each and a fix."""
    rows = [
        f"| [`{row.name}`](#{anchor(row.name)}) | {'yes' if row.on else ''} | {_groups(row)} | {_cell(row.meaning)} |\n"
        for row in WARNINGS
    ]
    parts = []
    for row in WARNINGS:
        heading = row.name.replace("#", "Directive #")
        parts += [f"## {heading}", "", f"{sentence(row.meaning)}.", "", *lines(row)]
    return _HEAD + "".join(rows) + "\n" + "\n".join(parts).rstrip("\n") + "\n"


def anchor(name: str) -> str:
    """Return the anchor of a warning's heading."""
    return name.replace("#", "directive-")


def lines(row: Warning, with_before: bool = False) -> Iterator[str]:
    """Yield the example of a warning, what the compiler says, and the fix.

    `with_before`: also the options that turn the warning on, and the text before the examples.
    """
    example = EXAMPLES[row.name]
    if with_before:
        groups = [f"`-W{row.name}`", *_groups(row).split()]
        state = "The warning is on by default." if row.on else "The warning is off by default."
        yield f"{state} {', '.join(groups)} turn{'s' if len(groups) == 1 else ''} it on, and"
        yield from (f"`-Wno-{row.name}` turns it off; `-Werror={row.name}` makes it an error.", "")
    if example.advice:
        yield from (example.advice, "")
        return
    if with_before and example.before:
        yield from ("The examples begin with these lines:", "", *block(example.before), "")
    words = [f"-W{row.name}"] * (not row.on) + list(example.options)
    if words:
        yield from (f"With `{' '.join(words)}`:", "")
    found, sources = compiled(f"{example.before}{example.source}\n", [f"-W{row.name}", *example.options])
    yield from (*block(example.source), *block(render_text(found, sources), ""), "")
    yield from ("Without the warning:", "", *block(example.fix), "")


def _cell(text: str) -> str:
    # A bar would end the cell, also inside code.
    return text.replace("|", "\\|")


def _groups(row: Warning) -> str:
    groups = [name for name in MEMBERS if name not in (row.name, "everything") and row.name in MEMBERS[name]]
    return " ".join(f"`-W{name}`" for name in groups)
