"""Reads what clang said about the builtins (tools/builtin_oracle.py wrote it)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from coopmat.frontend.types import (
    FLOATS,
    INTEGERS,
    SIZE_T,
    AddressSpace,
    PointerType,
    Qualifiers,
    ScalarType,
    Type,
    with_count,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "builtins"
SCALARS: dict[str, ScalarType] = {**{t.name: t for t in (*INTEGERS, *FLOATS)}, "size_t": SIZE_T}


def parse_type(text: str) -> Type:
    """`float4`, `__global const float *`."""
    if text.endswith("*"):
        space, *const, pointee = text.removesuffix("*").split()
        qualifiers = Qualifiers(AddressSpace[space.removeprefix("__").upper()], const=bool(const))
        return PointerType(parse_type(pointee), qualifiers)
    match = re.fullmatch(r"([a-z_]+)(\d*)", text)
    assert match is not None, text
    return with_count(SCALARS[match[1]], int(match[2] or 1))


def declared() -> dict[str, set[tuple[str, str]]]:
    """For every name the (result, mangled parameters) of the overloads that clang's header declares."""
    found = {}
    for line in (GOLDEN / "names.txt").read_text().splitlines():
        names, entries = line.split(": ")
        overloads = {(result, suffix) for result, suffix in (entry.split(" ") for entry in entries.split(", "))}
        found.update(dict.fromkeys(names.split(), overloads))
    return found


def chosen() -> Iterator[tuple[str, list[Type], str]]:
    """Calls: the name, the argument types, and the mangled parameters of what clang chose, `ambiguous` or `none`."""
    for line in (GOLDEN / "calls.txt").read_text().splitlines():
        match = re.fullmatch(r"(\w+)\((.*)\) = (\w+)", line)
        assert match is not None, line
        yield match[1], [parse_type(t) for t in match[2].split(", ") if t], match[3]
