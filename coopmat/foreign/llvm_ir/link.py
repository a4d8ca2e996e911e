"""The lowering of a module that was read to IR that is ready for emission with native matrices, library included."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from ...diagnostics import InternalError
from ...frontend import typed
from ...ir import LoweredModule, LowerOptions
from ...matrices.lowering import check_count, instantiate
from . import (
    bfloat16,
    builtin_functions,
    extensions,
    kernels,
    matrix_selects,
    odd_integers,
    subgroups,
    vectors,
    wide_integers,
    wide_matrices,
)
from .text import Malformed, Module, parse_head

Library = Callable[..., typed.Unit]

_NODE = re.compile(r"!(\d+)\b")
_TYPE = re.compile(r"%\"?([^\" =]+)\"? = type ")


def link_library(module: Module, options: LowerOptions, library: Library) -> LoweredModule:
    """Lower a canonical module in place, link it with library functions, and return the result.

    Raise Malformed for code that cannot be emitted.
    """
    subgroups.spell_barriers(module)
    functions = builtin_functions.replace_calls(module)
    odd_integers.lower(module)
    wide_integers.lower(module)
    trees = vectors.lower(module, options)
    users = kernels.users_of_matrices(module)
    matrix_selects.prepare(module, options.matrices)
    if options.matrices == "native":
        wide_matrices.widen(module)
    else:
        bfloat16.check(module)
    bfloat16.expand(module)
    units = [_builtin_functions(functions, library)] if functions else []
    if trees:
        check_count(len(trees.library_functions))
        units.append(library(instantiate(trees.target, trees.library_functions.values())))
    text = _with_library(module, units, options)
    # Other optimisations are unsafe on cooperative matrices, or create arithmetic on bfloat again.
    on_values = "sroa" if options.matrices == "native" else "unroll"
    passes = "none" if options.opt_disable else on_values if users or "bfloat" in text else "O1"
    return LoweredModule(text, (), passes, extensions.needed(text, options.matrices))


def _builtin_functions(text: str, library: Library) -> typed.Unit:
    try:
        return library(text, standard="CL3.0")
    except InternalError as error:
        reason = re.search(r"error: (.*?)(?: \[|\n|$)", error.details or "")
        message = f"a builtin function is called with invalid arguments: {reason[1] if reason else error.message}"
        raise Malformed("ir-not-supported", message) from error


# --- the library ---------------------------------------------------------------------------------


def _with_library(module: Module, units: Sequence[typed.Unit], options: LowerOptions) -> str:
    """Return the module's text with the functions of the units; each function is declared only once.

    Raises Malformed if the module already defines a function of the units.
    """
    own = {function.name: function for function in module.functions}
    declared_names = {head.name for head in module.declarations} | own.keys()
    lines = str(module).split("\n")
    for line in itertools.chain.from_iterable(_library_lines(unit, options, _next_node(lines)) for unit in units):
        head = parse_head(line) if line.startswith(("define ", "declare ")) else None
        if head is not None and line.startswith("declare ") and head.name in declared_names:
            continue
        if head is not None and line.startswith("define ") and head.name in own:
            message = f"'{head.name}' is the name of a part of the matrix library"
            raise Malformed("ir-not-supported", message, str(own[head.name].head))
        if head is not None:
            declared_names.add(head.name)
        lines.append(line)
    return "\n".join(lines)


def _next_node(lines: list[str]) -> int:
    return max((int(line.split()[0][1:]) for line in lines if _NODE.match(line)), default=-1) + 1


def _renumbered(line: str, first: int) -> str:
    return _NODE.sub(lambda match: f"!{int(match[1]) + first}", line) if "!" in line else line


def _library_lines(unit: typed.Unit, options: LowerOptions, first: int) -> list[str]:
    """Return a unit's functions as lines of text, without named metadata; metadata nodes are numbered from `first`."""
    from ...ir.lower import lower

    lines = [line for line in lower(unit, options).text.split("\n") if not re.match(r"![a-zA-Z]", line)]
    return [
        _renumbered(line, first) + " alwaysinline" * (line.startswith("define ") and "alwaysinline" not in line)
        for line in _own_types(lines)
    ]


def _own_types(lines: list[str]) -> list[str]:
    """Return the lines with the prefix "cm." before the names of types, so that they differ from the module's."""
    types = [match[1] for line in lines if (match := _TYPE.match(line))]
    if not types:
        return lines
    pattern = re.compile("|".join(f'%(?:"{re.escape(name)}"|{re.escape(name)}(?![-\\w.$]))' for name in types))

    def rename(match: re.Match[str]) -> str:
        return f'%"cm.{match[0][1:].strip(chr(34))}"'

    return [pattern.sub(rename, line) if "%" in line else line for line in lines]
