"""The kernels of a module in text form, and the functions that they call."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...graphs import reachable, reaching
from .operations import MENTION
from .text import Function, Module

_ARGUMENT_TYPES = re.compile(r"!kernel_arg_type (!\d+)")
_STRING = re.compile(r"!?\"([^\"]*)\"")


def spellings(module: Module) -> dict[str, list[str]]:
    """Return kernel name -> the OpenCL C types of its parameters, for kernels whose metadata contain these."""
    nodes = {line.partition(" = ")[0]: line for line in module.rest if line.startswith("!")}
    links = {f.name: _ARGUMENT_TYPES.search(f.head.after) for f in module.functions if f.is_kernel}
    return {name: _STRING.findall(nodes.get(match[1], "")) for name, match in links.items() if match}


def users_of_matrices(module: Module) -> set[str]:
    """Return the names of functions that mention matrices, or call such a function, directly or indirectly."""
    return users(module, lambda text: MENTION in text)


def users(module: Module, does: Callable[[str], bool]) -> set[str]:
    """Return the names of functions for whose text `does` is true, and of their direct and indirect callers."""
    texts = {f.name: "\n".join([str(f.head), *(item.text for item in f.instructions())]) for f in module.functions}
    direct = (name for name, text in texts.items() if does(text))
    return reaching(direct, {name: names(text) for name, text in texts.items()})


def used(module: Module) -> list[Function]:
    """Return the kernels and the functions that they reach, in order; without a kernel, all functions."""
    calls = {f.name: set().union(*(names(item.text) for item in f.instructions())) for f in module.functions}
    found = reachable((f.name for f in module.functions if f.is_kernel), lambda name: calls.get(name, ()))
    return [f for f in module.functions if f.name in found or not found]


def names(text: str) -> set[str]:
    """Return the names of the functions and variables in a text."""
    return {match[0] or match[1] for match in re.findall(r"@(?:\"([^\"]*)\"|([-\w.$]+))", text)}
