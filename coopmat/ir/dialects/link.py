"""A module that was read, made ready for emission with native matrices."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...frontend import typed
from ...matrices.lowering import check_count, instantiate
from .. import LoweredModule, LowerOptions
from . import bfloat16, extensions, kernels, native, odd_integers, subgroups, vectors, wide_integers, wide_matrices
from .calls import LibraryCalls
from .text import Malformed, Module, parse_head

Library = Callable[[str], typed.Unit]

_NODE = re.compile(r"!(\d+)\b")
_TYPE = re.compile(r"%\"?([^\" =]+)\"? = type ")


def link(module: Module, options: LowerOptions, library: Library) -> LoweredModule:
    """Lower a canonical module, which is rewritten in place, and return it. Raise Malformed for what cannot be
    emitted."""
    subgroups.spell_barriers(module)
    odd_integers.lower(module)
    wide_integers.lower(module)
    trees = vectors.lower(module, options)
    users = kernels.users_of_matrices(module)
    native.prepare(module, options.matrices)
    if options.matrices == "native":
        wide_matrices.widen(module)
    else:
        bfloat16.check(module)
    bfloat16.expand(module)
    text = _with_library(module, trees, options, library) if trees else str(module)
    # Other optimisation is not safe on cooperative matrices, and makes arithmetic of bfloat again.
    on_values = "sroa" if options.matrices == "native" else "unroll"
    passes = "none" if options.opt_disable else on_values if users or "bfloat" in text else "O1"
    return LoweredModule(text, (), passes, extensions.needed(text, options.matrices))


# --- the library ---------------------------------------------------------------------------------


def _with_library(module: Module, trees: LibraryCalls, options: LowerOptions, library: Library) -> str:
    own = {function.name: function for function in module.functions}
    declared_names = {head.name for head in module.declarations} | own.keys()
    lines = str(module).split("\n")
    first = _next_node(lines)
    for line in _library_lines(trees, options, library):
        head = parse_head(line) if line.startswith(("define ", "declare ")) else None
        if head is not None and line.startswith("declare ") and head.name in declared_names:
            continue
        if head is not None and line.startswith("define ") and head.name in own:
            message = f"'{head.name}' is the name of a part of the matrix library"
            raise Malformed("ir-not-supported", message, str(own[head.name].head))
        lines.append(_renumbered(line, first))
    return "\n".join(lines)


def _next_node(lines: list[str]) -> int:
    return max((int(line.split()[0][1:]) for line in lines if _NODE.match(line)), default=-1) + 1


def _renumbered(line: str, first: int) -> str:
    return _NODE.sub(lambda match: f"!{int(match[1]) + first}", line) if "!" in line else line


def _library_lines(trees: LibraryCalls, options: LowerOptions, library: Library) -> list[str]:
    """The text of the library's functions for a target, without named metadata."""
    from ..lower import lower

    check_count(len(trees.instances))
    unit = library(instantiate(trees.target, trees.instances.values()))
    lines = [line for line in lower(unit, options).text.split("\n") if not re.match(r"![a-zA-Z]", line)]
    return [
        f"{line} alwaysinline" if line.startswith("define ") and "alwaysinline" not in line else line
        for line in _own_types(lines)
    ]


def _own_types(lines: list[str]) -> list[str]:
    """Named types under names of the library's."""
    types = [match[1] for line in lines if (match := _TYPE.match(line))]
    if not types:
        return lines
    pattern = re.compile("|".join(f'%(?:"{re.escape(name)}"|{re.escape(name)}(?![-\\w.$]))' for name in types))

    def rename(match: re.Match[str]) -> str:
        return f'%"cm.{match[0][1:].strip(chr(34))}"'

    return [pattern.sub(rename, line) if "%" in line else line for line in lines]
