"""The kernels of a module in text, and the functions that they call."""

from __future__ import annotations

import re
from collections.abc import Callable

from .operations import MENTION
from .text import Function, Module

_ARGUMENT_TYPES = re.compile(r"!kernel_arg_type (!\d+)")
_STRING = re.compile(r"!?\"([^\"]*)\"")


def spellings(module: Module) -> dict[str, list[str]]:
    """OpenCL C's types of kernels' parameters, by kernel, where metadata say them."""
    nodes = {line.partition(" = ")[0]: line for line in module.rest if line.startswith("!")}
    links = {f.name: _ARGUMENT_TYPES.search(f.head.after) for f in module.functions if f.is_kernel}
    return {name: _STRING.findall(nodes.get(match[1], "")) for name, match in links.items() if match}


def users_of_matrices(module: Module) -> set[str]:
    """The names of functions that have to do with matrices, or call one that has."""
    return users(module, lambda text: MENTION in text)


def users(module: Module, does: Callable[[str], bool]) -> set[str]:
    """The names of functions of whose text this is true, and of those that call one."""
    texts = {f.name: "\n".join([str(f.head), *(item.text for item in f.instructions())]) for f in module.functions}
    users = {name for name, text in texts.items() if does(text)}
    calls = {name: names(text) for name, text in texts.items()}
    while True:
        more = {name for name, callees in calls.items() if callees & users} - users
        if not more:
            return users
        users |= more


def used(module: Module) -> list[Function]:
    """Kernels and what they call, in order; all functions where there is no kernel."""
    calls = {f.name: set().union(*(names(item.text) for item in f.instructions())) for f in module.functions}
    reachable = {f.name for f in module.functions if f.is_kernel}
    while True:
        more = {name for caller in reachable for name in calls[caller] if name in calls} - reachable
        if not more:
            return [f for f in module.functions if f.name in reachable or not reachable]
        reachable |= more


def names(text: str) -> set[str]:
    """Return the names of the functions and variables in a text."""
    return {match[0] or match[1] for match in re.findall(r"@(?:\"([^\"]*)\"|([-\w.$]+))", text)}
