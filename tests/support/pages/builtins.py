"""The builtins table as a page of documentation (`docs/builtins.md`)."""

from __future__ import annotations

from itertools import groupby

from coopmat.frontend.builtins import FAMILIES, matrix, matrix_types, rows
from coopmat.frontend.builtins.rows import Builtin

_HEAD = """\
# Builtin functions

Made by `tools/pages builtins > docs/builtins.md`; do not edit.

The column *section* names the section of the OpenCL C 3.0 specification, or the extension, that defines the functions.
If a signature has the name `NAME`, each function of the row has this signature. A function without a signature is
either not supported yet, or accepts arguments that the notation of the signatures cannot describe.

A signature may contain letters and words that stand for several types:

- `T`: an element type. `S` and `U`: the signed and the unsigned integer type as wide as `T`. `W`: the integer type
  twice as wide as `T`, with the signedness of `T`. `A`: the atomic type of `T`. `F`: `atomic_flag`.
- `n` and `m`: numbers of components; 1 means a scalar.
- `I`: an image type with its access, which is `ro` (`read_only`), `wo` (`write_only`) or `rw` (`read_write`).
- A word such as `readable` before the type of a pointer: any address space of the set with this name.

After `for`, a signature lists the possible values of `T`, `n`, `m` and `I`: the members of a set, or single values.
After `needs`, it lists the extensions, features or language versions that must be enabled for this signature. The last
two sections of the page have other letters: `M`, `M2`, `A` and similar letters are matrix types, and `T` and `S` are
element types. [language.md](language.md) and [matrix-types.md](matrix-types.md) describe these functions.

`convert_T[_sat][_rte|_rtz|_rtp|_rtn]` (6.4.3) and `as_T` (6.4.4) are supported if `T` is a type of the set `numbers` or
`small`, or a vector of such a type. `_sat` requires `integers` or `storage`. `bfloat16` has no vectors, and the types
of `storage` have no vectors of 3 components.

The sets are:
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
