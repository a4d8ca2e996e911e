"""The table of warnings as a page of documentation (`docs/warnings.md`)."""

from __future__ import annotations

from coopmat.warning_options import MEMBERS
from coopmat.warning_options.table import WARNINGS, Warning

_HEAD = """\
# Warnings

Made by `tools/pages warnings > docs/warnings.md`; do not edit.

Names, groups and defaults are those of clang where clang has the warning. `-W<name>` and `-Wno-<name>` turn a warning
or a group on and off, `-Werror=<name>` makes it an error, `-Wno-error=<name>` takes that back; `-Werror` makes errors
of all that are on, `-Weverything` turns all of them on, `-w` turns all off and skips the analysis that they need. Later
options win. In a source, `#pragma clang diagnostic push`, `pop`, `ignored "-W<name>"`, `warning "-W<name>"` and
`error "-W<name>"` hold from where they stand, in that file.

`coopmat run` and `coopmat.Program` turn `-Wmatrix-performance` on: advice on slow kernels
([performance.md](performance.md#advice-on-slow-kernels)).

| name | on | also with | meaning |
|---|---|---|---|
"""


def document() -> str:
    """Return the table of warnings as Markdown."""
    return _HEAD + "".join(
        f"| `{row.name}` | {'yes' if row.on else ''} | {_groups(row)} | {_cell(row.meaning)} |\n" for row in WARNINGS
    )


def _cell(text: str) -> str:
    # A bar would end the cell, also inside code.
    return text.replace("|", "\\|")


def _groups(row: Warning) -> str:
    groups = [name for name in MEMBERS if name not in (row.name, "everything") and row.name in MEMBERS[name]]
    return " ".join(f"`-W{name}`" for name in groups)
