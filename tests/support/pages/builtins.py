"""The builtins table as a page of documentation (`docs/builtins.md`)."""

from __future__ import annotations

from itertools import groupby

from coopmat.frontend.builtins import FAMILIES, matrix, matrix_types, rows
from coopmat.frontend.builtins.rows import Builtin

_HEAD = """\
# Builtin functions

Made by `tools/pages builtins > docs/builtins.md`; do not edit.

Sections are those of the OpenCL C 3.0 specification. In a signature, `T` stands for an element type and `n`, `m` for
the number of components (1: a scalar), as the `for` says; `S` and `U` are the signed and unsigned integers as wide as
`T`, `W` the integer twice as wide; `I` an image with its access (`ro`, `wo`, `rw`).
`convert_T[_sat][_rte|_rtz|_rtp|_rtn]` (6.4.3) and `as_T` (6.4.4) are supported for every scalar and vector type of the
sets below.
"""

_DOCUMENTED = {name: row.signature for name, row in (matrix.BUILTINS | matrix_types.BUILTINS).items()}


def document() -> str:
    """Return the page as Markdown: the meaning of the letters, then a table for each family."""
    lines = [_HEAD, *_sets()]
    for family in FAMILIES:
        lines += ["", f"## {(family.__doc__ or '').splitlines()[0].rstrip('.')}", ""]
        lines += ["| functions | signatures | section | status |", "|---|---|---|---|"]
        for _, group in groupby(family.TABLE, key=_shape):
            lines.append(_line(list(group)))
    return "\n".join(lines) + "\n"


def _sets() -> list[str]:
    elements = {name: " ".join(t.name for t in types) for name, types in rows.ELEMENT_SETS.items()}
    counts = {name: " ".join(map(str, numbers)) for name, numbers in rows.COUNT_SETS.items()}
    named = ("writable", "readable", "named", "shared", "atomic")
    spaces = {name: " ".join(map(str, rows.SPACE_SETS[name])) for name in named}
    return ["| set | members |", "|---|---|", *(f"| {k} | {v} |" for k, v in (elements | counts | spaces).items())]


def _shape(row: Builtin) -> tuple[object, ...]:
    """Return the key by which neighbouring rows that differ only in their names share a line."""
    own = (row.name,) if row.name in _DOCUMENTED else ()
    return (*(s.replace(f" {row.name}(", " NAME(") for s in row.signatures), row.section, row.status, own)


def _line(group: list[Builtin]) -> str:
    first = group[0]
    signatures = list(first.signatures) or [s for s in (_DOCUMENTED.get(first.name),) if s]
    if len(group) > 1:
        signatures = [s.replace(f" {first.name}(", " NAME(") for s in signatures]
    shown = "<br>".join(f"`{s}`" for s in signatures)
    return f"| {' '.join(f'`{row.name}`' for row in group)} | {shown} | {first.section} | {first.status} |"
