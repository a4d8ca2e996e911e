"""The table of warnings as a page of documentation (`docs/warnings.md`)."""

from __future__ import annotations

from collections.abc import Iterator

from coopmat.diagnostics import render_text
from coopmat.warning_options import MEMBERS
from coopmat.warning_options.table import WARNINGS, Warning

from .diagnostics import block, compiled, sentence
from .warning_examples import EXAMPLES

OPTIONS = """\
If clang has the same warning, the name, the groups and the default of the warning are those of clang. The following
options control warnings; `<name>` is the name of a warning or of a group of warnings:

- `-W<name>` turns the warning or group on, and `-Wno-<name>` turns it off. If two of these options contradict each
  other, the later one takes effect.
- `-Werror=<name>` turns the warning or group on, and makes it an error.
- `-Wno-error=<name>` keeps the warning or group from being an error, even with `-Werror`.
- `-Werror` makes all warnings that are on errors.
- `-Weverything` turns all warnings on.
- `-w` turns all warnings off, even those that another option turns on. The compiler then skips the analyses that only
  serve warnings.

A pragma in a source file can change the state of warnings for the rest of the file:

- `#pragma clang diagnostic ignored "-W<name>"` turns the warning or group off.
- `#pragma clang diagnostic warning "-W<name>"` turns the warning or group on.
- `#pragma clang diagnostic error "-W<name>"` turns the warning or group on, and makes it an error.
- `#pragma clang diagnostic push` saves the state of all warnings, and `#pragma clang diagnostic pop` restores the state
  that was saved last.

The command `coopmat run` and the Python class `coopmat.Program` turn on the group `-Wmatrix-performance`. The warnings
of this group give advice on slow kernels ([performance.md](performance.md#advice-on-slow-kernels))."""

_HEAD = f"""\
# Warnings

Made by `tools/pages warnings > docs/warnings.md`; do not edit.

{OPTIONS}

In the table, *yes* in the column *on* means that a warning is on by default. The column *also with* has the options
that turn on the groups of the warning.

Below the table, each warning has a section with an example, the message that the compiler prints, and a similar source
without the warning. If a source alone does not cause the warning, its section only says what to do. Most examples with
cooperative matrices use [definitions](diagnostics.md#cooperative-matrices) that precede the lines shown here.

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
        yield from (f"The example is compiled with `{' '.join(words)}`:", "")
    found, sources = compiled(f"{example.before}{example.source}\n", [f"-W{row.name}", *example.options])
    yield from (*block(example.source), *block(render_text(found, sources), ""), "")
    yield from ("A similar source without the warning:", "", *block(example.fix), "")


def _cell(text: str) -> str:
    # A bar would end the cell, also inside code.
    return text.replace("|", "\\|")


def _groups(row: Warning) -> str:
    groups = [name for name in MEMBERS if name not in (row.name, "everything") and row.name in MEMBERS[name]]
    return " ".join(f"`-W{name}`" for name in groups)
