"""The calls of functions in the typed AST."""

from __future__ import annotations

from . import typed
from .nodes import walk


def callees(function: typed.FunctionDecl) -> list[typed.FunctionDecl]:
    """Return the functions that a function calls directly, each once, in order."""
    return [*dict.fromkeys(node.function for node in walk(function.body) if isinstance(node, typed.CALLS))]
